#!/usr/bin/env bash
# Random statements by SQLsmith against tables with simhash indexes, on a server of its own: nothing
# must crash it, and no index must be damaged.
#
#   make sqlsmith [SECONDS=1800] [SEED=1]
#
# Two SQLsmiths run at once, with SEED and SEED + 1; the second one's planner is kept from
# sequential scans and from hash and merge joins, so that it takes the indexes. Each statement is
# rolled back, and VACUUM comes every few seconds. Afterwards it fails
#   - if a server process died or an assertion failed; the statement is shown,
#   - if an error of class XX (internal error, damaged data) came from our code or names simhash,
#   - if a statement ran for a minute, although SQLsmith cancels it after a second,
#   - if the index check with heapallindexed finds an index damaged, before or after VACUUM.
# What SQLsmith is let loose on, and what it is kept from, is written in test/sqlsmith/schema.sql.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
seconds=${1:-1800}
seed=${2:-1}
[[ $seconds =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || {
    say "usage: $0 [SECONDS [SEED]]"
    exit 2
}

install_missing sqlsmith
find_pg_config
start_workspace sqlsmith
copy_sources "$workspace/source"
quiet_make "$workspace/source" all || die "the build failed"
install_extension "$workspace/source"
# Every line of the log begins with the process, the time and the SQLSTATE; report.pl reads it.
start_server sqlsmith "autovacuum = on" "autovacuum_naptime = 5s" \
    "autovacuum_vacuum_threshold = 20" "autovacuum_vacuum_scale_factor = 0" \
    "log_statement = all" "log_line_prefix = '%p %n %e %a: '" \
    "log_error_verbosity = verbose" "log_min_error_statement = panic" "track_functions = all" \
    "track_activity_query_size = 16kB" "stats_fetch_consistency = none" "lc_messages = 'C'" \
    "jit = off"
run_psql -f "$root/test/sqlsmith/schema.sql" >/dev/null

# The index check of every simhash index of the user's.
check_indexes() {
    run_psql -At -F ' ' <<'SQL'
SET client_min_messages = warning;
SELECT count(*) AS indexes, sum(rows) AS rows, sum(orphans) AS orphans
FROM (SELECT (simhash_index_check(i.oid, heapallindexed => true)).*
    FROM pg_class i JOIN pg_am a ON a.oid = i.relam
    WHERE a.amname = 'simhash' AND i.relkind = 'i') c;
SQL
}

# run_sqlsmith NAME SEED [SETTINGS]: until the time is over; its words go into a file.
run_sqlsmith() {
    local status=0
    # SQLsmith is no server program, but must not be root's either.
    as_server_user env PGUSER=smith PGOPTIONS="${3:-}" timeout -s INT "$seconds" \
        sqlsmith --verbose --exclude-catalog --seed="$2" --target="dbname=$PGDATABASE" \
        >"$workspace/$1.log" 2>&1 || status=$?
    [ "$status" = 124 ] || {
        tail -n 20 "$workspace/$1.log" >&2
        die "SQLsmith ended before its time, with status $status"
    }
}
say "$(sqlsmith --version 2>&1 | head -n 1), $("$PG_CONFIG" --version), assertions" \
    "$(run_psql -At -c "SHOW debug_assertions"), seeds $seed and $((seed + 1)), $seconds seconds"
run_sqlsmith plain "$seed" &
plain=$!
run_sqlsmith indexes $((seed + 1)) \
    "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off" &
failed=0
wait "$!" || failed=1
wait "$plain" || failed=1

pattern=$(run_psql -At -c "SELECT names FROM lens.pattern")
perl "$root/test/sqlsmith/report.pl" "$pattern" "$data/server.log" || failed=1
# After a crash these counts begin at 0 again.
run_psql -At -F ': ' <<'SQL' || failed=1
SELECT 'scans of simhash indexes', sum(idx_scan) FROM pg_stat_user_indexes
JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = i.relam WHERE a.amname = 'simhash';
SELECT 'calls of functions of the extension',
    format('%s, %s functions', coalesce(sum(calls), 0), count(*))
FROM pg_stat_user_functions
JOIN pg_depend ON objid = funcid AND classid = 'pg_proc'::regclass AND deptype = 'e';
SELECT 'rows inserted, updated, deleted, all rolled back',
    format('%s, %s, %s', sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del)) FROM pg_stat_user_tables;
SQL
checked=0
for when in "before VACUUM" "after VACUUM"; do
    if counts=$(check_indexes); then
        read -r indexes rows orphans <<<"$counts"
        printf 'index check %s: %d indexes, %d rows, %d orphans: sound\n' "$when" "$indexes" \
            "$rows" "$orphans"
        checked=$((checked + 1))
    else
        failed=1
    fi
    run_psql -c "VACUUM" || failed=1
done
[ "$checked" = 2 ] || say "an index is damaged"
[ "$failed" = 0 ] || die "failed"
