#!/usr/bin/env bash
# Installs what is missing, builds with all compilers, and runs every test. Ends with the line `N passed, N failed`.
#
#   scripts/test.sh           everything that CI runs
#   scripts/test.sh --quick   one build, unit tests and SQL tests
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
# count PASSED FAILED WHAT
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
    printf '%-44s %5d passed %5d failed\n' "$3" "$1" "$2"
}
# check WHAT COMMAND...: one test; its output is shown when it fails.
check() {
    local what=$1
    shift
    if "$@" >"$workspace/check.log" 2>&1; then
        count 1 0 "$what"
    else
        tail -n 60 "$workspace/check.log"
        count 0 1 "$what"
    fi
}

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
    # A file that throws must fail the build.
    local folder=$workspace/build-throwing
    copy_sources "$folder"
    printf '#include <vector>\nint* leak(int n) { return new int[n]; }\n' >"$folder/src/core/throwing.cpp"
    ! make -C "$folder" PG_CONFIG="$PG_CONFIG" with_llvm=no -j"$(nproc)" all >"$workspace/throwing.log" 2>&1 &&
        grep -q 'needs a C++ runtime' "$workspace/throwing.log"
    rm -rf "$folder"
}
clang_format() { command -v clang-format-14 || command -v clang-format; }
if [ "$quick" = false ]; then
    check "formatting" make -C "$source" PG_CONFIG="$PG_CONFIG" CLANG_FORMAT="$(clang_format)" format-check
    check "build with clang, warnings as errors" build clang with_llvm=no CC=clang-14 CXX=clang++-14 EXTRA_CXXFLAGS=-Werror all
    check "the boundary refuses a C++ runtime" boundary_holds_back
fi
check "build with g++ and bitcode, warnings as errors" quiet_make "$source" EXTRA_CXXFLAGS=-Werror all
[ -e "$source/simhash.so" ] || { printf '%d passed, %d failed\n' "$passed" "$failed"; exit 1; }
install_extension "$source"

# ---- unit tests ----

quiet_make "$source" build/unit-tests || { count 0 1 "unit tests: build"; }
if [ -x "$source/build/unit-tests" ]; then
    "$source/build/unit-tests" --gtest_brief=1 >"$workspace/unit.log" 2>&1 || tail -n 60 "$workspace/unit.log"
    ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$workspace/unit.log")
    all=$(sed -n 's/^\[==========\] \([0-9]*\) tests\{0,1\} from .* ran.*/\1/p' "$workspace/unit.log")
    [ -n "$all" ] && count "${ok:-0}" $((all - ${ok:-0})) "unit tests" || count 0 1 "unit tests: died"
fi

# ---- SQL and isolation tests against a server of our own ----

# suite NAME MAKE-TARGET: a pg_regress-like run; counts its `ok` and `FAILED` lines.
suite() {
    local log=$workspace/$2.log ok bad
    (cd "$source" && as_server_user make -s PG_CONFIG="$PG_CONFIG" "$2" PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER") \
        >"$log" 2>&1 || true
    ok=$(grep -cE '^(test .*\.\.\. ok|ok [0-9]+)' "$log" || true)
    bad=$(grep -cE '^(test .*\.\.\. FAILED|not ok [0-9]+)' "$log" || true)
    if [ "$bad" != 0 ] || [ "$ok" = 0 ]; then
        tail -n 20 "$log"
        find "$source" -name '*.diffs' -exec head -n 120 {} +
        [ "$ok" != 0 ] || bad=$((bad + 1))
    fi
    count "$ok" "$bad" "$1"
}
start_server regress
suite "SQL tests (pg_regress)" regress
if compgen -G "$source/test/isolation/specs/*.spec" >/dev/null; then
    suite "isolation tests" isolation
fi
stop_server

# ---- TAP tests ----

if [ "$quick" = false ] && compgen -G "$source/test/t/*.pl" >/dev/null; then
    log=$workspace/tap.log
    # Some tests call a build of their own; they only find it up to date.
    quiet_make "$source" with_llvm=no build/testing/simhash.so || count 0 1 "library for tests: build"
    chown -R "$server_user" "$source/build"
    # Where libraries of Node.js are: Debian's, or what npm installs here.
    export NODE_PATH=/usr/share/nodejs
    if command -v npm >/dev/null && [ ! -d /usr/share/nodejs/pg ]; then
        npm install --silent --no-audit --no-fund --prefix "$workspace/npm" pg >/dev/null 2>&1 || say "npm could not install pg"
        NODE_PATH=$workspace/npm/node_modules
    fi
    pgxs_perl=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/perl
    (cd "$source" && mkdir -p tmp_check && chown "$server_user" tmp_check &&
        as_server_user env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE PATH="$bindir:$PATH" \
            PG_REGRESS="$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress" \
            TESTDATADIR="$source/tmp_check" TESTLOGDIR="$source/tmp_check/log" TESTDIR="$source" \
            PERL5LIB="$pgxs_perl:$source/test/perl" prove -v test/t/*.pl) >"$log" 2>&1 || true
    ok=$(grep -cE '^ok [0-9]+' "$log" || true)
    bad=$(grep -cE '^not ok [0-9]+' "$log" || true)
    if ! grep -qE '^Result: PASS' "$log"; then
        tail -n 60 "$log"
        [ "$bad" != 0 ] || bad=1
    fi
    grep -E '^# (measured|compared):' "$log" || true
    count "$ok" "$bad" "TAP tests"
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
