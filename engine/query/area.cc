#include "engine/query/area.h"

#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tsdb::engine {
namespace {

/// Steps below 2^52 become doubles by putting them into the mantissa of 2^52.
constexpr std::uint64_t kStepMax = 1ull << 52;
constexpr std::size_t kLanes = 8;

std::uint64_t Step(Timestamp from, Timestamp to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

double PlainArea(const Timestamp* times, const double* values, std::size_t count) {
  double area = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    area += 0.5 * (values[i] + values[i + 1]) * static_cast<double>(Step(times[i], times[i + 1]));
  }
  return area;
}

#if defined(__x86_64__)
/// The whole span is below kStepMax.
__attribute__((target("avx2"))) double AreaAvx2(const Timestamp* times, const double* values, std::size_t count) {
  const __m256d magic = _mm256_set1_pd(0x1p52);
  __m256d sums[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  std::size_t i = 0;
  for (; i + kLanes + 1 <= count; i += kLanes) {
    for (std::size_t k = 0; k < 2; ++k) {
      const Timestamp* t = times + i + 4 * k;
      const double* v = values + i + 4 * k;
      const __m256i left = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t));
      const __m256i right = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t + 1));
      const __m256i bits = _mm256_or_si256(_mm256_sub_epi64(right, left), _mm256_castpd_si256(magic));
      const __m256d step = _mm256_sub_pd(_mm256_castsi256_pd(bits), magic);
      const __m256d both = _mm256_add_pd(_mm256_loadu_pd(v), _mm256_loadu_pd(v + 1));
      sums[k] = _mm256_add_pd(sums[k], _mm256_mul_pd(both, step));
    }
  }
  double lanes[4];
  _mm256_storeu_pd(lanes, _mm256_add_pd(sums[0], sums[1]));
  return 0.5 * ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + PlainArea(times + i, values + i, count - i);
}
#endif

}  // namespace

double AreaBelow(const Timestamp* times, const double* values, std::size_t count) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2 && count > kLanes && Step(times[0], times[count - 1]) < kStepMax) {
    return AreaAvx2(times, values, count);
  }
#endif
  return PlainArea(times, values, count);
}

}  // namespace tsdb::engine
