#!/usr/bin/env bash
# All near-duplicates among many documents, without an index, the texts compared: near_duplicate_groups() with 400 MB of memory, in the
# order of the ids and in none, by one process and with a worker; beside it build/minhash_groups, which reads the same documents from a
# file, by one thread and by two:
#
#   test/bench/document_groups.sh PG_CONFIG [NAME=VALUE]...
#
#   ROWS=1000000       documents with a natural vocabulary (natural_documents.cpp); 10 million take 11 GB, and 40 GB of disk in all
#   VOCABULARY=200000  of so many words
#   FOLDER=            the text files there in their place, one a document
#   SIMILARITY=0.8
#   ROUNDS=3           of which the medians are printed; 1 for the largest
#
# Then how many of the copies that were made with that similarity either has put in one group with what they were made from. In the order of
# ids, one process and two must find the same.
#
# Processor time is that of all processes of the server, user's and system's: what the postmaster has counted of those that ended, and
# what those count that are there. Memory is the sum of their private pages at the most (usage.py). Temporary files are what
# pg_stat_database counts: all that was written. JIT is on, as users have it. Builds simhash for that server, without installing it, and
# measures in a throwaway cluster, in TMPDIR. Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
shift
ROWS=1000000 VOCABULARY=200000 FOLDER='' SIMILARITY=0.8 ROUNDS=3
for setting in "$@"; do
    case $setting in
    ROWS=?* | VOCABULARY=?* | FOLDER=?* | SIMILARITY=?* | ROUNDS=?*) declare "$setting" ;;
    *) die "$setting is no setting" ;;
    esac
done
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

start_bench_server fsync=off wal_level=minimal max_wal_senders=0 shared_buffers=4GB max_wal_size=4GB autovacuum=off
make_documents() {
    if [ -n "$FOLDER" ]; then
        test/bench/folder_documents.py "$FOLDER"
    else
        build/natural_documents "$ROWS" "$VOCABULARY" "$work/copies"
    fi
}
psql -c 'CREATE TABLE document (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)' \
    -c 'CREATE TABLE copy (id integer, original integer)'
: >"$work/copies"
# No document has these characters, so that each line is one as it is.
make_documents | tee "$work/documents" | psql -c "COPY document (body) FROM STDIN (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')"
psql -c 'COPY copy FROM STDIN' <"$work/copies"
psql -c 'VACUUM ANALYZE' -c CHECKPOINT
sync "$work/documents"
psql -c "SELECT count(*) || ' documents, ' || sum(octet_length(body)) / 1000000 || ' MB of text, similarity $SIMILARITY' FROM document"

# What a method took, after it has made the table found of the documents that have another one as their original: seconds, processor
# time, memory, temporary files.
simhash() { # CORES QUERY
    # The table and the file of 10 million do not fit into memory together, and the kernel keeps what was read most often.
    dd if="$work/documents" iflag=nocache count=0 status=none
    psql -c 'SELECT count(*) FROM document' >/dev/null
    psql -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS found' -c 'SELECT pg_stat_reset()' >/dev/null
    as_server "$work/test/bench/usage.py" "$(head -n 1 "$work/data/postmaster.pid")" \
        "$bin/psql" -h "$work" -XqAt -v ON_ERROR_STOP=1 postgres -c "
        SET work_mem = '400MB'; SET hash_mem_multiplier = 1; SET max_parallel_workers_per_gather = $(($1 - 1));
        CREATE TABLE found AS SELECT id, original FROM near_duplicate_groups('$2', $SIMILARITY) WHERE id <> original"
    psql -c "SELECT temp_bytes / 1000000 FROM pg_stat_database WHERE datname = 'postgres'"
}
minhash() { # CORES
    cat "$work/documents" >/dev/null
    test/bench/usage.py 0 build/minhash_groups "$1" "$SIMILARITY" "$work/documents" >"$work/found" || return
    psql -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS found' -c 'CREATE TABLE found (id bigint, original bigint)'
    sed '$d' "$work/found" | psql -c 'COPY found FROM STDIN'
    tail -n 1 "$work/found"
    echo 0
}
query='SELECT id, body FROM document'
measured() {
    case $1 in
    minhash) minhash "$2" ;;
    "ORDER BY id") simhash "$2" "$query ORDER BY id" ;;
    "no order") simhash "$2" "$query" ;;
    esac
}

for ((round = 1; round <= ROUNDS; round++)); do
    for cores in 1 2; do
        for method in minhash 'ORDER BY id' 'no order'; do
            took=$(measured "$method" "$cores")
            found=$(psql -c 'SELECT count(*) FROM found')
            printf '%s\t%s\t%s\t%s\n' "$method" "$cores" "$(xargs <<<"$took" | tr ' ' '\t')" "$found" | tee -a "$work/measured" >&2
            if [ "$round" = 1 ]; then psql -c "CREATE TABLE \"found $method $cores\" AS TABLE found"; fi
        done
    done
done
psql -c 'CREATE TABLE measured (method text, cores integer, seconds numeric, processor numeric, memory numeric, files numeric, copies bigint)' \
    -c "\\copy measured FROM '$work/measured'"
printf '\n| | cores | s | … beside MinHash | processor, s | … beside MinHash | memory, MB | temporary files, MB | copies |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n'
psql <<'SQL'
CREATE FUNCTION median(double precision[]) RETURNS numeric LANGUAGE sql
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n)::numeric FROM unnest($1) n);
WITH medians AS (
    SELECT method, cores, median(array_agg(seconds)) AS s, median(array_agg(processor)) AS p, max(memory) AS memory, max(files) AS files, max(copies) AS copies
    FROM measured GROUP BY method, cores)
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s |', m.method, cores, round(m.s, 1), round(m.s / nullif(o.s, 0), 2), round(m.p, 1), round(m.p / nullif(o.p, 0), 2),
              m.memory, m.files, m.copies)
FROM medians m JOIN medians o USING (cores) WHERE o.method = 'minhash' ORDER BY cores, m.method;
DO $$ BEGIN
    ASSERT NOT EXISTS (TABLE "found ORDER BY id 1" EXCEPT TABLE "found ORDER BY id 2")
        AND NOT EXISTS (TABLE "found ORDER BY id 2" EXCEPT TABLE "found ORDER BY id 1"), 'one process finds others than two';
END $$;
SQL
if [ -z "$FOLDER" ]; then
    psql -c "CREATE TABLE alike AS SELECT c.* FROM copy c JOIN document a USING (id) JOIN document b ON b.id = c.original
        WHERE shingle_similarity(a.body, b.body) >= $SIMILARITY"
    for method in minhash 'ORDER BY id' 'no order'; do
        psql -c "SELECT format('$method finds %s of %s copies (%s)', count(*) FILTER (WHERE coalesce(f.original, c.id) = coalesce(o.original, c.original)),
                count(*), round(avg((coalesce(f.original, c.id) = coalesce(o.original, c.original))::integer), 4))
            FROM alike c LEFT JOIN \"found $method 1\" f ON f.id = c.id LEFT JOIN \"found $method 1\" o ON o.id = c.original"
    done
fi
