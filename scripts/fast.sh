#!/usr/bin/env bash
# Tells within a minute whether an edit broke something: builds what has changed, and runs the tests that hold the changed files
# (test/holds.txt and the hints of test/mutants). The last line is `N passed, N failed in N s`; what failed stands above it.
#
#   scripts/fast.sh                  the files of src that differ from the last commit
#   scripts/fast.sh FILE...          these files
#   scripts/fast.sh TEST...          tests by name: unit/'Words.*', sql/lanes, isolation/exclusion, tap/014
#   scripts/fast.sh --list [FILE...] only says which tests these are; without a file, those of all of src
#
# TAP tests run only by name, as most of them take longer. The extension is built in this folder and installed into the server of
# PG_CONFIG (or PG_MAJOR), from which a throwaway server is started. The first build takes longer than a minute.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/counting.sh
. "$root/scripts/counting.sh"

mutate=$root/test/mutants/mutate.py
if [ "${1:-}" = --list ]; then
    shift
    exec "$mutate" tests "$@"
fi
cd "$root"
files=()
tests=()
for name in "$@"; do
    case "$name" in
    sql/*) test_file=$name.sql ;;
    isolation/*) test_file=test/isolation/specs/${name#*/}.spec ;;
    tap/*) test_file=$(compgen -G "test/t/${name#*/}_*.pl") || test_file=test/t/${name#*/} ;;
    unit/*) test_file=test/unit ;;
    *)
        files+=("${name#"$root"/}")
        continue
        ;;
    esac
    [ -e "$test_file" ] || die "there is no test $name"
    tests+=("$name")
done
[ $# -gt 0 ] || mapfile -t files < <(git diff --name-only HEAD -- src && git ls-files --others --exclude-standard -- src)
[ ${#files[@]} = 0 ] || mapfile -t -O ${#tests[@]} tests < <("$mutate" tests "${files[@]}" | if [ $# -gt 0 ] && [ ${#tests[@]} -gt 0 ]; then cat; else grep -v '^tap/' || true; fi)
[ ${#tests[@]} -gt 0 ] || die "nothing has changed in src since the last commit: name files or tests"

doing "building"
say "Tests: ${tests[*]}"
start_progress
find_pg_config
start_workspace fast
# Objects that were built for another server have its headers' inlined code, and make does not see that.
server=$("$PG_CONFIG" --version --configure --includedir-server)
if [ "$(cat build/server 2>/dev/null)" != "$server" ]; then
    find src build -name '*.o' -delete 2>/dev/null || true
    rm -f simhash.so build/testing/*.so
    mkdir -p build
    printf '%s\n' "$server" >build/server
fi
compiler=()
! command -v ccache >/dev/null || compiler=('CXX=ccache g++')
targets=(all)
names_of() { printf '%s\n' "${tests[@]}" | sed -n "s|^$1/||p"; }
filter=$(names_of unit | paste -sd :)
[ -z "$filter" ] || targets+=(build/unit-tests)
[ -z "$(names_of tap)" ] || targets+=(build/testing/simhash.so build/testing/displacer.so)
quiet_make "$root" "${compiler[@]}" "${targets[@]}" || { say "0 passed, 1 failed: it does not build"; exit 1; }
install_extension "$root"

# The server's user reads the tests here, and writes what they print there.
source=$root
logs=$workspace/logs
mkdir -p "$logs"
pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")
regress() { # PROGRAM INPUT OUTPUT TEST...
    local program=$1 input=$2 outputs=$workspace/$3.outputs
    shift 3
    mkdir -p "$outputs/results"
    chown -R "$server_user" "$outputs"
    (cd "$outputs" && as_server_user "$pgxs/../test/$program" --inputdir="$input" --outputdir="$outputs" --bindir="$bindir" --host="$PGHOST" --port="$PGPORT" \
        --user="$PGUSER" --dbname=contrib_regression --load-extension=simhash --encoding=UTF8 --no-locale "$@")
}
run_unit() { build/unit-tests --gtest_brief=1 --gtest_filter="$filter"; }
run_sql() { regress regress/pg_regress "$root" "sql_$1" "${@:2}"; }
run_isolation() { regress isolation/pg_isolation_regress "$root/test/isolation" isolation "$@"; }
# What failed comes from the differences, or from the end of what was printed.
run_kind() { # KIND COMMAND...
    local kind=$1 status=0
    shift
    touch "$logs/$kind.running"
    "$@" >"$logs/$kind.log" 2>&1 || status=$?
    echo "$status" >"$logs/$kind.status"
    rm "$logs/$kind.running"
}
# Side by side, each on a server of its own.
mapfile -t sql_1 < <(names_of sql | awk 'NR % 2')
mapfile -t sql_2 < <(names_of sql | awk 'NR % 2 == 0')
mapfile -t isolation < <(names_of isolation)
mapfile -t tap < <(names_of tap)
kinds=()
[ -z "$filter" ] || { kinds+=(unit); run_kind unit run_unit & }
[ ${#sql_1[@]} = 0 ] || { kinds+=(sql_1); run_kind sql_1 with_server sql_1 run_sql 1 "${sql_1[@]}" & }
[ ${#sql_2[@]} = 0 ] || { kinds+=(sql_2); run_kind sql_2 with_server sql_2 run_sql 2 "${sql_2[@]}" & }
[ ${#isolation[@]} = 0 ] || { kinds+=(isolation); run_kind isolation with_server isolation run_isolation "${isolation[@]}" & }
doing "testing" "$logs" $((${#kinds[@]} + ${#tap[@]}))
for kind in "${kinds[@]}"; do
    until [ -e "$logs/$kind.status" ]; do sleep .1; done
done
mkdir -p build tmp_check
[ ${#tap[@]} = 0 ] || chown -R "$server_user" build tmp_check
for number in "${tap[@]}"; do
    kinds+=("tap_$number")
    run_kind "tap_$number" run_tap_file "$(echo test/t/"$number"_*.pl)"
done
stop_progress

# Of a suite the first differences of each test.
for kind in "${kinds[@]}"; do
    log=$logs/$kind.log
    case "$kind" in
    unit)
        ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log")
        # A program that died has not said how many passed.
        passed=$((passed + ${ok:-0}))
        bad=$(grep -c '^\[  FAILED  \] [^0-9]*(' "$log" || true)
        ;;
    *)
        passed=$((passed + $(grep -cE '^(test .*\.\.\. ok|ok [0-9]+)' "$log" || true)))
        bad=$(grep -cE '^(test .*\.\.\. FAILED|not ok [0-9]+)' "$log" || true)
        ;;
    esac
    if [ "$(cat "$logs/$kind.status")" != 0 ]; then
        [ "$bad" != 0 ] || bad=1
        case "$kind" in
        sql_* | isolation) grep -E 'FAILED|not ok|rror' "$log" || true ;;
        *) tail -n 60 "$log" ;;
        esac
    fi
    failed=$((failed + bad))
done
find "$workspace" -name regression.diffs -exec awk '/^diff / { lines = 0 } lines++ < 40' {} +
[ "$failed" = 0 ] || cat "$workspace"/*/server.log 2>/dev/null | grep -E -A 12 'TRAP: |PANIC: |was terminated by signal' | head -n 60 || true
rm -f "$progress"
printf '%d passed, %d failed in %d s\n' "$passed" "$failed" "$SECONDS"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
