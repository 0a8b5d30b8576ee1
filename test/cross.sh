#!/usr/bin/env bash
# simhash for another kind of processor: the whole library is cross-compiled, warnings being errors,
# and the unit tests and the leaf fuzzer's comparisons of random leaves run under emulation.
#
#   make arm64 [FUZZ_RUNS=200000]
#   make s390x [FUZZ_RUNS=200000]     whose words begin with their highest byte
#
# On Debian. Compiler and emulator are installed where they are missing; headers and libraries of
# the other architecture, among them those of its PostgreSQL, are only unpacked into a folder.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
architecture=${1:-}
fuzz_runs=${2:-200000}
case "$architecture" in
arm64) CROSS_TYPE=aarch64-linux-gnu ;;
s390x) CROSS_TYPE=s390x-linux-gnu ;;
*)
    say "usage: $0 arm64|s390x [FUZZ-RUNS]"
    exit 2
    ;;
esac

install_missing cross
find_pg_config
start_workspace cross

# ---- what the other architecture has ----

# apt, as a machine of that architecture would run it that has nothing installed.
apt_there() { # COMMAND ARGUMENT...
    "$1" -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
        -o Dir::State="$workspace/apt" -o Dir::State::status="$workspace/apt/status" \
        -o Dir::Cache="$workspace/apt" "${@:2}"
}

sysroot=$workspace/sysroot
unpack_packages() {
    mkdir -p "$workspace/apt/lists/partial" "$workspace/packages" "$sysroot"
    touch "$workspace/apt/status"
    apt_there apt-get update
    local names
    read -r -a names <<<"postgresql-client-$PG_MAJOR postgresql-server-dev-$PG_MAJOR $(library_packages test | xargs)"
    (cd "$workspace/packages" && apt_there apt-get download "${names[@]}")
    local package
    for package in "$workspace"/packages/*.deb; do
        dpkg-deb -x "$package" "$sysroot"
    done
}
quietly() {
    local log
    log=$(log_file)
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; return 1; }
}
say "Unpacking what PostgreSQL $PG_MAJOR and the libraries have for $architecture"
quietly unpack_packages || die "could not fetch packages for $architecture"

emulated=("qemu-${CROSS_TYPE%%-*}" -L "/usr/$CROSS_TYPE")
PG_CONFIG="${emulated[*]} $sysroot/usr/lib/postgresql/$PG_MAJOR/bin/pg_config"
searched="-isystem $sysroot/usr/include -L$sysroot/usr/lib/$CROSS_TYPE"
export NM=$CROSS_TYPE-nm OBJDUMP=$CROSS_TYPE-objdump

# ---- the build ----

say "Building for $architecture"
source=$workspace/source
copy_sources "$source"
cross_make() {
    quiet_make "$source" CC="$CROSS_TYPE-gcc $searched" CXX="$CROSS_TYPE-g++ $searched" "$@"
}
cross_make EXTRA_CXXFLAGS=-Werror all || die "the build failed"
cross_make build/unit-tests build/replay-leaf || die "the build of the tests failed"
"$OBJDUMP" -f "$source/simhash.so" | sed -n 's/.*file format /simhash.so: /p'

# ---- the tests ----

"${emulated[@]}" "$source/build/unit-tests" --gtest_brief=1
"${emulated[@]}" "$source/build/replay-leaf" "$fuzz_runs"
