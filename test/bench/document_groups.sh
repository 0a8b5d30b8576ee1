#!/usr/bin/env bash
# All near-duplicates among many documents, without an index, the texts compared: time and temporary bytes of near_duplicate_groups()
# with 400 MB of memory, by one process and with a worker.
#
#   test/bench/document_groups.sh PG_CONFIG DOCUMENTS
#
# Of more than a million documents, each further million is the first one with its words in another order. Builds simhash for that
# server, without installing it, and measures in a throwaway cluster. Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
documents=$2
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

million=1000000
start_document_server $((documents < million ? documents : million)) fsync=off shared_buffers=4GB max_wal_size=16GB autovacuum=off jit=off
# Words that were neighbours are so no more: of a document of n words the order is that of multiples of a number, modulo a prime.
cat >"$work/reorder" <<'PERL'
my $step = shift;
while (<STDIN>) {
    my @words = split;
    my $places = $orders{@words} //= [sort { $a * $step % 211 <=> $b * $step % 211 } 0 .. $#words];
    print "@words[@$places]\n";
}
PERL
for ((i = 1; i * million < documents; i++)); do
    psql -c "COPY document (body) FROM PROGRAM 'head -n $((documents - i * million)) $work/documents | perl $work/reorder $((i + 1))'"
done
psql -c 'VACUUM ANALYZE document'
psql -c "SELECT count(*) || ' documents, ' || sum(octet_length(body)) / 1000000 || ' MB of text' FROM document"

for workers in 0 1; do
    psql <<SQL
SELECT pg_stat_reset() \gset
SET work_mem = '400MB';
SET hash_mem_multiplier = 1;
SET max_parallel_workers_per_gather = $workers;
SELECT clock_timestamp() AS begun \gset
SELECT count(*) AS groups FROM near_duplicate_groups('SELECT id, body FROM document') WHERE id = original \gset
SELECT format('%s workers: %s s, %s originals', $workers, round(extract(epoch FROM clock_timestamp() - :'begun'), 1), :groups);
SQL
    psql -c "SELECT '  ' || temp_bytes / 1000000 || ' MB of temporary files' FROM pg_stat_database WHERE datname = 'postgres'"
done
