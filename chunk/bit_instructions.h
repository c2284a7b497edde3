// The bit instructions of x86-64 processors from 2013 on (BMI1, BMI2, LZCNT), for loops that look at single bits: a
// function marked TSDB_BIT_INSTRUCTIONS is compiled for them and may be called only while UseBitInstructions(). Its
// twin is the same source, compiled for every machine: what is to be compiled twice is marked TSDB_BOTH_WAYS and
// inlined into both.
//
// Thread safety: pure functions; for changing the choice see UseScalarKernels in codec_kernels.h.
#pragma once

#include <atomic>

#if defined(__x86_64__) && defined(__GNUC__)
#define TSDB_BIT_INSTRUCTIONS __attribute__((target("bmi,bmi2,lzcnt")))
#define TSDB_BOTH_WAYS __attribute__((always_inline)) inline
#else
#define TSDB_BIT_INSTRUCTIONS
#define TSDB_BOTH_WAYS inline
#endif

namespace tsdb::chunk {

/// Whether this machine has them.
bool HasBitInstructions();

namespace internal {
inline std::atomic<bool> use_bit_instructions = HasBitInstructions();
}

inline bool UseBitInstructions() { return internal::use_bit_instructions.load(std::memory_order_relaxed); }

}  // namespace tsdb::chunk
