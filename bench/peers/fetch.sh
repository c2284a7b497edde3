#!/usr/bin/env bash
# Gets the programs that compare.py runs beside ours, unpacked into a folder of their own: nothing is installed and no
# service is started.
#
#   bench/peers/fetch.sh DIR      then: bench/peers/compare.py --peers DIR
#
# victoria-metrics, prometheus and influxdb come from Debian, DuckDB from npm. What cannot be had is named and left out.
set -euo pipefail
if [[ $# -ne 1 ]]; then
  sed -n '2,8p' "$0"
  exit 2
fi
mkdir -p "$1"
cd "$1"

for package in victoria-metrics prometheus influxdb; do
  if apt-get download "$package" >/dev/null 2>&1; then
    dpkg-deb -x "$package"_*.deb root
    rm "$package"_*.deb
  else
    echo "$package: not available from apt" >&2
  fi
done
if command -v npm >/dev/null; then
  mkdir -p duck
  (cd duck && npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1) || echo "DuckDB: npm failed" >&2
else
  echo "DuckDB: npm is missing" >&2
fi
ls root/usr/bin duck/node_modules/@duckdb 2>/dev/null || true
