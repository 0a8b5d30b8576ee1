#!/bin/sh
# Fails when a file of src includes a file that its folder must not know. Dependencies run one way:
#
#   core/bits < core/layout, core/leaf, core/text, core/pairs     include no server header
#   core < server < values < index, whole_tables < planner        each includes those before it
#   values/fingerprint < values/code < values/text < values
#   index < index/store < index/search < index/insert             the access method's folders
#           index/store < index/vacuum, index/build, index/inspect
#   src itself (module)                                           includes anything
#
# Only server/pg.hpp includes server_headers.hpp.
#
# In index and its folders the order goes on within each folder: src/README.md lists the files from
# the lowest to the highest, and a file includes only itself and those listed before it.
#
# Each line below has a folder, and the beginnings of the paths that its files may include.
set -eu
cd "$(dirname "$0")/.."
layers='
core/bits          core/bits/
core/layout        core/bits/ core/layout/
core/leaf          core/bits/ core/leaf/
core/text          core/bits/ core/text/
core/pairs         core/bits/ core/pairs/
server             core/ server/
values             core/ server/ values/
values/fingerprint core/ server/ values/fingerprint/
values/code        core/ server/ values/fingerprint/ values/code/
values/text        core/ server/ values/fingerprint/ values/code/ values/text/
index              core/ server/ values/ SHARED index/store/
index/store        core/ server/ SHARED index/store/
index/search       core/ server/ values/ SHARED index/store/ index/search/
index/insert       core/ server/ SHARED index/store/ index/search/ index/insert/
index/vacuum       core/ server/ SHARED index/store/ index/vacuum/
index/build        core/ server/ SHARED index/store/ index/build/
index/inspect      core/ server/ SHARED index/store/ index/inspect/
whole_tables       core/ server/ values/ whole_tables/
planner            core/ server/ values/ index/ planner/
'
# The headers of index itself, which is also where the names of its folders begin.
shared=$(cd src && echo index/*.hpp)
layers=$(printf '%s' "$layers" | sed "s|SHARED|$shared|")
failed=0
for folder in $(cd src && find . -mindepth 1 -type d | sed 's|^\./||' | sort); do
    allowed=$(printf '%s' "$layers" | awk -v folder="$folder" '$1 == folder { $1 = ""; print }')
    if [ -z "$allowed" ]; then
        ls "src/$folder"/*.?pp >/dev/null 2>&1 || continue
        echo "src/$folder: no layer; name it in $0" >&2
        failed=1
        continue
    fi
    # The one file that includes the server's own headers.
    files=$(find "src/$folder" -maxdepth 1 -name '*.?pp' ! -name server_headers.hpp)
    for include in $(grep -ho '^#include "[^"]*"' $files | cut -d'"' -f2 | sort -u); do
        known=no
        for beginning in $allowed; do
            case "$include" in "$beginning"*) known=yes ;; esac
        done
        [ $known = no ] || continue
        echo "src/$folder must not include \"$include\":" >&2
        grep -n "^#include \"$include\"" $files >&2
        failed=1
    done
done
if grep -rn '"server/server_headers.hpp"' src | grep -v '^src/server/pg.hpp:' >&2; then
    echo "only server/pg.hpp includes the server's headers" >&2
    failed=1
fi

# A line for each file that the folder's row in src/README.md names.
listed_files() {
    awk -v beginning="| \`$1\` |" '
        index($0, beginning) == 1 && split($0, parts, "`") > 4 {
            for (i = 4; i in parts; i += 2)
                print parts[i]
        }' src/README.md
}
for folder in index $(cd src && echo index/*/ | sed 's|/ | |g; s|/$||'); do
    listed_files "$folder" | awk -v folder="$folder" '
        FILENAME == "-" { place[$1] = ++files; next }
        FNR == 1 {
            name = FILENAME
            sub(/.*\//, "", name)
            sub(/\..*/, "", name)
            if (!(name in place)) {
                print FILENAME " is not in the map of src/README.md"
                wrong = 1
            }
        }
        /^#include "/ {
            split($0, parts, "\"")
            other = parts[2]
            if (sub("^" folder "/", "", other) == 0 || other ~ /\//)
                next
            sub(/\..*/, "", other)
            if (place[other] > place[name]) {
                print FILENAME " includes \"" parts[2] "\", which stands above it in src/README.md"
                wrong = 1
            }
        }
        END { exit wrong }' - src/"$folder"/*.?pp >&2 || failed=1
done
exit $failed
