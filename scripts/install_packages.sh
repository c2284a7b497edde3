#!/usr/bin/env bash
# Installs the Debian 12 packages that building needs, when any is missing; does nothing (and asks for no rights)
# otherwise.
#
#   scripts/install_packages.sh [build|test|tools]     build: library and tsdb-cli
#                                                      test:  and what the tests and the clang build need (default)
#                                                      tools: and fuzzing, clang-tidy, benchmarks, formatting
set -euo pipefail

build=(
  g++ cmake ninja-build ccache pkg-config
  librocksdb-dev libboost-filesystem1.81-dev libzstd-dev zlib1g-dev libfmt-dev libre2-dev libroaring-dev
  libxxhash-dev libsimdjson-dev libcli11-dev libhowardhinnant-date-dev tzdata
)
test=(libgtest-dev libgmock-dev nlohmann-json3-dev python3 clang-14)
tools=(libclang-rt-14-dev clang-tidy-14 clang-format-14 libbenchmark-dev shellcheck dpkg-dev file)

case "${1:-test}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  tools) wanted=("${build[@]}" "${test[@]}" "${tools[@]}") ;;
  *)
    echo "usage: $0 [build|test|tools]" >&2
    exit 2
    ;;
esac

missing=()
for package in "${wanted[@]}"; do
  if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "missing packages: ${missing[*]}; install them as root" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q </dev/null
"${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
