# shellcheck shell=bash
# How scripts/check.sh and scripts/test.sh count what passed, what failed, and what could not be run, and how they say meanwhile what
# they do. To be sourced after lib.sh, with a workspace before the first check.

# ---- what is being done ----

# On a terminal one line that moves; elsewhere a line each ten seconds.
progress=$(mktemp)
# doing WHAT [FOLDER JOBS]: what the script does from now on. Where it runs so many jobs at a time, the folder has NAME.running of one that
# runs and NAME.status of one that has ended.
doing() { printf '%s\n' "$@" >"$progress"; }
progress_line() {
    local what folder='' jobs=0 running=() ended=() failing=() name
    { read -r what && { read -r folder && read -r jobs || true; }; } <"$progress" || return 0
    if [ -n "$folder" ]; then
        for name in "$folder"/*.running; do [ ! -e "$name" ] || running+=("$(basename "$name" .running)"); done
        for name in "$folder"/*.status; do
            [ -e "$name" ] || continue
            ended+=("$name")
            [ "$(cat "$name")" = 0 ] || failing+=("$(basename "$name" .status)")
        done
        what="$what: ${running[*]:-}; $((jobs - ${#ended[@]})) of $jobs left${failing[*]:+; failed: ${failing[*]}}"
    fi
    printf '%d:%02d %s' $((SECONDS / 60)) $((SECONDS % 60)) "$what"
}
# Starts a process that says it, until the script ends or calls stop_progress.
start_progress() {
    local script=$$ width
    if [ -t 2 ]; then
        width=$(tput cols 2>/dev/null || echo 80)
        while sleep 1 && kill -0 "$script" 2>/dev/null; do printf '\r\033[K%s' "$(progress_line | cut -c "1-$((width - 1))")" >&2; done &
    else
        while sleep 10 && kill -0 "$script" 2>/dev/null; do say "$(progress_line)"; done &
    fi
    progress_process=$!
}
stop_progress() {
    [ -n "${progress_process:-}" ] || return 0
    kill "$progress_process" 2>/dev/null || true
    wait "$progress_process" 2>/dev/null || true
    progress_process=
    clear_line
}
# Before something is printed: the moving line goes.
clear_line() { [ ! -t 2 ] || printf '\r\033[K' >&2; }

# ---- counts ----

passed=0
failed=0
skipped=()
# skip WHAT WHY: records a test that was not run, and so has not passed.
skip() {
    skipped+=("$1: $2")
    clear_line
    printf '%-44s       skipped: %s\n' "$1" "$2"
}
# count PASSED FAILED WHAT
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
    clear_line
    printf '%-44s %5d passed %5d failed\n' "$3" "$1" "$2"
}
# check WHAT COMMAND...: runs one test, and shows its output when it fails.
check() {
    local what=$1 status
    shift
    doing "$what"
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
        clear_line
        tail -n 60 "$workspace/check.log"
        count 0 1 "$what"
    fi
}
# The closing lines. The last is `N passed, N failed`, with `, N skipped` if some could not run. Its status is that of the script.
close_count() {
    local closing
    stop_progress
    rm -f "$progress"
    closing=$(printf '%d passed, %d failed' "$passed" "$failed")
    if [ ${#skipped[@]} -gt 0 ]; then
        printf 'skipped: %s\n' "${skipped[@]}"
        closing="$closing, ${#skipped[@]} skipped"
    fi
    printf '%s\n' "$closing"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
