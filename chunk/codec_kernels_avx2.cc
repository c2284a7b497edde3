// The AVX2 twins of codec_kernels.cc: the same bits, eight or four values at a time.
#include "chunk/codec_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <array>
#include <bit>
#include <utility>

#include "chunk/bit_stream.h"
#include "chunk/decimal.h"

#define TSDB_AVX2 __attribute__((target("avx2,fma")))
#define TSDB_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

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

/// Eight partial sums behind a carry in every lane, which becomes the last of them.
TSDB_AVX2_INLINE __m256i SumEight(const std::uint32_t* u, __m256i* carry) {
  // Sums within each half, then the low half's total is added to the high half, then what came before.
  __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(u));
  v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
  v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
  const __m256i low = _mm256_permute2x128_si256(v, v, 0x08);
  v = _mm256_add_epi32(v, _mm256_shuffle_epi32(low, 0xff));
  const __m256i sums = _mm256_add_epi32(v, *carry);
  *carry = _mm256_add_epi32(*carry, _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7)));
  return sums;
}

TSDB_AVX2 void RunningSum(const std::uint32_t* u, std::uint64_t base, std::uint64_t start, std::uint64_t* out) {
  const auto at = [&](std::uint64_t i) { return static_cast<long long>(start + i * base); };
  __m256i line = _mm256_setr_epi64x(at(1), at(2), at(3), at(4));
  const __m256i step = _mm256_set1_epi64x(static_cast<long long>(4 * base));
  __m256i carry = _mm256_setzero_si256();
  for (std::size_t i = 0; i < kBlockValues; i += 8) {
    const __m256i v = SumEight(u + i, &carry);
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

/// Divides integers |d| <= 2^51 by a power of ten 10^E, E <= 17, with two multiplications, rounded as a division is.
///
/// high + low is the reciprocal but for 2^-106 of it, and rounding d · low adds as much: what is rounded in the end is
/// the quotient but for 2^-105 of it. That matters only where the quotient lies so near to the middle of two doubles. A
/// middle is M · 2^k with an odd M of 54 bits. d / 10^E is none (d would be a multiple of M), and two such fractions
/// differ by 1 / (M · 5^E) of them at least, which is more than 2^-94.
class Reciprocal {
 public:
  TSDB_AVX2_INLINE explicit Reciprocal(double power) {
    const double high = 1 / power;
    const double low = __builtin_fma(-high, power, 1.0) / power;
    high_ = _mm256_set1_pd(high);
    low_ = _mm256_set1_pd(low);
  }
  TSDB_AVX2_INLINE __m256d Divide(__m256d integers) const {
    return _mm256_fmadd_pd(integers, high_, _mm256_mul_pd(integers, low_));
  }

 private:
  __m256d high_;
  __m256d low_;
};

/// Doubles of integers from -2^51 to 2^51 - 1 with kIntegerMagicBits added have these top twelve bits.
constexpr std::uint64_t kMagicTop = 0x4330000000000000;
constexpr unsigned kMagicTopShift = 52;

TSDB_AVX2 void ToIntegers(const std::uint64_t* q, std::size_t count, double* out) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    _mm256_storeu_pd(out + i, IntegersToDoubles(q + i));
  }
  ScalarKernels().to_decimals(q + i, count - i, 1, out + i);
}

TSDB_AVX2 void ToDecimals(const std::uint64_t* q, std::size_t count, double power, double* out) {
  if (power == 1) {
    ToIntegers(q, count, out);
    return;
  }
  const Reciprocal reciprocal(power);
  const __m256i magic_bits = _mm256_set1_epi64x(static_cast<long long>(kIntegerMagicBits));
  const __m256i top = _mm256_set1_epi64x(static_cast<long long>(kMagicTop));
  const __m256d magic = _mm256_set1_pd(kIntegerMagic);
  __m256i outside = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + i));
    const __m256i shifted = _mm256_add_epi64(v, magic_bits);
    outside = _mm256_or_si256(outside, _mm256_xor_si256(shifted, top));
    _mm256_storeu_pd(out + i, reciprocal.Divide(_mm256_sub_pd(_mm256_castsi256_pd(shifted), magic)));
  }
  if (_mm256_testz_si256(outside, _mm256_set1_epi64x(-(1ll << kMagicTopShift))) == 0) [[unlikely]] {
    i = 0;  // bytes that no encoder wrote: divided one by one
  }
  ScalarKernels().to_decimals(q + i, count - i, power, out + i);
}

