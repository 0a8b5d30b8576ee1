#!/usr/bin/env bash
# Installs missing packages, builds with all compilers, and runs every test. The last line is `N passed, N failed`, with
# `, N skipped` if some tests could not run; the lines above it name these.
#
#   scripts/test.sh           everything that CI runs
#   scripts/test.sh --quick   one build, unit tests and SQL tests
#
# Uses the newest PostgreSQL that is installed, or else the newest that the system offers. PG_MAJOR=16 or PG_CONFIG selects another.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

quick=false
case "${1:-}" in
'') ;;
--quick) quick=true ;;
*)
    say "usage: $0 [--quick]"
    exit 2
    ;;
esac

passed=0
failed=0
skipped=()
# skip WHAT WHY: records a test that was not run, and so has not passed.
skip() {
    skipped+=("$1: $2")
    printf '%-44s       skipped: %s\n' "$1" "$2"
}
# count PASSED FAILED WHAT
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
    printf '%-44s %5d passed %5d failed\n' "$3" "$1" "$2"
}
# check WHAT COMMAND...: runs one test, and shows its output when it fails.
check() {
    local what=$1 status
    shift
    # Not as the condition of an `if`: bash would go on after a command of a function that fails.
    set +e
    (
        set -e
        "$@"
    ) >"$workspace/check.log" 2>&1
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        count 1 0 "$what"
    else
        tail -n 60 "$workspace/check.log"
        count 0 1 "$what"
    fi
}

say_postgresql
install_missing test
find_pg_config
start_workspace test
source=$workspace/source
copy_sources "$source"
chown -R "$server_user" "$source"

# ---- builds: warnings are errors ----

