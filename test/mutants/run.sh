#!/usr/bin/env bash
# Mutation tests: puts one mistake at a time into a copy of the source, builds that, and runs the tests until one fails.
#
#   PG_CONFIG=... test/mutants/run.sh                 all planted mistakes
#   PG_CONFIG=... test/mutants/run.sh NAME...         these; a NAME may be a machine-made one (FILE:LINE:COLUMN:OPERATOR)
#   PG_CONFIG=... test/mutants/run.sh --machine N     N changes of an operator, drawn by SEED (default 1)
#   PG_CONFIG=... test/mutants/run.sh --hints ...     no other tests than those that are expected to notice the mistake
#   PG_CONFIG=... test/mutants/run.sh --quick ...     no TAP tests but these
#
# The server of PG_CONFIG gets the mistakes installed, so give it one that serves nothing else. Tests run from the cheapest to the
# dearest: those that are named beside the mistake; unit, SQL, and isolation tests; TAP tests by the time that they took before. A
# test that fails also on the code without a mistake ends the run.
#
# Mistakes that only a server with assertions sees are run where PG_CONFIG is one (make assert-server).
#
# Results go to build/mutants/results.tsv, one line for each mutant: name, result, test, seconds. A name that stands there is not
# run again: remove the file for a run anew. mutate.py makes tables of it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"

mutate=$root/test/mutants/mutate.py
[ -n "${PG_CONFIG:-}" ] || die "set PG_CONFIG to that of a server that serves nothing else: the mistakes are installed there"

hints_only=false
quick=false
while true; do
    case "${1:-}" in
    --hints) hints_only=true ;;
    --quick) quick=true ;;
    *) break ;;
    esac
    shift
done
case "${1:-}" in
--machine) mapfile -t names < <("$mutate" names machine "${SEED:-1}" "${2:-40}") ;;
'') mapfile -t names < <("$mutate" names planted) ;;
*) names=("$@") ;;
esac
"$mutate" check || die "these mistakes do not fit the source any more: mend them in test/mutants/planted"

results=$root/build/mutants/results.tsv
times=$root/build/mutants/seconds.tsv # test, seconds that it took on the code without a mistake
mkdir -p "$(dirname "$results")"
touch "$results" "$times"

find_pg_config
has_assertions=false
[[ $("$PG_CONFIG" --configure) != *--enable-cassert* ]] || has_assertions=true
start_workspace mutants
trap end_run EXIT
source=$workspace/source
copy_sources "$source"
chown -R "$server_user" "$source"
compiler=(UNIT_CXXFLAGS=-O2)
! command -v ccache >/dev/null || compiler+=('CXX=ccache g++')
# The folder has another name each time, and debugging information has it.
export CCACHE_NOHASHDIR=1
# What the restored source is copied from, and the mistakes that fit it: $root may change meanwhile.
clean=$workspace/clean
mkdir -p "$clean/test"
cp -a "$root/src" "$clean/src"
cp -a "$root/test/mutants" "$clean/test/mutants"
mutate=$clean/test/mutants/mutate.py

end_run() {
    local status=$?
    stop_tap_servers
    stop_workspace "$status"
}

# ---- building ----

build_library() { quiet_make "$source" "${compiler[@]}" all && install_extension "$source"; }
build_testing() {
    quiet_make "$source" "${compiler[@]}" build/testing/simhash.so build/testing/displacer.so &&
        chown -R "$server_user" "$source/build"
}
build_unit() { quiet_make "$source" "${compiler[@]}" build/unit-tests; }

# The code of the library: a mutant with the same is none.
code_of_library() { objcopy --strip-all "$source/simhash.so" "$workspace/stripped.so" && sha256sum <"$workspace/stripped.so"; }

# ---- tests: each fails where the mutant is noticed ----

# A cluster that no mutant has touched.
make_cluster() {
    start_server server
    (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -m fast -w -s stop)
    mv "$data/data" "$workspace/cluster"
}
start_fresh_server() {
    rm -rf "$data/data"
    cp -a "$workspace/cluster" "$data/data"
    (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -l "$data/server.log" -w -s start)
}

