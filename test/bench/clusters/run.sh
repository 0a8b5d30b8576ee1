#!/bin/sh
# Times simhash_pairs, simhash_groups and simhash_cluster on COUNT generated fingerprints (default 10 million), with SQL
# input and output. Connects as psql does (PGHOST, PGPORT, PGDATABASE); uses a table of its own and drops it.
#
#   run.sh [COUNT [RADIUS]]
set -eu
here=$(dirname "$0")
count=${1:-10000000}
radius=${2:-3}
generate=$(mktemp)
trap 'rm -f "$generate"' EXIT
${CXX:-c++} -std=c++20 -O2 -o "$generate" "$here/generate.cpp"

psql -qX -v ON_ERROR_STOP=1 <<'SQL'
CREATE EXTENSION IF NOT EXISTS simhash;
DROP TABLE IF EXISTS simhash_bench_clusters;
CREATE UNLOGGED TABLE simhash_bench_clusters (id bigint GENERATED ALWAYS AS IDENTITY, fp bigint);
SQL
"$generate" "$count" | psql -qX -v ON_ERROR_STOP=1 -c 'COPY simhash_bench_clusters (fp) FROM stdin'
psql -qX -v ON_ERROR_STOP=1 -v radius="$radius" <<'SQL'
VACUUM ANALYZE simhash_bench_clusters;
SET work_mem = '400MB';
SET max_parallel_workers_per_gather = 0;
\timing on
\echo pairs, counted:
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM simhash_bench_clusters', :radius);
\echo pairs, as text to the client:
\o /dev/null
SELECT * FROM simhash_pairs('SELECT id, fp FROM simhash_bench_clusters', :radius);
\o
\echo groups, counted:
SELECT count(*) FILTER (WHERE id = original) FROM simhash_groups('SELECT id, fp FROM simhash_bench_clusters', :radius);
\echo clusters, counted:
SELECT count(*) FILTER (WHERE fp = cluster) AS rows_named_after_themselves
FROM (SELECT fp, simhash_cluster(fp, :radius) OVER () AS cluster FROM simhash_bench_clusters) c;
\echo clusters, as text to the client:
COPY (SELECT fp, simhash_cluster(fp, :radius) OVER () FROM simhash_bench_clusters) TO STDOUT \g /dev/null
\timing off
DROP TABLE simhash_bench_clusters;
SQL
