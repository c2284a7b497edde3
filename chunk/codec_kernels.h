// Inner loops of the sealed codecs, over blocks of 256 values: AVX2 where the machine has it, otherwise (and in tests)
// plain C++ that gives the same bits.
//
// Lanes: value i of a block is row i / 8 of lane i % 8. A lane is a stream of bits, least significant first, in 32-bit
// words; word k of all eight lanes stand side by side. So a block of width w takes 32·w bytes.
//
// Thread safety: pure functions; UseScalarKernels is for tests and benchmarks, before other threads start.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tsdb::chunk {

inline constexpr std::size_t kBlockValues = 256;

struct CodecKernels {
  const char* name;
  /// Unpacks 256 values of `width` 0..32 bits; reads 32·width bytes.
  void (*unpack)(unsigned width, const char* in, std::uint32_t* out);
  /// Packs 256 values that fit in `width` 0..32 bits; writes 32·width bytes.
  void (*pack)(unsigned width, const std::uint32_t* in, char* out);
  /// out[i] = base + u[i], u unsigned.
  void (*add_base)(const std::uint32_t* u, std::uint64_t base, std::uint64_t* out);
  /// out[i] = base + u[i], u signed.
  void (*add_base_signed)(const std::uint32_t* u, std::uint64_t base, std::uint64_t* out);
  /// Running sum: out[i] = start + (i+1)·base + u[0] + … + u[i], u signed. Every partial sum of u must fit in 32 bits.
  void (*running_sum)(const std::uint32_t* u, std::uint64_t base, std::uint64_t start, std::uint64_t* out);
  /// out[i] = IntegerToDouble(q[i]) / power.
  void (*to_decimals)(const std::uint64_t* q, std::size_t count, double power, double* out);
  /// out[i] = (double(q[i]) · factor + offset) / power with IntegerToDouble, product and sum rounded on their own.
  void (*to_scaled_decimals)(const std::uint64_t* q, std::size_t count, double factor, double offset, double power,
                             double* out);
  /// Rounds values to decimals of an exponent: decimals[i], and a bit in misses[i / 64] unless exact.
  void (*match_decimals)(const double* values, std::size_t count, double power, std::int64_t* decimals,
                         std::uint64_t* misses);
};

/// The best for this machine.
const CodecKernels& Kernels();
const CodecKernels& ScalarKernels();
/// Null when the machine or the build has none.
const CodecKernels* Avx2Kernels();
/// True: Kernels() gives the scalar ones from now on, and no bit instructions are used (chunk/bit_instructions.h).
void UseScalarKernels(bool scalar);

}  // namespace tsdb::chunk