# Runs a test and ends it with the first line that says that something failed.
until_red() { # COMMAND...
    local status
    set +e
    "$@" 2>&1 | awk '{ print; fflush() } /^(test )?.*\.\.\. FAILED|^not ok/ { exit 1 }'
    status=("${PIPESTATUS[@]}")
    set -e
    [ "${status[0]}" = 0 ] && [ "${status[1]}" = 0 ]
}
test_unit() { # [FILTER]
    build_unit &&
        timeout -k 10 "$TEST_LIMIT" "$source/build/unit-tests" --gtest_brief=1 --gtest_fail_fast --gtest_filter="${1:-*}"
}
test_suite() { # MAKE-TARGET [ARGUMENT]...
    local red=0
    start_fresh_server
    until_red run_suite "$@" || red=1
    stop_server
    return "$red"
}
test_tap() { # NUMBER
    local red=0
    build_testing || return 1
    mkdir -p "$source/tmp_check"
    chown "$server_user" "$source/tmp_check"
    until_red run_tap_file "$(cd "$source" && echo test/t/"$1"_*.pl)" || red=1
    stop_tap_servers
    return "$red"
}
# Those of a test that was ended.
stop_tap_servers() {
    local pid_file
    for pid_file in "$source"/tmp_check/*/pgdata/postmaster.pid; do
        [ ! -e "$pid_file" ] || (cd / && as_server_user "$bindir/pg_ctl" -D "$(dirname "$pid_file")" -m immediate -w -s stop) || true
    done
    rm -rf "$source/tmp_check"
}
# run_test TEST: unit[/FILTER], sql[/NAME], isolation[/NAME] or tap/NUMBER.
run_test() {
    local name=${1#*/} TEST_LIMIT
    TEST_LIMIT=$(limit_of "$1")
    case "$1" in
    unit) test_unit ;;
    unit/*) test_unit "$name" ;;
    sql) test_suite regress ;;
    sql/*) test_suite regress "REGRESS=$name" ;;
    isolation) test_suite isolation ;;
    isolation/*) test_suite isolation "ISOLATION=$name" ;;
    tap/*) test_tap "$name" ;;
    *) die "no kind of test: $1" ;;
    esac
}
# A mutant may hang. A test may take three times as long as it did without a mistake, and a minute.
limit_of() { # TEST
    local taken
    taken=$(seconds_of "$1")
    echo $((taken == 0 ? 300 : 3 * taken + 60))
}
# 0 if it is not known.
seconds_of() { awk -F '\t' -v test="$1" '$1 == test { seconds = $2 } END { print seconds + 0 }' "$times"; }

# All of them, in order. Unit tests see src/core only.
tests_of() { # FILE-THAT-CHANGED...
    if [[ " $*" == *" src/core/"* ]]; then echo unit; fi
    printf '%s\n' isolation sql
    ! $quick || return 0
    (cd "$root/test/t" && printf '%s\n' *.pl) | sed 's|_.*||; s|^|tap/|' | while read -r test; do
        printf '%s\t%s\n' "$test" "$(seconds_of "$test")"
    done | sort -t $'\t' -k 2n | cut -f 1
}
# ---- one mutant ----

record() { # NAME RESULT TEST SECONDS
    printf '%s\t%s\t%s\t%s\n' "$@" | tee -a "$results"
}
restore() {
    local file
    for file in "${changed[@]}"; do cp "$clean/$file" "$source/$file"; done
}
changed_files() { (cd "$clean" && find src -name '*.?pp' -exec sh -c 'for f; do cmp -s "$f" "$0/$f" || echo "$f"; done' "$source" {} +); }

# A test that has failed on a mutant passes without it, or else tells nothing.
require_green() { # TEST
    local begun
    ! grep -q "^$1"$'\t' "$times" || return 0
    restore
    build_library || die "the code without a mistake does not build"
    begun=$SECONDS
    run_test "$1" >"$workspace/green.log" 2>&1 || {
        tail -n 40 "$workspace/green.log"
        die "$1 fails on the code without a mistake"
    }
    printf '%s\t%d\n' "$1" $((SECONDS - begun)) >>"$times"
}

# What the tests print goes to a file of the mutant's.
try_mutant() { # NAME
    local name=$1 begun=$SECONDS log test tests reason
    log=$root/build/mutants/$(tr '/:' '__' <<<"$name" | tr -cd 'A-Za-z0-9_.-').log
    reason=$("$mutate" reason "$name")
    [ -z "$reason" ] || { record "$name" "changes nothing" "" 0; return; }
    $has_assertions || [ "$("$mutate" needs "$name")" != assertions ] || { record "$name" "needs assertions" "" 0; return; }
    "$mutate" apply "$name" "$source" || die "$name cannot be applied"
    mapfile -t changed < <(changed_files)
    if ! build_library >"$log" 2>&1; then
        record "$name" "does not compile" "" 0
        restore
        return
    fi
    if [ "$(code_of_library)" = "$clean_code" ]; then
        record "$name" "same code" "" 0
        restore
        return
    fi
    mapfile -t tests < <("$mutate" hint "$name"; $hints_only || tests_of "${changed[@]}")
    for test in "${tests[@]}"; do
        if ! run_test "$test" >"$log" 2>&1; then
            local taken=$((SECONDS - begun))
            require_green "$test"
            record "$name" found "$test" "$taken"
            restore
            return
        fi
    done
    record "$name" survived "" $((SECONDS - begun))
    restore
}

changed=()
build_library || die "the code without a mistake does not build"
clean_code=$(code_of_library)
make_cluster
for name in "${names[@]}"; do
    grep -qF "$name"$'\t' "$results" || try_mutant "$name"
done
cut -f 2 "$results" | sort | uniq -c
! grep -q $'\tsurvived\t' "$results"
