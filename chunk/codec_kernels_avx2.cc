// The AVX2 twins of codec_kernels.cc: the same bits, eight or four values at a time.
#include "chunk/codec_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <array>
#include <bit>
#include <utility>

#include "chunk/bit_stream.h"
#include "chunk/decimal.h"

#define TSDB_AVX2 __attribute__((target("avx2")))
#define TSDB_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace tsdb::chunk {
namespace {

constexpr std::size_t kRows = kBlockValues / 8;

template <unsigned kWidth, std::size_t kRow>
TSDB_AVX2_INLINE void UnpackRow(const __m256i* in, __m256i* out, __m256i mask) {
  constexpr std::size_t kWord = kRow * kWidth / 32;
  constexpr int kShift = kRow * kWidth % 32;
  __m256i v = _mm256_srli_epi32(_mm256_loadu_si256(in + kWord), kShift);
  if constexpr (kShift + kWidth > 32) {
    v = _mm256_or_si256(v, _mm256_slli_epi32(_mm256_loadu_si256(in + kWord + 1), 32 - kShift));
  }
  if constexpr (kShift + kWidth != 32) {
    v = _mm256_and_si256(v, mask);
  }
  _mm256_storeu_si256(out + kRow, v);
}

template <unsigned kWidth, std::size_t... kRowIndex>
TSDB_AVX2_INLINE void UnpackRows(const __m256i* in, __m256i* out, std::index_sequence<kRowIndex...>) {
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(LowMask(kWidth)));
  (UnpackRow<kWidth, kRowIndex>(in, out, mask), ...);
}

template <unsigned kWidth>
TSDB_AVX2 void UnpackLanes(const char* in, std::uint32_t* out) {
  auto* to = reinterpret_cast<__m256i*>(out);
  if constexpr (kWidth == 0) {
    for (std::size_t row = 0; row < kRows; ++row) {
      _mm256_storeu_si256(to + row, _mm256_setzero_si256());
    }
  } else {
    UnpackRows<kWidth>(reinterpret_cast<const __m256i*>(in), to, std::make_index_sequence<kRows>());
  }
}

template <unsigned kWidth, std::size_t kRow>
TSDB_AVX2_INLINE void PackRow(const __m256i* in, __m256i* out, __m256i* words) {
  constexpr std::size_t kWord = kRow * kWidth / 32;
  constexpr int kShift = kRow * kWidth % 32;
  const __m256i v = _mm256_loadu_si256(in + kRow);
  *words = _mm256_or_si256(*words, _mm256_slli_epi32(v, kShift));
  if constexpr (kShift + kWidth >= 32) {
    _mm256_storeu_si256(out + kWord, *words);
    *words = kShift + kWidth > 32 ? _mm256_srli_epi32(v, 32 - kShift) : _mm256_setzero_si256();
  }
}

template <unsigned kWidth, std::size_t... kRowIndex>
TSDB_AVX2_INLINE void PackRows(const __m256i* in, __m256i* out, std::index_sequence<kRowIndex...>) {
  __m256i words = _mm256_setzero_si256();
  (PackRow<kWidth, kRowIndex>(in, out, &words), ...);
}

template <unsigned kWidth>
TSDB_AVX2 void PackLanes(const std::uint32_t* in, char* out) {
  if constexpr (kWidth > 0) {
    PackRows<kWidth>(reinterpret_cast<const __m256i*>(in), reinterpret_cast<__m256i*>(out),
                     std::make_index_sequence<kRows>());
  }
}

using UnpackFunction = void (*)(const char*, std::uint32_t*);
using PackFunction = void (*)(const std::uint32_t*, char*);

template <std::size_t... kWidths>
constexpr std::array<UnpackFunction, 33> MakeUnpackTable(std::index_sequence<kWidths...>) {
  return {UnpackLanes<kWidths>...};
}
template <std::size_t... kWidths>
constexpr std::array<PackFunction, 33> MakePackTable(std::index_sequence<kWidths...>) {
  return {PackLanes<kWidths>...};
}
constexpr auto kUnpackTable = MakeUnpackTable(std::make_index_sequence<33>());
constexpr auto kPackTable = MakePackTable(std::make_index_sequence<33>());

void Unpack(unsigned width, const char* in, std::uint32_t* out) { kUnpackTable[width](in, out); }
void Pack(unsigned width, const std::uint32_t* in, char* out) { kPackTable[width](in, out); }

TSDB_AVX2 void AddBase(const std::uint32_t* u, std::uint64_t base, std::uint64_t* out) {
  const __m256i b = _mm256_set1_epi64x(static_cast<long long>(base));
  for (std::size_t i = 0; i < kBlockValues; i += 4) {
    const __m256i v = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(u + i)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_add_epi64(v, b));
  }
}

TSDB_AVX2 void AddBaseSigned(const std::uint32_t* u, std::uint64_t base, std::uint64_t* out) {
  const __m256i b = _mm256_set1_epi64x(static_cast<long long>(base));
  for (std::size_t i = 0; i < kBlockValues; i += 4) {
    const __m256i v = _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(u + i)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_add_epi64(v, b));
  }
}

