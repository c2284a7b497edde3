// Seeded randomness for tests: the seed is fixed unless TSDB_TEST_SEED says otherwise; tests print it on failure.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace tsdb {

inline std::uint64_t TestSeed() {
  const char* text = std::getenv("TSDB_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20'240'601;
}

/// 1 to `bytes_max` bytes: plain letters, what needs escaping, or any bytes at all.
inline std::string RandomText(std::mt19937_64& random, std::size_t bytes_max) {
  static constexpr char kPlain[] = "abcXYZ_019";
  static constexpr char kSpecial[] = "\\\"'`\n\t{}(),=!~ :_a\0\xC3";
  const std::uint64_t kind = random() % 3;
  std::string text(1 + random() % bytes_max, ' ');
  for (char& c : text) {
    c = kind == 0   ? kPlain[random() % (sizeof(kPlain) - 1)]
        : kind == 1 ? kSpecial[random() % (sizeof(kSpecial) - 1)]
                    : static_cast<char>(random());
  }
  return text;
}

}  // namespace tsdb