build() { # NAME MAKE-ARGUMENT...
    local folder=$workspace/build-$1
    shift
    copy_sources "$folder"
    quiet_make "$folder" "$@"
    rm -rf "$folder"
}
boundary_holds_back() {
    # A file that throws must fail the build, here beside those that are built already.
    local folder=$workspace/build-throwing
    cp -a "$source" "$folder"
    printf '#include <vector>\nint* leak(int n) { return new int[n]; }\n' >"$folder/src/core/bits/throwing.cpp"
    if make -C "$folder" PG_CONFIG="$PG_CONFIG" with_llvm=no -j"$(nproc)" all >"$workspace/throwing.log" 2>&1; then
        echo "the build accepted operator new"
        return 1
    fi
    grep 'needs a C++ runtime' "$workspace/throwing.log" || { cat "$workspace/throwing.log"; return 1; }
    rm -rf "$folder"
}
drawing_is_current() { scripts/block_tables.py | cmp - docs/block-tables.svg; }
bitcode_is_there() { # where the server was built to use it
    ! "$PG_CONFIG" --configure | grep with-llvm >/dev/null || [ -s "$source/src/index/search/scan.bc" ]
}
bitcode_can_be_inlined() { # where there is any
    [ ! -s "$source/src/index/search/scan.bc" ] || make -C "$source" PG_CONFIG="$PG_CONFIG" check-bitcode
}
# The name of one of clang's tools in version FORMAT_MAJOR, by which the source is checked: other versions format and warn
# differently.
clang_tool() { # NAME
    command -v "$1-$FORMAT_MAJOR" && return
    ! "$1" --version 2>/dev/null | grep "version $FORMAT_MAJOR\." >/dev/null || command -v "$1"
}
# check_with TOOL WHAT COMMAND...
check_with() {
    if [ -n "$1" ]; then check "${@:2}"; else skip "$2" "no version $FORMAT_MAJOR of the tool is here"; fi
}
# The compiler of the server's bitcode, or else any clang.
find_clang() {
    local servers
    servers=$("$PG_CONFIG" --configure | sed -n "s/.*'CLANG=\([^']*\)'.*/\1/p")
    command -v "${servers:-clang}" || command -v clang
}
clang=$(find_clang) || true
cd "$source"
check "versions and packages agree" scripts/check-metadata.sh
check "layers of the source" "$source/scripts/check-layers.sh"
check "dialect of the source" "$source/scripts/check-dialect.sh"
check "headers compile alone" scripts/check-headers.sh
check "drawing is what its script writes" drawing_is_current
check "Markdown ends at 100 columns" scripts/check-columns.sh
check "known answers by another implementation" test/known_answers.py
check "planted mistakes fit the source" test/mutants/mutate.py check
if command -v shellcheck >/dev/null; then
    check "shell scripts (shellcheck)" shellcheck -x -S warning .ci/run scripts/*.sh
fi
if [ "$quick" = false ]; then
    clang_format=$(clang_tool clang-format) || true
    check_with "$clang_format" "formatting" make -C "$source" PG_CONFIG="$PG_CONFIG" CLANG_FORMAT="$clang_format" format-check
    clang_tidy=$(clang_tool clang-tidy) || true
    check_with "$clang_tidy" "dialect (clang-tidy)" make -C "$source" PG_CONFIG="$PG_CONFIG" CLANG_TIDY="$clang_tidy" tidy
    if [ -n "$clang" ]; then
        # Some of the flags with which the server was built are known to g++ only.
        check "build with clang, warnings as errors" build clang with_llvm=no CC="$clang" CXX="$(sed 's|clang\([^/]*\)$|clang++\1|' <<<"$clang")" \
            EXTRA_CXXFLAGS='-Werror -Wno-unknown-warning-option' all
    else
        skip "build with clang, warnings as errors" "there is no clang"
    fi
fi
check "build with g++ and bitcode, warnings as errors" quiet_make "$source" EXTRA_CXXFLAGS=-Werror all
[ -e "$source/simhash.so" ] || { printf '%d passed, %d failed\n' "$passed" "$failed"; exit 1; }
[ "$quick" = true ] || check "the boundary refuses a C++ runtime" boundary_holds_back
check "bitcode was built" bitcode_is_there
check "bitcode has nothing that the server's inliner cannot take" bitcode_can_be_inlined
install_extension "$source"

# ---- what the tests need beside the library ----

quiet_make "$source" build/unit-tests || count 0 1 "unit tests: build"
if [ "$quick" = false ]; then
    # Some TAP tests call a build of these; they only find it up to date.
    quiet_make "$source" with_llvm=no build/testing/simhash.so build/testing/displacer.so ||
        count 0 1 "libraries for tests: build"
    chown -R "$server_user" "$source/build"
    # Where libraries of Node.js are: Debian's, or what npm installs here.
    export NODE_PATH=/usr/share/nodejs
    if command -v npm >/dev/null && [ ! -d /usr/share/nodejs/pg ]; then
        npm install --silent --no-audit --no-fund --prefix "$workspace/npm" pg >/dev/null 2>&1 || say "npm could not install pg"
        NODE_PATH=$workspace/npm/node_modules
    fi
    # This one installs the library anew, so none may run beside it.
    check "ALTER EXTENSION UPDATE" test/update.sh
fi

# ---- unit tests, SQL and isolation tests against a server of our own, TAP tests ----

logs=$workspace/logs
mkdir -p "$logs" "$source/tmp_check"
chown "$server_user" "$source/tmp_check"
# The TAP tests that take longest come first, so that none of them is left for the end.
jobs=(suites)
[ "$quick" = true ] || jobs+=(001_exactness 007_operations 026_documents 010_damage 021_parallel_build 031_random_sessions 023_jit)
jobs+=(unit)
[ "$quick" = true ] || mapfile -t -O ${#jobs[@]} jobs < <(
    cd "$source/test/t" && printf '%s\n' *.pl | sed 's/\.pl$//' | grep -vxF "$(printf '%s\n' "${jobs[@]}")")

# logged NAME COMMAND...: what it prints, its status, and the seconds that it took, go to files.
logged() {
    local name=$1 begun=$SECONDS status=0
    shift
    "$@" >"$logs/$name.log" 2>&1 || status=$?
    echo "$status" >"$logs/$name.status"
    echo $((SECONDS - begun)) >"$logs/$name.seconds"
}
# run_job NAME: the servers of a TAP test have ports and folders of their own.
run_job() {
    case "$1" in
    unit) logged unit "$source/build/unit-tests" --gtest_brief=1 ;;
    suites)
        logged regress run_suite regress
        logged isolation run_suite isolation
        ;;
    *) logged "$1" run_tap_file "test/t/$1.pl" ;;
    esac
}
# count_unit, count_suite MAKE-TARGET, count_tap NAME: each reads the log of one job, sets `ok` and `bad`, and shows what failed.
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

start_server regress
# Three at a time: much of their time they wait. By xargs, so that Ctrl-C ends them, too.
export source logs server_user bindir
export -f as_server_user test_limit run_suite run_tap_file logged run_job
printf '%s\n' "${jobs[@]}" | xargs -P 3 -I{} bash -c 'run_job {}'
stop_server

count_unit
count "$ok" "$bad" "unit tests"
count_suite regress
count "$ok" "$bad" "SQL tests (pg_regress)"
if grep -q '^Not tested: icu_words' "$logs/regress.log"; then skip "icu_words" "built without ICU"; fi
count_suite isolation
count "$ok" "$bad" "isolation tests"
if [ "$quick" = false ]; then
    all_ok=0
    all_bad=0
    for log in "$logs"/[0-9]*.log; do
        count_tap "$(basename "$log" .log)"
        all_ok=$((all_ok + ok))
        all_bad=$((all_bad + bad))
    done
    count "$all_ok" "$all_bad" "TAP tests"
fi

printf '%s, g++ %s%s\n' "$("$PG_CONFIG" --version | cut -d ' ' -f 1,2)" "$(g++ -dumpfullversion)" \
    "${clang:+, clang $("$clang" -dumpversion)}"
closing=$(printf '%d passed, %d failed' "$passed" "$failed")
if [ ${#skipped[@]} -gt 0 ]; then
    printf 'skipped: %s\n' "${skipped[@]}"
    closing="$closing, ${#skipped[@]} skipped"
fi
printf '%s\n' "$closing"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
