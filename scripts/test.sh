#!/usr/bin/env bash
# Installs missing packages, builds the extension, and runs every test. The last line is `N passed, N failed`, with `, N skipped` if
# some tests could not run; the lines above it name these.
#
#   scripts/test.sh           every test
#   scripts/test.sh --quick   without TAP tests
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

say_postgresql
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
# Nobody debugs this build. Servers from PostgreSQL 16 on add that warning.
check "build with g++, warnings as errors" quiet_make "$source" EXTRA_CXXFLAGS='-Werror -Wshadow=compatible-local -g0' all "${libraries[@]}"
[ "$failed" = 0 ] || { close_count; exit 1; }
install_extension "$source"
mkdir -p build tmp_check
chown -R "$server_user" build tmp_check

# ---- the tests: several at a time, with servers of their own ----

# Where libraries of Node.js are: Debian's, or what npm installs here.
export NODE_PATH=/usr/share/nodejs
if [ "$quick" = false ] && command -v npm >/dev/null && [ ! -d /usr/share/nodejs/pg ]; then
    npm install --silent --no-audit --no-fund --prefix "$workspace/npm" pg >/dev/null 2>&1 || say "npm could not install pg"
    NODE_PATH=$workspace/npm/node_modules
fi

logs=$workspace/logs
mkdir -p "$logs"
# Those that take longest come first, so that none of them is left for the end.
jobs=(suites)
$quick || jobs+=(001_exactness 007_operations 023_jit 020_shards 021_parallel_build 026_documents 010_damage 018_scopes 031_random_sessions)
jobs+=(unit known_answers)
$quick || jobs+=(upgrade)
$quick || mapfile -t -O ${#jobs[@]} jobs < <(
    cd test/t && printf '%s\n' *.pl | sed 's/\.pl$//' | grep -vxF "$(printf '%s\n' "${jobs[@]}")")

# logged NAME COMMAND...: what it prints, its status, and the seconds that it took, go to files.
logged() {
    local name=$1 begun=$SECONDS status=0
    shift
    "$@" >"$logs/$name.log" 2>&1 || status=$?
    echo "$status" >"$logs/$name.status"
    echo $((SECONDS - begun)) >"$logs/$name.seconds"
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
    suites)
        logged regress run_suite regress
        logged isolation run_suite isolation
        ;;
    *) logged "$1" run_tap_file "test/t/$1.pl" ;;
    esac
}
# count_unit, count_suite MAKE-TARGET, count_tap NAME, count_one NAME: each reads the log of one job, sets `ok` and `bad`, and shows what failed.
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
    local log=$logs/$1.log
    ok=$(grep -cE '^(test .*\.\.\. ok|ok [0-9]+)' "$log" || true)
    bad=$(grep -cE '^(test .*\.\.\. FAILED|not ok [0-9]+)' "$log" || true)
    if [ "$bad" != 0 ] || [ "$ok" = 0 ] || [ "$(cat "$logs/$1.status")" != 0 ]; then
        tail -n 20 "$log"
        find "$source" -name '*.diffs' -exec head -n 120 {} +
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
    # A file that is skipped as a whole has no tests.
    if ! grep -qE '^Result: (PASS|NOTESTS)' "$log"; then
        grep -A 20 -E '^#   Failed test' "$log" | head -n 120 || true
        tail -n 60 "$log"
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

start_server regress
# Two more than there are processors, as some wait. By xargs, so that Ctrl-C ends them, too.
export source logs server_user bindir
export -f as_server_user test_limit run_suite run_tap_file run_unit_tests logged run_job
printf '%s\n' "${jobs[@]}" | xargs -P $(($(nproc) + 2)) -I{} bash -c 'run_job {}'
stop_server

count_one known_answers
count "$ok" "$bad" "known answers by another implementation"
count_unit
count "$ok" "$bad" "unit tests"
count_suite regress
count "$ok" "$bad" "SQL tests (pg_regress)"
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
