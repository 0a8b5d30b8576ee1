#!/usr/bin/env bash
# Prints the files of src, or of the folders of src that are named, each with the first sentence of the comment that it begins with.
#
#   scripts/map.sh [FOLDER...]     such as core/text whole_tables
set -euo pipefail
cd "$(dirname "$0")/../src"
[ $# -gt 0 ] || set -- core/bits core/layout core/leaf core/text core/pairs server values/fingerprint values/code values/text values \
    index index/store index/search index/insert index/vacuum index/build index/inspect whole_tables planner .
for folder in "$@"; do
    echo "$folder"
    # A header and its source file are one entry, of the header.
    for file in "$folder"/*.hpp "$folder"/*.cpp; do
        [ -e "$file" ] || continue
        case "$file" in *.cpp) [ ! -e "${file%.cpp}.hpp" ] || continue ;; esac
        sentence=$(sed -n '/^\/\//!q; s|^// \?||p' "$file" | tr '\n' ' ' | sed -E 's/\. .*/./')
        printf '    %-24s %s\n' "$(basename "$file")" "$sentence"
    done
done
