# shellcheck shell=bash
# How scripts/check.sh and scripts/test.sh count what passed, what failed, and what could not be run. To be sourced after lib.sh, with
# a workspace before the first check.

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
    ) >"${workspace:?}/check.log" 2>&1
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        count 1 0 "$what"
    else
        tail -n 60 "$workspace/check.log"
        count 0 1 "$what"
    fi
}
# The closing lines. The last is `N passed, N failed`, with `, N skipped` if some could not run. Its status is that of the script.
close_count() {
    local closing
    closing=$(printf '%d passed, %d failed' "$passed" "$failed")
    if [ ${#skipped[@]} -gt 0 ]; then
        printf 'skipped: %s\n' "${skipped[@]}"
        closing="$closing, ${#skipped[@]} skipped"
    fi
    printf '%s\n' "$closing"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
