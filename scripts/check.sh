#!/usr/bin/env bash
# Checks that read the source and start no server: form, dialect, layers, what must agree, the warnings of a second compiler. Installs
# missing packages. The last line is `N passed, N failed`, with `, N skipped` if some could not run; the lines above it name these.
#
# Needs the headers of a server: those of the newest that is installed, or else offered. PG_MAJOR=16 or PG_CONFIG selects another.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/counting.sh
. "$root/scripts/counting.sh"

doing "looking for PostgreSQL"
say "Checks of simhash's source"
start_progress
say_postgresql
doing "installing packages"
install_missing check
find_pg_config
start_workspace check
source=$workspace/source
copy_sources "$source"
cd "$source"

# ---- form, and what must agree ----

drawing_is_current() { scripts/block_tables.py | cmp - docs/block-tables.svg; }
check "versions and packages agree" scripts/check-metadata.sh
check "layers of the source" scripts/check-layers.sh
check "dialect of the source" scripts/check-dialect.sh
check "headers compile alone" scripts/check-headers.sh
check "drawing is what its script writes" drawing_is_current
check "Markdown ends at 100 columns" scripts/check-columns.sh
check "planted mistakes fit the source" test/mutants/mutate.py check
check "tests hold each file of the source" test/mutants/mutate.py tests
if command -v shellcheck >/dev/null; then
    check "shell scripts (shellcheck)" shellcheck -x -S warning .ci/run scripts/*.sh
else
    skip "shell scripts (shellcheck)" "there is no shellcheck"
fi

# The name of one of clang's tools in version FORMAT_MAJOR, by which the source is checked: other versions format and warn
# differently.
clang_tool() { # NAME
    command -v "$1-$FORMAT_MAJOR" && return
    ! "$1" --version 2>/dev/null | grep "version $FORMAT_MAJOR\." >/dev/null || command -v "$1"
}
# check_with TOOL WHAT COMMAND...
check_with() {
    if [ -n "$1" ]; then check "${@:2}"; else skip "$2" "no version $FORMAT_MAJOR of the tool is here"; fi
}
clang_format=$(clang_tool clang-format) || true
check_with "$clang_format" "formatting" make PG_CONFIG="$PG_CONFIG" CLANG_FORMAT="$clang_format" format-check
clang_tidy=$(clang_tool clang-tidy) || true
check_with "$clang_tidy" "dialect (clang-tidy)" make PG_CONFIG="$PG_CONFIG" CLANG_TIDY="$clang_tidy" tidy
fuzz_cxx=$(clang_tool clang++) || true
[ -e "$("${fuzz_cxx:-false}" -print-runtime-dir)/libclang_rt.fuzzer-$(uname -m).a" ] || fuzz_cxx=
check_with "$fuzz_cxx" "fuzzers" quiet_make "$source" FUZZ_CXX="$fuzz_cxx" FUZZ_RUNS=1000 fuzz

# ---- the second compiler, and the boundary ----

boundary_holds_back() {
    # A library of one file that throws: the build must fail.
    printf '#include <cstddef>\nint* leak(size_t n) { return new int[n]; }\n' >src/throwing.cpp
    if make PG_CONFIG="$PG_CONFIG" OBJS=src/throwing.o all >"$workspace/throwing.log" 2>&1; then
        echo "the build accepted operator new"
        return 1
    fi
    grep 'needs a C++ runtime' "$workspace/throwing.log" || { cat "$workspace/throwing.log"; return 1; }
}
clang=$(find_clang) || true
if [ -n "$clang" ]; then
    # Some of the flags with which the server was built are known to g++ only.
    check "build with clang, warnings as errors" quiet_make "$source" CC="$clang" \
        CXX="$(sed 's|clang\([^/]*\)$|clang++\1|' <<<"$clang")" EXTRA_CXXFLAGS='-Werror -g0 -Wno-unknown-warning-option' all
else
    skip "build with clang, warnings as errors" "there is no clang"
fi
check "the boundary refuses a C++ runtime" boundary_holds_back

close_count
