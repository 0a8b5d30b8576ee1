#!/usr/bin/env bash
# All near-duplicates among many documents, without an index, the texts compared: near_duplicate_groups() with 400 MB of memory, by one
# process and with a worker:
#
#   test/bench/document_groups.sh PG_CONFIG DOCUMENTS [minhash]
#
# With `minhash` beside build/minhash_groups, which reads the same documents from a file, by one thread and by two. Then how many of the
# near-duplicates either finds: documents.py makes them in pairs, of which each is known. Every run must find the same as the other of
# its method.
#
# Of more than a million documents, each further million is the first one with its words in another order. Builds simhash for that
# server, without installing it, and measures in a throwaway cluster. Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
documents=$2
methods="simhash ${3:-}"
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

least() { echo $(($1 < $2 ? $1 : $2)); }
million=1000000
start_document_server "$(least $million "$documents")" fsync=off shared_buffers=4GB max_wal_size=4GB autovacuum=off jit=off
# Words that were neighbours are so no more: of a document of n words the order is that of multiples of a number, modulo a prime.
cat >"$work/reorder" <<'PERL'
my $step = shift;
while (<STDIN>) {
    my @words = split;
    my $places = $orders{@words} //= [sort { $a * $step % 211 <=> $b * $step % 211 } 0 .. $#words];
    print "@words[@$places]\n";
}
PERL
keep='cat'
if [ "$methods" != "simhash " ]; then keep="tee -a $work/documents"; fi
for ((i = 1; i * million < documents; i++)); do
    psql -c "COPY document (body) FROM PROGRAM
        'head -n $(least $million $((documents - i * million))) $work/documents | perl $work/reorder $((i + 1)) | $keep'"
done
psql -c 'VACUUM ANALYZE document'
psql -c "SELECT count(*) || ' documents, ' || sum(octet_length(body)) / 1000000 || ' MB of text' FROM document"

# Each makes the table METHOD_CORES of documents that are copies, with their originals.
simhash() {
    psql -c 'SELECT pg_stat_reset()' >/dev/null
    as_server "$work/test/bench/usage.py" "$(head -n 1 "$work/data/postmaster.pid")" \
        "$bin/psql" -h "$work" -XqAt -v ON_ERROR_STOP=1 postgres -c "
        SET work_mem = '400MB'; SET hash_mem_multiplier = 1; SET max_parallel_workers_per_gather = $(($1 - 1));
        CREATE TABLE simhash_$1 AS SELECT id, original FROM near_duplicate_groups('SELECT id, body FROM document') WHERE id <> original"
}
minhash() {
    psql -c 'SELECT pg_stat_reset()' -c "CREATE TABLE minhash_$1 (id bigint, original bigint)" >/dev/null
    test/bench/usage.py 0 build/minhash_groups "$1" "$work/documents" >"$work/copies" || return
    sed '$d' "$work/copies" | psql -c "COPY minhash_$1 FROM STDIN"
    tail -n 1 "$work/copies"
}

printf '\n| | cores | s | processor, s | memory, MB | temporary files, MB | copies |\n|---|--:|--:|--:|--:|--:|--:|\n'
for cores in 1 2; do
    for method in $methods; do
        took=$("$method" $cores)
        psql -F ' | ' -c "SELECT '| $method', $cores, '${took// / | }', temp_bytes / 1000000, (SELECT count(*) FROM ${method}_$cores) || ' |'
            FROM pg_stat_database WHERE datname = 'postgres'"
    done
done

psql -c "CREATE TABLE alike AS SELECT a.id, b.id AS copy FROM document a JOIN document b ON b.id = a.id + 9
    WHERE a.id % 10 = 1 AND shingle_similarity(a.body, b.body) >= 0.8"
# A pair counts whichever of the two a worker saw first.
for method in $methods; do
    psql <<SQL
CREATE VIEW pair_1 AS SELECT least(id, original), greatest(id, original) FROM ${method}_1;
CREATE VIEW pair_2 AS SELECT least(id, original), greatest(id, original) FROM ${method}_2;
DO \$\$ BEGIN
    ASSERT NOT EXISTS (TABLE pair_1 EXCEPT TABLE pair_2) AND NOT EXISTS (TABLE pair_2 EXCEPT TABLE pair_1), '$method: one core finds others than two';
END \$\$;
SELECT format('$method finds %s of the %s pairs with a similarity of .8 or more (%s), and %s others', found, alike,
              round(found::numeric / alike, 4), others)
FROM (SELECT count(a.id) FILTER (WHERE least IS NOT NULL) AS found, count(a.id) AS alike, count(*) FILTER (WHERE a.id IS NULL) AS others
      FROM alike a FULL JOIN pair_1 ON least = a.id AND greatest = copy) counted;
DROP VIEW pair_1, pair_2;
SQL
done
