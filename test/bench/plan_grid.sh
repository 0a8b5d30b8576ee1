#!/usr/bin/env bash
# Is the planner's choice a good one? For table sizes, radii and kinds of data: the time of the plan that the planner chooses beside those of
# an index scan, a bitmap scan and a sequential scan, each the median of several runs of the same statement over three queries.
#
#   test/bench/plan_grid.sh [LARGEST-TABLE [SMALLEST-TABLE [KINDS]]]      default 1000000 1000 "uniform clustered hot"
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
largest=${1:-1000000}
smallest=${2:-1000}
read -ra kinds <<<"${3:-uniform clustered hot}"
install_missing
find_pg_config
start_workspace grid
copy_sources "$workspace/source"
quiet_make "$workspace/source" all || die "the build failed"
install_extension "$workspace/source"
start_server grid "max_parallel_workers_per_gather = 0" "jit = off" "shared_buffers = 2GB"
run_psql -c "CREATE EXTENSION simhash" -c "
CREATE FUNCTION timed(query text, seq boolean, index boolean, bitmap boolean) RETURNS float8 LANGUAGE plpgsql AS \$\$
DECLARE times float8[] := '{}'; begun timestamptz; runs integer := 5;
BEGIN
    PERFORM set_config('enable_seqscan', seq::text, true), set_config('enable_indexscan', index::text, true),
        set_config('enable_indexonlyscan', index::text, true), set_config('enable_bitmapscan', bitmap::text, true);
    FOR i IN 0 .. runs LOOP
        begun := clock_timestamp();
        EXECUTE query;
        IF i > 0 THEN times := times || extract(epoch FROM clock_timestamp() - begun)::float8 * 1000; END IF;
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) t);
END \$\$"
printf '%-10s %9s %6s %9s %9s | %9s %9s %9s %9s %6s  %s\n' data rows radius estimate true chosen index bitmap seq ratio plan
worst=0
for kind in "${kinds[@]}"; do
    rows=$smallest
    while [ "$rows" -le "$largest" ]; do
        run_psql -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS t" -c "CREATE TABLE t (id integer, fp bigint, filler text)" -c "
            INSERT INTO t SELECT i, CASE '$kind'
                WHEN 'clustered' THEN CASE WHEN i % 10 < 7 THEN h ELSE ('x' || md5((i - i % 10)::text))::bit(64)::bigint # (1::bigint << (i % 64)) END
                WHEN 'hot' THEN CASE WHEN i % 20 = 0 THEN 4711 ELSE h END ELSE h END, repeat('x', 40)
            FROM (SELECT i, ('x' || md5(i::text))::bit(64)::bigint AS h FROM generate_series(1, $rows) i) s" \
            -c "CREATE INDEX t_fp ON t USING simhash (fp)" -c "VACUUM ANALYZE t"
        for radius in 0 3 8 16 24 32 40; do
            fp=$(run_psql -At -c "SELECT fp FROM t WHERE id = 20")
            query="SELECT count(filler) FROM t WHERE fp <~> $fp <= $radius"
            plan=$(run_psql -At -c "EXPLAIN SELECT * FROM t WHERE fp <~> $fp <= $radius" | head -n 1)
            estimate=$(sed 's/.*rows=\([0-9]*\).*/\1/' <<<"$plan")
            found=$(run_psql -At -c "SELECT count(*) FROM t WHERE fp <~> $fp <= $radius")
            # The chosen plan goes first, once unmeasured: whichever plan comes first would pay for cold caches.
            IFS='|' read -r _ chosen index bitmap seq < <(run_psql -At -c "SELECT timed('$query', true, true, true), timed('$query', true, true, true), timed('$query', false, true, false), timed('$query', false, false, true), timed('$query', true, false, false)")
            ratio=$(awk -v c="$chosen" -v i="$index" -v b="$bitmap" -v s="$seq" 'BEGIN { m = i < b ? i : b; m = s < m ? s : m; printf "%.2f", c / m }')
            printf '%-10s %9d %6d %9d %9d | %9.3f %9.3f %9.3f %9.3f %6s  %s\n' "$kind" "$rows" "$radius" "$estimate" "$found" "$chosen" "$index" "$bitmap" "$seq" "$ratio" "${plan%% on *}"
            worst=$(awk -v w="$worst" -v r="$ratio" 'BEGIN { print (r > w ? r : w) }')
        done
        rows=$((rows * 10))
    done
done
printf 'worst ratio of the chosen plan to the best: %s\n' "$worst"