TSDB_AVX2 void ToScaledDecimals(const std::uint64_t* q, std::size_t count, double factor, double offset, double power,
                                double* out) {
  const Reciprocal reciprocal(power);
  const __m256d f = _mm256_set1_pd(factor);
  const __m256d o = _mm256_set1_pd(offset);
  const __m256d sign = _mm256_set1_pd(-0.0);
  const __m256d limit = _mm256_set1_pd(static_cast<double>(kDecimalMax));
  __m256d inside = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256d scaled = _mm256_add_pd(_mm256_mul_pd(IntegersToDoubles(q + i), f), o);  // an integer, or not inside
    inside = _mm256_and_pd(inside, _mm256_cmp_pd(_mm256_andnot_pd(sign, scaled), limit, _CMP_LE_OQ));
    _mm256_storeu_pd(out + i, reciprocal.Divide(scaled));
  }
  if (_mm256_movemask_pd(inside) != 15) [[unlikely]] {
    i = 0;
  }
  ScalarKernels().to_scaled_decimals(q + i, count - i, factor, offset, power, out + i);
}

/// Integers in doubles to values; what is 1 or 0 costs nothing.
template <bool kScaled, bool kDivided>
class ToValue {
 public:
  TSDB_AVX2_INLINE explicit ToValue(const DecimalScale& scale)
      : factor_(_mm256_set1_pd(scale.factor)), offset_(_mm256_set1_pd(scale.offset)), reciprocal_(scale.power) {}
  TSDB_AVX2_INLINE __m256d operator()(__m256d integers) const {
    if constexpr (kScaled) {
      integers = _mm256_fmadd_pd(integers, factor_, offset_);  // exact
    }
    if constexpr (kDivided) {
      integers = reciprocal_.Divide(integers);
    }
    return integers;
  }

 private:
  __m256d factor_;
  __m256d offset_;
  Reciprocal reciprocal_;
};

template <bool kScaled, bool kDivided>
TSDB_AVX2 void BaseToValues(const std::uint32_t* u, double base, const DecimalScale& scale, double* out) {
  const ToValue<kScaled, kDivided> to_value(scale);
  const __m256d b = _mm256_set1_pd(base);
  for (std::size_t i = 0; i < kBlockValues; i += 8) {
    for (std::size_t k = 0; k < 8; k += 4) {
      const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(u + i + k));
      _mm256_storeu_pd(out + i + k, to_value(_mm256_add_pd(_mm256_cvtepi32_pd(v), b)));
    }
  }
}

template <bool kScaled, bool kDivided>
TSDB_AVX2 void RunningSumToValues(const std::uint32_t* u, double base, double start, const DecimalScale& scale,
                                  double* out) {
  const ToValue<kScaled, kDivided> to_value(scale);
  __m256d first_line = _mm256_setr_pd(start + base, start + 2 * base, start + 3 * base, start + 4 * base);
  __m256d last_line = _mm256_add_pd(first_line, _mm256_set1_pd(4 * base));
  const __m256d step = _mm256_set1_pd(8 * base);
  __m256i carry = _mm256_setzero_si256();
  for (std::size_t i = 0; i < kBlockValues; i += 8) {
    const __m256i sums = SumEight(u + i, &carry);
    const __m256d first_four = _mm256_cvtepi32_pd(_mm256_castsi256_si128(sums));
    const __m256d last_four = _mm256_cvtepi32_pd(_mm256_extracti128_si256(sums, 1));
    _mm256_storeu_pd(out + i, to_value(_mm256_add_pd(first_line, first_four)));
    _mm256_storeu_pd(out + i + 4, to_value(_mm256_add_pd(last_line, last_four)));
    first_line = _mm256_add_pd(first_line, step);
    last_line = _mm256_add_pd(last_line, step);
  }
}

void BaseToDecimals(const std::uint32_t* u, double base, const DecimalScale& scale, double* out) {
  if (scale.factor != 1 || scale.offset != 0) {
    BaseToValues<true, true>(u, base, scale, out);
  } else if (scale.power != 1) {
    BaseToValues<false, true>(u, base, scale, out);
  } else {
    BaseToValues<false, false>(u, base, scale, out);
  }
}

