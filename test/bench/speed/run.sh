#!/usr/bin/env bash
# The speed bench: the index beside its alternatives, in a throwaway server. Takes an hour with the default sizes.
#
#   test/bench/speed/run.sh [--rows 1000000,10000000] [--parts build,probe,…] [--methods simhash,pk,…]
#
# Writes $BENCH_OUTPUT/results.json (default build/bench) and prints it as a table, with every figure in figures.md beside it. The plots go to
# $BENCH_PLOTS (default the same), and the main figures into the page $BENCH_PAGE, if that is set.
# Builds in a copy and installs no extension: the server's functions call the library in that copy.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
output=${BENCH_OUTPUT:-$root/build/bench}
plots=${BENCH_PLOTS:-$output}
install_missing bench
find_pg_config
start_workspace bench
say "Building"
copy_sources "$workspace/source"
quiet_make "$workspace/source" all || die "the build failed"
"${CXX:-c++}" -std=c++20 -O2 -o "$workspace/fingerprints" "$root/test/bench/speed/fingerprints.cpp"
"${CXX:-c++}" -std=c++20 -O3 -march=native -pthread -o "$workspace/codes" "$root/test/bench/speed/codes.cpp"
install_sql "$workspace/source/simhash" >"$workspace/simhash.sql"
mkdir -p "$workspace/files" "$output" "$plots"
chmod 755 "$workspace/files"

# A quarter of the memory holds the indexes of 10 million rows on a machine with 16 GB. No checkpoint comes in between: what is
# measured is the work, not the disk.
kilobytes=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
start_server bench "shared_buffers = $((kilobytes / 4 / 1024))MB" "jit = off" "max_parallel_workers_per_gather = 0" \
    "synchronous_commit = off" "max_wal_size = 20GB" "checkpoint_timeout = 1h" "work_mem = 64MB"
run_psql -c "SET client_min_messages = warning" -f "$workspace/simhash.sql"
# Debian's Python has Debian's psycopg; any other may lack it.
python=${SIMHASH_PYTHON:-/usr/bin/python3}
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$root/simhash.control")
"$python" -B "$root/test/bench/speed/bench.py" --bindir "$bindir" --data "$data/data" --workspace "$workspace/files" \
    --generator "$workspace/fingerprints" --codes "$workspace/codes" --version "$version" --output "$output/results.json" "$@"
"$python" -B "$root/test/bench/speed/report.py" "$output/results.json" "$plots" ${BENCH_PAGE:+"$BENCH_PAGE"} | tee "$output/table.md"
