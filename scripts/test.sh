#!/usr/bin/env bash
# The check of a change, from a bare clone: installs what is missing, builds, and runs every test that is not slow.
#
#   scripts/test.sh           dev: g++ with assertions, all tests but those labelled slow
#   scripts/test.sh --all     and before the tests also
#                               asan   AddressSanitizer + UndefinedBehaviorSanitizer: unit and crash tests
#                               tsan   ThreadSanitizer: the tests of threads
#                               clang  the library and tsdb-cli by clang++, thread-safety analysis as an error
#
# One ctest runs them all at the end; its summary is the last thing printed.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=(dev)
case "${1:-}" in
  "") ;;
  --all) presets=(dev asan tsan) ;;
  *)
    echo "usage: $0 [--all]" >&2
    exit 2
    ;;
esac
jobs=$(nproc)

build() {  # PRESET [TARGET...]
  local preset=$1
  shift
  echo "== build $preset at $((SECONDS / 60)) min $((SECONDS % 60)) s"
  cmake --preset "$preset" >"build/$preset.configure.log" || {
    cat "build/$preset.configure.log"
    return 1
  }
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"} -- --quiet
}

scripts/install_packages.sh test
mkdir -p build/check
for preset in "${presets[@]}"; do
  build "$preset"
done
if [[ ${#presets[@]} -gt 1 ]]; then
  build clang tsdb_static tsdb-cli
fi

# One ctest over the build folders; the presets put their name before the tests' names.
for preset in "${presets[@]}"; do
  echo "subdirs(\"$PWD/build/$preset\")"
done >build/check/CTestTestfile.cmake
echo "== test at $((SECONDS / 60)) min $((SECONDS % 60)) s"
ctest --test-dir build/check --label-exclude slow --parallel "$jobs" --output-on-failure --no-tests=error \
  --output-log build/check/ctest.log --progress </dev/null
