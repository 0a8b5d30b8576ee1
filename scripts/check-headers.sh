#!/bin/sh
# Fails where a header of src does not compile alone. Each must include what it uses, so that a file can include headers in any
# order. PG_CONFIG and CXX name the server and the compiler.
set -eu
cd "$(dirname "$0")/.."
PG_INCLUDES=$("${PG_CONFIG:-pg_config}" --includedir-server)
export PG_INCLUDES CXX="${CXX:-g++}"
# A source file that includes its own header first shows that this one compiles alone, so the build checks most headers. These are
# the others.
unchecked_headers() {
    find src -name '*.hpp' | sort | while IFS= read -r header; do
        first=$(sed -n '/^#include/ { p; q; }' "${header%.hpp}.cpp" 2>/dev/null || true)
        [ "$first" = "#include \"${header#src/}\"" ] || echo "$header"
    done
}
# An empty file includes the header.
unchecked_headers | xargs -P "$(nproc)" -I{} sh -c '
    said=$(echo "#include \"{}\"" |
        $CXX -x c++ -std=c++20 -fsyntax-only -w -D_GNU_SOURCE -I. -Isrc -isystem "$PG_INCLUDES" - 2>&1) ||
        { printf "%s does not compile alone:\n%s\n" "{}" "$said" >&2; exit 1; }'