void RunningSumToDecimals(const std::uint32_t* u, double base, double start, const DecimalScale& scale, double* out) {
  if (scale.factor != 1 || scale.offset != 0) {
    RunningSumToValues<true, true>(u, base, start, scale, out);
  } else if (scale.power != 1) {
    RunningSumToValues<false, true>(u, base, start, scale, out);
  } else {
    RunningSumToValues<false, false>(u, base, start, scale, out);
  }
}

TSDB_AVX2 void JoinHalves(const std::uint32_t* low, const std::uint32_t* high, std::uint64_t base,
                          std::uint64_t* out) {
  const __m256i b = _mm256_set1_epi64x(static_cast<long long>(base));
  for (std::size_t i = 0; i < kBlockValues; i += 4) {
    const __m256i l = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low + i)));
    const __m256i h = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(high + i)));
    const __m256i joined = _mm256_or_si256(l, _mm256_slli_epi64(h, 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_add_epi64(joined, b));
  }
}

TSDB_AVX2 void SumUp(std::uint64_t* q, std::size_t count, std::uint64_t start) {
  __m256i carry = _mm256_set1_epi64x(static_cast<long long>(start));
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + i));
    v = _mm256_add_epi64(v, _mm256_slli_si256(v, 8));
    const __m256i low = _mm256_permute2x128_si256(v, v, 0x08);
    v = _mm256_add_epi64(v, _mm256_unpackhi_epi64(low, low));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), _mm256_add_epi64(v, carry));
    carry = _mm256_add_epi64(carry, _mm256_permute4x64_epi64(v, 0xff));
  }
  ScalarKernels().sum_up(q + i, count - i, i > 0 ? q[i - 1] : start);
}

TSDB_AVX2 void ToOrdered(const std::uint64_t* q, std::size_t count, std::uint64_t factor, std::uint64_t offset,
                         double* out) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i all_but_sign = _mm256_set1_epi64x(0x7fffffffffffffff);
  std::size_t i = 0;
  if (factor == 1 && offset == 0) {
    for (; i + 4 <= count; i += 4) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + i));
      const __m256i flip = _mm256_and_si256(_mm256_cmpgt_epi64(zero, v), all_but_sign);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_xor_si256(v, flip));
    }
  }
  ScalarKernels().to_ordered(q + i, count - i, factor, offset, out + i);
}

TSDB_AVX2 void MatchDecimals(const double* values, std::size_t count, double power, std::int64_t* decimals,
                             std::uint64_t* misses) {
  const __m256d p = _mm256_set1_pd(power);
  const Reciprocal reciprocal(power);
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
      const __m256d back = reciprocal.Divide(_mm256_sub_pd(shifted, magic));  // of what is in range
      const __m256d in_range = _mm256_cmp_pd(_mm256_andnot_pd(sign, scaled), limit, _CMP_LT_OQ);
      const __m256i same = _mm256_cmpeq_epi64(_mm256_castpd_si256(back), _mm256_castpd_si256(v));
      const int mask = _mm256_movemask_pd(_mm256_and_pd(in_range, _mm256_castsi256_pd(same)));
      exact |= static_cast<std::uint64_t>(static_cast<unsigned>(mask)) << j;
    }
    misses[i / 64] = ~exact;
  }
  ScalarKernels().match_decimals(values + whole, count - whole, power, decimals + whole, misses + whole / 64);
}

constexpr CodecKernels kAvx2Kernels = {
    .name = "avx2",
    .unpack = Unpack,
    .pack = Pack,
    .add_base = AddBase,
    .add_base_signed = AddBaseSigned,
    .running_sum = RunningSum,
    .to_decimals = ToDecimals,
    .to_scaled_decimals = ToScaledDecimals,
    .base_to_decimals = BaseToDecimals,
    .running_sum_to_decimals = RunningSumToDecimals,
    .join_halves = JoinHalves,
    .sum_up = SumUp,
    .to_ordered = ToOrdered,
    .match_decimals = MatchDecimals,
};

}  // namespace

const CodecKernels* Avx2Kernels() {
  static const bool present = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return present ? &kAvx2Kernels : nullptr;
}

}  // namespace tsdb::chunk

#else

namespace tsdb::chunk {
const CodecKernels* Avx2Kernels() { return nullptr; }
}  // namespace tsdb::chunk

#endif
