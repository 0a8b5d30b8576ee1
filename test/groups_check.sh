#!/usr/bin/env bash
# sql/groups.sql with larger numbers, against a server of its own with the extension that is installed:
#
#   make groups-check [ROWS=n]
#
# Every table of its output that compares groups with those of the constraint ends in the number of rows that differ, which is to be 0.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
rows=${1:-200000}

find_pg_config
start_workspace groups-check
start_server groups
run_psql -c "CREATE EXTENSION simhash"
run_psql -v rows="$rows" -v bits=13 -v texts=$((rows / 10)) -v families=$((rows / 150)) -f "$root/sql/groups.sql" | tee "$workspace/output"
awk -F'|' '
    /[|].*(wrong|not_linked)/ { for (i = 1; i <= NF; i++) if ($i ~ /wrong|pairs_across|not_linked/) counted[i]; next }
    /^\(/ { delete counted }
    NF > 1 { for (i in counted) { compared++; differences += $i } }
    END { printf "%d comparisons, %d differences\n", compared, differences; exit compared < 15 || differences > 0 }' "$workspace/output"
