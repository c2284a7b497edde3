#!/usr/bin/env bash
# Builds the benchmarks and runs them, each program as JSON into a file and as a table on the terminal.
#
#   scripts/bench.sh [PROGRAM[=FILTER]...]     e.g. scripts/bench.sh engine_bench=BM_Append; without: all programs
#   BENCH_RESULTS=DIR                          where the JSON goes (default build/bench/results)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh tools
mkdir -p build
cmake --preset bench >build/bench.configure.log || {
  cat build/bench.configure.log
  exit 1
}
cmake --build build/bench --parallel "$(nproc)" -- --quiet

results=${BENCH_RESULTS:-build/bench/results}
mkdir -p "$results"
if [[ $# -eq 0 ]]; then
  for program in build/bench/bench/*_bench; do
    set -- "$@" "$(basename "$program")"
  done
fi
for wanted in "$@"; do
  program=${wanted%%=*}
  filter=.
  if [[ $wanted == *=* ]]; then
    filter=${wanted#*=}
  fi
  echo "== $program"
  "build/bench/bench/$program" --benchmark_filter="$filter" --benchmark_out_format=json \
    --benchmark_out="$results/$program.json" </dev/null
done
