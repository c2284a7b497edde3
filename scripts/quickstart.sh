#!/usr/bin/env bash
# Builds tsdb-cli and shows it on real data: 18 minutes of a machine's metrics, scraped once a second.
#
#   scripts/quickstart.sh [DIRECTORY]     where the database goes (default: build/quickstart-data, made anew)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh build
mkdir -p build
cmake --preset release >build/release.configure.log || {
  cat build/release.configure.log
  exit 1
}
cmake --build build/release --parallel "$(nproc)" --target tsdb-cli -- --quiet

export TSDB_DB=${1:-build/quickstart-data}
if [[ $# -eq 0 ]]; then
  rm -rf "$TSDB_DB"
fi

# Shows a command as one would type it, then runs it.
show() {
  local word line='$ tsdb-cli'
  for word in "$@"; do
    if [[ $word == *[^A-Za-z0-9_./,=-]* ]]; then
      word="'$word'"
    fi
    line+=" $word"
  done
  printf '\n%s\n' "$line"
  build/release/cli/tsdb-cli "$@" </dev/null
}

show ingest --format influx --unit ms examples/node_scrape.lp.gz
show series 'node_cpu_seconds_total{cpu="0"}'
show query 'node_load1' --aggregate avg,min,max,count --bucket 5m
show stats
