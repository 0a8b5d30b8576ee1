#!/usr/bin/env bash
# Fails on a line of Markdown of more than 100 columns (characters, not bytes). Rows of tables, blocks of code, and lines that
# cannot be broken (one word, or one link) may be longer.
#
#   scripts/check-columns.sh [FILE...]     without files, the whole repository
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# = 0 ]; then
    mapfile -t files < <(find . -name '*.md' -not -path './build/*' -not -path './tmp_check/*' \
        -not -path './.git/*' | sort)
    set -- "${files[@]}"
fi
exec perl -CSD -ne '
    BEGIN { our ($fenced, $indented, $blank, $wrong) = (0, 0, 1, 0) }
    chomp;
    $fenced = !$fenced if /^\s*```/;
    # An indented block of code begins after an empty line.
    $indented = /^(?: {4}|\t)/ && ($blank || $indented);
    $blank = /^\s*$/;
    my $is_row = /^\s*\|/;
    # One word or one link, which the mark of a list may precede.
    my $is_unbreakable = /^\s*(?:(?:[-*>]|\d+\.)\s+)?(?:\S+|!?\[[^\]]*\]\([^)\s]*\)\S*)\s*$/;
    if (length > 100 && !$fenced && !$indented && !$is_row && !$is_unbreakable) {
        printf "%s:%d: %d columns\n", $ARGV, $., length;
        $wrong++;
    }
    if (eof) { ($fenced, $indented, $blank) = (0, 0, 1); close ARGV }
    END { $? = 1 if $wrong }
' "$@"
