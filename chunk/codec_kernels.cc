#include "chunk/codec_kernels.h"

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

#include "base/coding.h"
#include "chunk/bit_instructions.h"
#include "chunk/bit_stream.h"
#include "chunk/decimal.h"

namespace tsdb::chunk {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kRows = kBlockValues / kLanes;

template <unsigned kWidth>
void UnpackLanes(const char* in, std::uint32_t* out) {
  if constexpr (kWidth == 0) {
    std::memset(out, 0, kBlockValues * sizeof(std::uint32_t));
  } else {
    constexpr auto kMask = static_cast<std::uint32_t>(LowMask(kWidth));
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::size_t word = row * kWidth / 32;
      const unsigned shift = row * kWidth % 32;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        std::uint32_t v = LoadFixed<std::uint32_t>(in + (word * kLanes + lane) * 4) >> shift;
        if (shift + kWidth > 32) {
          v |= LoadFixed<std::uint32_t>(in + ((word + 1) * kLanes + lane) * 4) << ((32 - shift) & 31);
        }
        out[row * kLanes + lane] = v & kMask;
      }
    }
  }
}

template <unsigned kWidth>
void PackLanes(const std::uint32_t* in, char* out) {
  if constexpr (kWidth > 0) {
    std::array<std::uint32_t, kLanes> words{};
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::size_t word = row * kWidth / 32;
      const unsigned shift = row * kWidth % 32;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t v = in[row * kLanes + lane];
        words[lane] |= v << shift;
        if (shift + kWidth >= 32) {
          StoreFixed(out + (word * kLanes + lane) * 4, words[lane]);
          words[lane] = shift + kWidth > 32 ? v >> ((32 - shift) & 31) : 0;
        }
      }
    }
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

void AddBase(const std::uint32_t* u, std::uint64_t base, std::uint64_t* out) {
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    out[i] = base + u[i];
  }
}

std::uint64_t SignExtend(std::uint32_t u) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(u)});
}

void AddBaseSigned(const std::uint32_t* u, std::uint64_t base, std::uint64_t* out) {
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    out[i] = base + SignExtend(u[i]);
  }
}

void RunningSum(const std::uint32_t* u, std::uint64_t base, std::uint64_t start, std::uint64_t* out) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    sum += u[i];
    start += base;
    out[i] = start + SignExtend(sum);
  }
}

void ToDecimals(const std::uint64_t* q, std::size_t count, double power, double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = IntegerToDouble(static_cast<std::int64_t>(q[i])) / power;
  }
}

void ToScaledDecimals(const std::uint64_t* q, std::size_t count, double factor, double offset, double power,
                      double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const double product = IntegerToDouble(static_cast<std::int64_t>(q[i])) * factor;
    out[i] = (product + offset) / power;
  }
}

void MatchDecimals(const double* values, std::size_t count, double power, std::int64_t* decimals,
                   std::uint64_t* misses) {
  for (std::size_t i = 0; i < count; ++i) {
    const double scaled = values[i] * power;
    const double shifted = scaled + kIntegerMagic;
    decimals[i] = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(shifted) - kIntegerMagicBits);
    const double back = (shifted - kIntegerMagic) / power;
    const bool miss = !(std::fabs(scaled) < static_cast<double>(kDecimalMax)) ||
                      std::bit_cast<std::uint64_t>(back) != std::bit_cast<std::uint64_t>(values[i]);
    if (i % 64 == 0) {
      misses[i / 64] = 0;
    }
    misses[i / 64] |= static_cast<std::uint64_t>(miss) << (i % 64);
  }
}

constexpr CodecKernels kScalarKernels = {"scalar",   Unpack,     Pack,       AddBase,          AddBaseSigned,
                                         RunningSum, ToDecimals, ToScaledDecimals, MatchDecimals};

std::atomic<const CodecKernels*>& Chosen() {
  static std::atomic<const CodecKernels*> chosen{Avx2Kernels() != nullptr ? Avx2Kernels() : &kScalarKernels};
  return chosen;
}

}  // namespace

const CodecKernels& Kernels() { return *Chosen().load(std::memory_order_relaxed); }
const CodecKernels& ScalarKernels() { return kScalarKernels; }
void UseScalarKernels(bool scalar) {
  const CodecKernels* best = Avx2Kernels() != nullptr ? Avx2Kernels() : &kScalarKernels;
  Chosen().store(scalar ? &kScalarKernels : best, std::memory_order_relaxed);
  internal::use_bit_instructions.store(!scalar && HasBitInstructions(), std::memory_order_relaxed);
}

bool HasBitInstructions() {
#if defined(__x86_64__) && defined(__GNUC__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c >> 5 & 1) != 0;
  return lzcnt && __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
#else
  return false;
#endif
}

}  // namespace tsdb::chunk
