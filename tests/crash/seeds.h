// Seeds: which seeds a randomised test runs, and the line that repeats one.
//
//   TSDB_SIMULATOR_SEEDS=10000   how many instead of the test's own count
//   TSDB_SIMULATOR_SEED=77       where they begin (default 1)
//
// A failing seed is printed with the environment that runs it alone.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tsdb::engine {

inline std::uint64_t FromEnvironment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// Tells how many of something a test did: printed, and in the report of the run.
inline void TellCount(const std::string& what, std::uint64_t count) {
  testing::Test::RecordProperty(what, std::to_string(count));
  std::printf("[  COUNT   ] %s: %llu\n", what.c_str(), static_cast<unsigned long long>(count));
}

/// Calls run(seed) for each seed until one fails. `weight`: how many of TSDB_SIMULATOR_SEEDS make one of this test's.
template <typename Run>
void ForEachSeed(std::uint64_t default_count, std::uint64_t weight, const Run& run) {
  const std::uint64_t first = FromEnvironment("TSDB_SIMULATOR_SEED", 1);
  const std::uint64_t asked = FromEnvironment("TSDB_SIMULATOR_SEEDS", 0);
  const std::uint64_t count = asked == 0 ? default_count : (asked + weight - 1) / weight;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    run(seed);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ": repeat with TSDB_SIMULATOR_SEED=" << seed << " TSDB_SIMULATOR_SEEDS=1";
      return;
    }
  }
  TellCount("seeds", count);
}

}  // namespace tsdb::engine
