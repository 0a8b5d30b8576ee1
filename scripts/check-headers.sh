#!/bin/sh
# Fails where a header of src does not compile alone: each must include what it uses, so that files may include headers in any
# order. PG_CONFIG and CXX name the server and the compiler.
set -eu
cd "$(dirname "$0")/.."
includes=$("${PG_CONFIG:-pg_config}" --includedir-server)
export includes
# The compiler reads a file that includes the header, as it warns of #pragma once in a main file. The server's headers, which most
# of ours include, take half a second, so several are compiled at once.
find src -name '*.hpp' | sort | xargs -P "$(nproc)" -I{} sh -c '
    said=$(echo "#include \"{}\"" | '"${CXX:-g++}"' -x c++ -std=c++20 -fsyntax-only -w -D_GNU_SOURCE -I. -Isrc -isystem "$includes" - 2>&1) ||
        { printf "%s does not compile alone:\n%s\n" "{}" "$said" >&2; exit 1; }'
