#!/usr/bin/env bash
# Installs missing packages, builds the extension, and runs every test. The last line is `N passed, N failed`, with `, N skipped` if
# some tests could not run; the lines above it name these.
#
#   scripts/test.sh           every test
#   scripts/test.sh --quick   without TAP tests
#
# It says at once, and each ten seconds, what runs and how much is left. DRIVERS=1 installs the drivers of docs/programs.md, too, as CI
# does; without it those that are there are tested. scripts/fast.sh runs only what holds the files that have changed.
#
# Uses the newest PostgreSQL that is installed, or else the newest that the system offers. PG_MAJOR=16 or PG_CONFIG selects another.
# What reads the source only is in scripts/check.sh.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/counting.sh
. "$root/scripts/counting.sh"

quick=false
case "${1:-}" in
'') ;;
--quick) quick=true ;;
*)
    say "usage: $0 [--quick]"
    exit 2
    ;;
esac

doing "looking for PostgreSQL"
say "Tests of simhash$($quick && echo ", without TAP tests")"
start_progress
say_postgresql
doing "installing packages"
install_missing test
find_pg_config
start_workspace test
source=$workspace/source
copy_sources "$source"
chown -R "$server_user" "$source"
cd "$source"

# ---- one build ----

# The libraries that some TAP tests load; these only find them up to date.
libraries=()
$quick || libraries=(build/testing/simhash.so build/testing/displacer.so)
# Nobody debugs this build. Servers from PostgreSQL 16 on add that warning. Fedora has the last two flags, and ours must overrule them.
flags='-Werror -Wshadow=compatible-local -g0 -fexceptions -Wp,-D_GLIBCXX_ASSERTIONS'
check "build with g++, warnings as errors" quiet_make "$source" EXTRA_CXXFLAGS="$flags" all "${libraries[@]}"
[ "$failed" = 0 ] || { close_count; exit 1; }
install_extension "$source"
mkdir -p build tmp_check
chown -R "$server_user" build tmp_check

# ---- the tests: several at a time, with servers of their own ----

# Where libraries of Node.js are: Debian's, or what npm installs here.
export NODE_PATH=/usr/share/nodejs
if [ -n "${DRIVERS:-}" ] && [ "$quick" = false ] && command -v npm >/dev/null && [ ! -d /usr/share/nodejs/pg ]; then
    doing "installing node-postgres"
    npm install --silent --no-audit --no-fund --prefix "$workspace/npm" pg >/dev/null 2>&1 || say "npm could not install pg"
    NODE_PATH=$workspace/npm/node_modules
fi

logs=$workspace/logs
mkdir -p "$logs"
# Those that take longest come first, so that none of them is left for the end.
jobs=(sql_1 sql_2 isolation)
$quick || jobs+=(036_query_forms 026_documents 010_damage 007_operations 001_exactness 021_parallel_build 018_scopes 023_jit 004_standby)
jobs+=(unit known_answers)
$quick || jobs+=(upgrade)
$quick || mapfile -t -O ${#jobs[@]} jobs < <(
    cd test/t && printf '%s\n' *.pl | sed 's/\.pl$//' | grep -vxF "$(printf '%s\n' "${jobs[@]}")")

