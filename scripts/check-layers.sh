#!/bin/sh
# Fails when a file of src includes a file that its folder must not know. Dependencies run one way:
#
#   core/bits < core/layout, core/leaf, core/text, core/whole     include no server header
#   pg.hpp < operators < index < planner                          each includes those before it, and core
#   spill                                                         includes core; index and sql include it
#   sql                                                           includes core, operators and spill
#   src itself (module, handler)                                  includes anything
#
# Only pg.hpp includes server_headers.hpp.
#
# Each line below has a folder, and the beginnings of the paths that its files may include.
set -eu
cd "$(dirname "$0")/.."
layers='
core/bits    core/bits/
core/layout  core/bits/ core/layout/
core/leaf    core/bits/ core/leaf/
core/text    core/bits/ core/text/
core/whole   core/bits/ core/whole/
operators    pg.hpp core/ operators/
spill        pg.hpp core/ spill/
index        pg.hpp core/ operators/ spill/ index/
planner      pg.hpp core/ operators/ index/ planner/
sql          pg.hpp core/ operators/ spill/ sql/
'
failed=0
for folder in $(cd src && find . -mindepth 1 -type d | sed 's|^\./||' | sort); do
    allowed=$(printf '%s' "$layers" | awk -v folder="$folder" '$1 == folder { $1 = ""; print }')
    if [ -z "$allowed" ]; then
        ls "src/$folder"/*.?pp >/dev/null 2>&1 || continue
        echo "src/$folder: no layer; name it in $0" >&2
        failed=1
        continue
    fi
    for include in $(grep -ho '^#include "[^"]*"' "src/$folder"/*.?pp | cut -d'"' -f2 | sort -u); do
        known=no
        for beginning in $allowed; do
            case "$include" in "$beginning"*) known=yes ;; esac
        done
        [ $known = no ] || continue
        echo "src/$folder must not include \"$include\":" >&2
        grep -n "^#include \"$include\"" "src/$folder"/*.?pp >&2
        failed=1
    done
done
exit $failed
