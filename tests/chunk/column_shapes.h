// Random columns of many shapes for the codec tests, from a seed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::chunk::shapes {

using Random = std::mt19937_64;

inline std::uint64_t Below(Random& random, std::uint64_t limit) { return random() % limit; }

inline double FromBits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// Values that trip codecs.
inline const std::vector<double>& Awkward() {
  static const std::vector<double> values = {
      0.0,
      -0.0,
      std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN(),
      FromBits(0x7ff0000000000001),  // signalling
      FromBits(0x7ff0000000000002),  // signalling: the stale marker
      FromBits(0xfff8000000001234),  // a payload
      std::numeric_limits<double>::denorm_min(),
      -std::numeric_limits<double>::denorm_min(),
      std::numeric_limits<double>::min(),
      std::numeric_limits<double>::max(),
      std::numeric_limits<double>::lowest(),
      9007199254740991.0,
      9007199254740992.0,
      9007199254740994.0,
      2251799813685248.0,  // 2^51
      2251799813685247.0,
      -2251799813685248.0,
      1e22,
      6.0820000000000025,
      0.1 + 0.2,
  };
  return values;
}

inline constexpr int kValueShapes = 14;

/// `count` values of a shape 0..kValueShapes-1.
inline std::vector<double> Values(Random& random, int shape, std::size_t count) {
  std::vector<double> values(count);
  std::normal_distribution<double> normal(0, 1);
  const int digits = static_cast<int>(Below(random, 18));
  const double power = std::pow(10.0, digits);
  double level = static_cast<double>(Below(random, 100'000)) / 7;
  const double fixed = FromBits(random());
  for (std::size_t i = 0; i < count; ++i) {
    switch (shape) {
      case 0:  // constant
        values[i] = fixed;
        break;
      case 1:  // any bits
        values[i] = FromBits(random());
        break;
      case 2:  // awkward ones
        values[i] = Awkward()[Below(random, Awkward().size())];
        break;
      case 3:  // a walk over decimals of 0 to 17 digits
        level += normal(random);
        values[i] = std::round(level * power) / power;
        break;
      case 4:  // a walk of full doubles
        values[i] = level += normal(random);
        break;
      case 5:  // a counter with resets
        level = Below(random, 100) == 0 ? 0 : std::floor(level + static_cast<double>(Below(random, 5000)));
        values[i] = level;
        break;
      case 6:  // decimals and now and then something else
        values[i] = Below(random, 20) == 0 ? Awkward()[Below(random, Awkward().size())]
                                           : static_cast<double>(Below(random, 10'000)) / 100;
        break;
      case 7:  // integers around 2^53 and beyond
        values[i] = 9007199254740992.0 + static_cast<double>(Below(random, 1000)) * 2;
        break;
      case 8:  // mostly zero
        values[i] = Below(random, 10) == 0 ? static_cast<double>(Below(random, 1000)) : 0;
        break;
      case 9:  // multiples of a large number
        values[i] = static_cast<double>(Below(random, 1'000'000)) * 4096;
        break;
      case 10:  // sums of decimals: a few ulps off
        values[i] = level += 0.1;
        break;
      case 11:  // digits change from sample to sample
        values[i] = std::round(normal(random) * 1000 * std::pow(10.0, static_cast<double>(i % 6))) /
                    std::pow(10.0, static_cast<double>(i % 6));
        break;
      case 12:  // single precision
        values[i] = static_cast<double>(static_cast<float>(level += normal(random)));
        break;
      default:  // a few levels with outliers of all sizes
        values[i] = Below(random, 16) == 0 ? std::ldexp(1.0, static_cast<int>(Below(random, 60)))
                                           : static_cast<double>(Below(random, 4));
        break;
    }
  }
  return values;
}

inline constexpr int kTimeShapes = 9;

/// `count` rising times of a shape 0..kTimeShapes-1.
inline std::vector<Timestamp> Times(Random& random, int shape, std::size_t count) {
  std::vector<Timestamp> times(count);
  const auto step = static_cast<std::int64_t>(1 + Below(random, 60'000));
  auto time = static_cast<std::int64_t>(Below(random, 2'000'000'000'000)) - 1'000'000'000;
  if (shape == 6) {  // gaps as wide as they get: 64 random bits, sorted
    for (Timestamp& t : times) {
      t = static_cast<std::int64_t>(random());
    }
    std::sort(times.begin(), times.end());
    return times;
  }
  for (std::size_t i = 0; i < count; ++i) {
    times[i] = time;
    switch (shape) {
      case 0:  // a grid
        time += step;
        break;
      case 1:  // a grid, delayed now and then
        time = times[0] + static_cast<std::int64_t>(i + 1) * 1000 +
               static_cast<std::int64_t>(Below(random, 4) == 0 ? Below(random, 900) : 0);
        break;
      case 2:  // a loop that sleeps
        time += 1000 + static_cast<std::int64_t>(Below(random, 3));
        break;
      case 3:  // events
        time += 1 + static_cast<std::int64_t>(Below(random, static_cast<std::uint64_t>(step)));
        break;
      case 4:  // a grid with gaps
        time += step * (Below(random, 20) == 0 ? 1 + static_cast<std::int64_t>(Below(random, 1000)) : 1);
        break;
      case 5:  // all sizes
        time += 1 + static_cast<std::int64_t>(random() >> (14 + Below(random, 50)));
        break;
      case 7:  // the step changes
        time += i / 50 % 2 == 0 ? 10'000 : 60'000;
        break;
      default:  // nanoseconds that drift
        time += 1'000'000'000 + static_cast<std::int64_t>(Below(random, 100'000)) + 333;
        break;
    }
  }
  return times;
}

}  // namespace tsdb::chunk::shapes