# logged NAME COMMAND...: what it prints, its status, and the seconds that it took, go to files.
logged() {
    local name=$1 begun=$SECONDS status=0
    shift
    touch "$logs/$name.running"
    "$@" >"$logs/$name.log" 2>&1 || status=$?
    echo $((SECONDS - begun)) >"$logs/$name.seconds"
    echo "$status" >"$logs/$name.status"
    rm "$logs/$name.running"
}
# run_sql PART: every second SQL test, on a server of its own, so that two parts run side by side. `make regress` runs all on one.
run_sql() {
    local tests
    tests=$(cd "$source/sql" && printf '%s\n' *.sql | sed 's/\.sql$//' | awk -v part="$1" 'NR % 2 == part % 2' | tr '\n' ' ')
    with_server "sql_$1" run_suite regress REGRESS="$tests" EXTRA_REGRESS_OPTS="--outputdir=$source/build/sql_$1"
}
# Nothing here is measured, and the objects of src/core are the library's. GoogleTest, which takes longer to read than a test, is read once.
run_unit_tests() {
    local header=build/googletest.hpp
    echo '#include <gtest/gtest.h>' >"$header"
    g++ -O1 -std=c++20 -ffp-contract=off -x c++-header -o "$header.gch" "$header"
    make PG_CONFIG="$PG_CONFIG" UNIT_CXXFLAGS="-O1 -include $header" build/unit-tests && build/unit-tests --gtest_brief=1
}
run_job() { # NAME
    case "$1" in
    unit) logged unit run_unit_tests ;;
    known_answers) logged known_answers test/known_answers.py ;;
    upgrade) logged upgrade test/upgrade.sh ;;
    sql_*) logged "$1" run_sql "${1#sql_}" ;;
    isolation) logged isolation with_server isolation run_suite isolation ;;
    *) logged "$1" run_tap_file "test/t/$1.pl" ;;
    esac
}
# show_crashes FILE...: what logs of servers say about a backend that crashed. A test that ends servers on purpose leaves none of these.
crash='TRAP: |PANIC: |was terminated by signal (4|6|7|8|11):'
show_crashes() {
    local file
    for file in "$@"; do
        ! grep -qE "$crash" "$file" || {
            printf '%s:\n' "$file"
            grep -E -B 12 -A 12 "$crash" "$file" | head -n 80
        }
    done
}
# has_crash FILE...: whether an assertion failed, but for those of the server's own that a backend meets when its postmaster was killed.
has_crash() {
    [ $# -gt 0 ] && cat "$@" 2>/dev/null | awk '
        /postmaster exit/ && match($0, /\[[0-9]+\]/) { ending[substr($0, RSTART + 1, RLENGTH - 2)] = 1 }
        /TRAP: / && match($0, /PID: [0-9]+/) && !(substr($0, RSTART + 5, RLENGTH - 5) in ending) { found = 1 }
        END { exit !found }'
}
# count_unit, count_suite NAME, count_tap NAME, count_one NAME: each reads the log of one job, sets `ok` and `bad`, and shows what failed.
count_unit() {
    local all
    ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$logs/unit.log")
    all=$(sed -n 's/^\[==========\] \([0-9]*\) tests\{0,1\} from .* ran.*/\1/p' "$logs/unit.log")
    ok=${ok:-0}
    # A program that died has not said how many there are.
    bad=$((${all:-$((ok + 1))} - ok))
    [ "$(cat "$logs/unit.status")" = 0 ] || { tail -n 60 "$logs/unit.log"; [ "$bad" != 0 ] || bad=1; }
}
count_suite() {
    local log=$logs/$1.log folder=build/$1 server_log=$workspace/$1/server.log
    [ "$1" != isolation ] || folder=output_iso
    ok=$(grep -cE '^(test .*\.\.\. ok|ok [0-9]+)' "$log" || true)
    bad=$(grep -cE '^(test .*\.\.\. FAILED|not ok [0-9]+)' "$log" || true)
    if [ "$bad" != 0 ] || [ "$ok" = 0 ] || [ "$(cat "$logs/$1.status")" != 0 ] || has_crash "$server_log"; then
        tail -n 20 "$log"
        # Each test that failed, from its first difference on.
        ! [ -e "$source/$folder/regression.diffs" ] || awk '/^diff / { lines = 0 } lines++ < 40' "$source/$folder/regression.diffs" | head -n 400
        show_crashes "$server_log"
        [ "$bad" != 0 ] || bad=1
    fi
}
count_tap() {
    local log=$logs/$1.log
    while IFS= read -r line; do
        skip "TAP" "$line"
    done < <(sed -nE 's/^ok [0-9]+ # skip //Ip; s/ *\.\. skipped: /: /p' "$log")
    ok=$(grep -E '^ok [0-9]+' "$log" | grep -civE '^ok [0-9]+ # skip' || true)
    bad=$(grep -cE '^not ok [0-9]+' "$log" || true)
    local server_logs=()
    mapfile -t server_logs < <(find "$source/tmp_check" -name "$1*.log" ! -name 'regress_log_*')
    # A file that is skipped as a whole has no tests. An assertion that failed in a server is a failure, whatever the test says.
    if ! grep -qE '^Result: (PASS|NOTESTS)' "$log" || has_crash "${server_logs[@]}"; then
        grep -A 20 -E '^#   Failed test' "$log" | head -n 120 || true
        tail -n 60 "$log"
        show_crashes "${server_logs[@]}"
        [ "$bad" != 0 ] || bad=1
    fi
    grep -E '^# (measured|compared):' "$log" || true
    printf '  %-42s %5d passed %5d failed %5d s\n' "$1" "$ok" "$bad" "$(cat "$logs/$1.seconds")"
}

# count_one NAME: a job that is one test.
count_one() {
    ok=1
    bad=0
    [ "$(cat "$logs/$1.status")" = 0 ] || { tail -n 60 "$logs/$1.log"; ok=0; bad=1; }
}

mkdir -p results build/sql_1 build/sql_2
chown "$server_user" results build/sql_1 build/sql_2
doing "testing" "$logs" ${#jobs[@]}
# Two more than there are processors, as some wait. By xargs, so that Ctrl-C ends them, too.
export source logs server_user bindir workspace
export -f say die as_server_user start_server stop_server with_server test_limit run_suite run_sql run_tap_file run_unit_tests logged run_job
printf '%s\n' "${jobs[@]}" | xargs -P $(($(nproc) + 2)) -I{} bash -c 'run_job {}'
stop_progress

count_one known_answers
count "$ok" "$bad" "known answers by another implementation"
count_unit
count "$ok" "$bad" "unit tests"
sql_ok=0
sql_bad=0
for part in sql_1 sql_2; do
    count_suite "$part"
    sql_ok=$((sql_ok + ok))
    sql_bad=$((sql_bad + bad))
done
count "$sql_ok" "$sql_bad" "SQL tests (pg_regress)"
count_suite isolation
count "$ok" "$bad" "isolation tests"
if [ "$quick" = false ]; then
    count_one upgrade
    count "$ok" "$bad" "ALTER EXTENSION UPDATE"
    all_ok=0
    all_bad=0
    for log in "$logs"/[0-9]*.log; do
        count_tap "$(basename "$log" .log)"
        all_ok=$((all_ok + ok))
        all_bad=$((all_bad + bad))
    done
    count "$all_ok" "$all_bad" "TAP tests"
fi

clang=$(find_clang) || true
printf '%s, g++ %s%s\n' "$("$PG_CONFIG" --version | cut -d ' ' -f 1,2)" "$(g++ -dumpfullversion)" \
    "${clang:+, clang $("$clang" -dumpversion)}"
close_count
