#include "chunk/value_scan.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tsdb::chunk {

namespace {

void Take(double v, ValueScan* scan) {
  scan->min = v < scan->min ? v : scan->min;
  scan->max = v > scan->max ? v : scan->max;
  scan->nans += v != v ? 1 : 0;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) ValueScan ScanValuesAvx2(std::span<const double> values) {
  ValueScan scan;
  Take(values[0], &scan);
  // Two lanes of four, so that the comparisons need not wait for each other.
  __m256d min[2] = {_mm256_set1_pd(scan.min), _mm256_set1_pd(scan.min)};
  __m256d max[2] = {_mm256_set1_pd(scan.max), _mm256_set1_pd(scan.max)};
  __m256i nans = _mm256_setzero_si256();
  __m256i falls = _mm256_setzero_si256();
  std::size_t i = 1;
  for (; i + 8 <= values.size(); i += 8) {
    for (std::size_t k = 0; k < 2; ++k) {
      const __m256d v = _mm256_loadu_pd(values.data() + i + 4 * k);
      const __m256d before = _mm256_loadu_pd(values.data() + i + 4 * k - 1);
      min[k] = _mm256_min_pd(v, min[k]);  // the second operand when one is NaN
      max[k] = _mm256_max_pd(v, max[k]);
      nans = _mm256_sub_epi64(nans, _mm256_castpd_si256(_mm256_cmp_pd(v, v, _CMP_UNORD_Q)));
      falls = _mm256_sub_epi64(falls, _mm256_castpd_si256(_mm256_cmp_pd(v, before, _CMP_LT_OQ)));
    }
  }
  alignas(32) double lows[4];
  alignas(32) double highs[4];
  alignas(32) std::uint64_t nan_counts[4];
  alignas(32) std::uint64_t fall_counts[4];
  _mm256_store_pd(lows, _mm256_min_pd(min[0], min[1]));
  _mm256_store_pd(highs, _mm256_max_pd(max[0], max[1]));
  _mm256_store_si256(reinterpret_cast<__m256i*>(nan_counts), nans);
  _mm256_store_si256(reinterpret_cast<__m256i*>(fall_counts), falls);
  for (std::size_t k = 0; k < 4; ++k) {
    scan.min = lows[k] < scan.min ? lows[k] : scan.min;
    scan.max = highs[k] > scan.max ? highs[k] : scan.max;
    scan.nans += nan_counts[k];
    scan.falls += fall_counts[k];
  }
  for (; i < values.size(); ++i) {
    Take(values[i], &scan);
    scan.falls += values[i] < values[i - 1] ? 1 : 0;
  }
  return scan;
}

#endif

bool HasZero(std::span<const double> values, bool negative) {
  return std::ranges::any_of(values, [&](double v) { return v == 0 && std::signbit(v) == negative; });
}

}  // namespace

ValueScan ScanValuesScalar(std::span<const double> values) {
  ValueScan scan;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Take(values[i], &scan);
    scan.falls += i != 0 && values[i] < values[i - 1] ? 1 : 0;
  }
  return scan;
}

ValueScan ScanValues(std::span<const double> values) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2 && !values.empty()) {
    return ScanValuesAvx2(values);
  }
#endif
  return ScanValuesScalar(values);
}

void SettleZeros(std::span<const double> values, ValueScan* scan) {
  if (scan->min == 0) {
    scan->min = HasZero(values, true) ? -0.0 : 0.0;
  }
  if (scan->max == 0) {
    scan->max = HasZero(values, false) ? 0.0 : -0.0;
  }
}

}  // namespace tsdb::chunk