TSDB_AVX2 void RunningSum(const std::uint32_t* u, std::uint64_t base, std::uint64_t start, std::uint64_t* out) {
  const auto at = [&](std::uint64_t i) { return static_cast<long long>(start + i * base); };
  __m256i line = _mm256_setr_epi64x(at(1), at(2), at(3), at(4));
  const __m256i step = _mm256_set1_epi64x(static_cast<long long>(4 * base));
  const __m256i last = _mm256_set1_epi32(7);
  __m256i carry = _mm256_setzero_si256();
  for (std::size_t i = 0; i < kBlockValues; i += 8) {
    // Sums within each half, then the low half's total is added to the high half, then what came before.
    __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(u + i));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
    const __m256i low = _mm256_permute2x128_si256(v, v, 0x08);
    v = _mm256_add_epi32(v, _mm256_shuffle_epi32(low, 0xff));
    v = _mm256_add_epi32(v, carry);
    carry = _mm256_permutevar8x32_epi32(v, last);
    const __m256i first_four = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(v));
    const __m256i last_four = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_add_epi64(line, first_four));
    line = _mm256_add_epi64(line, step);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 4), _mm256_add_epi64(line, last_four));
    line = _mm256_add_epi64(line, step);
  }
}

TSDB_AVX2_INLINE __m256d IntegersToDoubles(const std::uint64_t* q) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q));
  const __m256i shifted = _mm256_add_epi64(v, _mm256_set1_epi64x(static_cast<long long>(kIntegerMagicBits)));
  return _mm256_sub_pd(_mm256_castsi256_pd(shifted), _mm256_set1_pd(kIntegerMagic));
}

TSDB_AVX2 void ToDecimals(const std::uint64_t* q, std::size_t count, double power, double* out) {
  const __m256d p = _mm256_set1_pd(power);
  std::size_t i = 0;
  if (power == 1) {
    for (; i + 4 <= count; i += 4) {
      _mm256_storeu_pd(out + i, IntegersToDoubles(q + i));
    }
  } else {
    for (; i + 4 <= count; i += 4) {
      _mm256_storeu_pd(out + i, _mm256_div_pd(IntegersToDoubles(q + i), p));
    }
  }
  ScalarKernels().to_decimals(q + i, count - i, power, out + i);
}

TSDB_AVX2 void ToScaledDecimals(const std::uint64_t* q, std::size_t count, double factor, double offset, double power,
                                double* out) {
  const __m256d f = _mm256_set1_pd(factor);
  const __m256d o = _mm256_set1_pd(offset);
  const __m256d p = _mm256_set1_pd(power);
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256d scaled = _mm256_add_pd(_mm256_mul_pd(IntegersToDoubles(q + i), f), o);
    _mm256_storeu_pd(out + i, _mm256_div_pd(scaled, p));
  }
  ScalarKernels().to_scaled_decimals(q + i, count - i, factor, offset, power, out + i);
}

TSDB_AVX2 void MatchDecimals(const double* values, std::size_t count, double power, std::int64_t* decimals,
                             std::uint64_t* misses) {
  const __m256d p = _mm256_set1_pd(power);
  const __m256d magic = _mm256_set1_pd(kIntegerMagic);
  const __m256i magic_bits = _mm256_set1_epi64x(static_cast<long long>(kIntegerMagicBits));
  const __m256d limit = _mm256_set1_pd(static_cast<double>(kDecimalMax));
  const __m256d sign = _mm256_set1_pd(-0.0);
  const std::size_t whole = count / 64 * 64;
  for (std::size_t i = 0; i < whole; i += 64) {
    std::uint64_t exact = 0;
    for (std::size_t j = 0; j < 64; j += 4) {
      const __m256d v = _mm256_loadu_pd(values + i + j);
      const __m256d scaled = _mm256_mul_pd(v, p);
      const __m256d shifted = _mm256_add_pd(scaled, magic);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(decimals + i + j),
                          _mm256_sub_epi64(_mm256_castpd_si256(shifted), magic_bits));
      const __m256d back = _mm256_div_pd(_mm256_sub_pd(shifted, magic), p);
      const __m256d in_range = _mm256_cmp_pd(_mm256_andnot_pd(sign, scaled), limit, _CMP_LT_OQ);
      const __m256i same = _mm256_cmpeq_epi64(_mm256_castpd_si256(back), _mm256_castpd_si256(v));
      const int mask = _mm256_movemask_pd(_mm256_and_pd(in_range, _mm256_castsi256_pd(same)));
      exact |= static_cast<std::uint64_t>(static_cast<unsigned>(mask)) << j;
    }
    misses[i / 64] = ~exact;
  }
  ScalarKernels().match_decimals(values + whole, count - whole, power, decimals + whole, misses + whole / 64);
}

constexpr CodecKernels kAvx2Kernels = {"avx2",     Unpack,     Pack,       AddBase,          AddBaseSigned,
                                       RunningSum, ToDecimals, ToScaledDecimals, MatchDecimals};

}  // namespace

const CodecKernels* Avx2Kernels() {
  static const bool present = __builtin_cpu_supports("avx2") != 0;
  return present ? &kAvx2Kernels : nullptr;
}

}  // namespace tsdb::chunk

#else

namespace tsdb::chunk {
const CodecKernels* Avx2Kernels() { return nullptr; }
}  // namespace tsdb::chunk

#endif
