// The inner loops of the codecs: what AVX2 gives has the same bits as what plain C++ gives.
#include "chunk/codec_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "chunk/bit_stream.h"
#include "column_shapes.h"

namespace tsdb::chunk {
namespace {

using shapes::Below;

class KernelTwins : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Avx2Kernels() == nullptr) {
      GTEST_SKIP() << "this machine has no AVX2";
    }
  }
  void TearDown() override { UseScalarKernels(false); }
};

TEST_F(KernelTwins, PackAndUnpackTheSameBytesAtEveryWidth) {
  shapes::Random random(13);
  for (unsigned width = 0; width <= 32; ++width) {
    std::array<std::uint32_t, kBlockValues> in;
    for (auto& v : in) {
      v = static_cast<std::uint32_t>(random() & LowMask(width));
    }
    std::vector<char> fast(32 * width, 'f');  // of that size and no more
    std::vector<char> plain(32 * width, 'p');
    Avx2Kernels()->pack(width, in.data(), fast.data());
    ScalarKernels().pack(width, in.data(), plain.data());
    ASSERT_EQ(fast, plain) << width;
    std::array<std::uint32_t, kBlockValues> fast_out;
    std::array<std::uint32_t, kBlockValues> plain_out;
    Avx2Kernels()->unpack(width, fast.data(), fast_out.data());
    ScalarKernels().unpack(width, fast.data(), plain_out.data());
    ASSERT_EQ(fast_out, in) << width;
    ASSERT_EQ(plain_out, in) << width;
  }
}

TEST_F(KernelTwins, SumAndConvertToTheSameBits) {
  shapes::Random random(14);
  for (int round = 0; round < 300; ++round) {
    std::array<std::uint32_t, kBlockValues> u;
    for (auto& v : u) {
      v = static_cast<std::uint32_t>(random() % 4'000'000) - 2'000'000;
    }
    std::array<std::uint64_t, kBlockValues> fast;
    std::array<std::uint64_t, kBlockValues> plain;
    const std::uint64_t base = random();
    const std::uint64_t start = random();
    Avx2Kernels()->running_sum(u.data(), base, start, fast.data());
    ScalarKernels().running_sum(u.data(), base, start, plain.data());
    ASSERT_EQ(fast, plain);
    Avx2Kernels()->add_base(u.data(), base, fast.data());
    ScalarKernels().add_base(u.data(), base, plain.data());
    ASSERT_EQ(fast, plain);
    Avx2Kernels()->add_base_signed(u.data(), base, fast.data());
    ScalarKernels().add_base_signed(u.data(), base, plain.data());
    ASSERT_EQ(fast, plain);
    // Integers of all sizes, those no encoder writes included.
    for (auto& v : fast) {
      v = random() >> Below(random, 64);
      v = Below(random, 2) == 0 ? v : 0 - v;
    }
    std::array<double, kBlockValues> fast_out;
    std::array<double, kBlockValues> plain_out;
    const std::size_t count = Below(random, kBlockValues + 1);
    const double power = std::pow(10.0, static_cast<double>(Below(random, 18)));
    Avx2Kernels()->to_decimals(fast.data(), count, power, fast_out.data());
    ScalarKernels().to_decimals(fast.data(), count, power, plain_out.data());
    ASSERT_EQ(std::memcmp(fast_out.data(), plain_out.data(), count * sizeof(double)), 0);
    Avx2Kernels()->to_scaled_decimals(fast.data(), count, 4096, -17, power, fast_out.data());
    ScalarKernels().to_scaled_decimals(fast.data(), count, 4096, -17, power, plain_out.data());
    ASSERT_EQ(std::memcmp(fast_out.data(), plain_out.data(), count * sizeof(double)), 0);
  }
}

TEST_F(KernelTwins, GiveTheSameValuesOfWordsAndSums) {
  shapes::Random random(17);
  for (int round = 0; round < 3'000; ++round) {
    std::array<std::uint32_t, kBlockValues> u;
    for (std::uint32_t& v : u) {
      v = static_cast<std::uint32_t>(Below(random, 1u << 22)) >> Below(random, 22);
      v = Below(random, 2) == 0 ? v : 0 - v;
    }
    const auto integer = [&random](unsigned bits) {
      const auto v = static_cast<double>(Below(random, std::uint64_t{1} << bits) >> Below(random, bits));
      return Below(random, 2) == 0 ? v : -v;
    };
    DecimalScale scale = {.power = std::pow(10.0, static_cast<double>(Below(random, 18)))};
    if (round % 3 == 0) {
      scale.factor = 1 + static_cast<double>(Below(random, 50));
      scale.offset = integer(49);
    }
    const double base = integer(34);
    const double start = integer(round % 3 == 0 ? 40 : 50);
    std::array<double, kBlockValues> fast;
    std::array<double, kBlockValues> plain;
    Avx2Kernels()->base_to_decimals(u.data(), start, scale, fast.data());
    ScalarKernels().base_to_decimals(u.data(), start, scale, plain.data());
    ASSERT_EQ(std::memcmp(fast.data(), plain.data(), sizeof fast), 0) << "round " << round;
    Avx2Kernels()->running_sum_to_decimals(u.data(), base, start, scale, fast.data());
    ScalarKernels().running_sum_to_decimals(u.data(), base, start, scale, plain.data());
    ASSERT_EQ(std::memcmp(fast.data(), plain.data(), sizeof fast), 0) << "round " << round;
  }
}

TEST_F(KernelTwins, JoinSumUpAndOrderTheSameIntegers) {
  shapes::Random random(18);
  for (int round = 0; round < 300; ++round) {
    std::array<std::uint32_t, kBlockValues> low;
    std::array<std::uint32_t, kBlockValues> high;
    std::generate(low.begin(), low.end(), [&] { return static_cast<std::uint32_t>(random()); });
    std::generate(high.begin(), high.end(), [&] { return static_cast<std::uint32_t>(random()); });
    const std::uint64_t base = random();
    std::array<std::uint64_t, kBlockValues> fast;
    std::array<std::uint64_t, kBlockValues> plain;
    Avx2Kernels()->join_halves(low.data(), high.data(), base, fast.data());
    ScalarKernels().join_halves(low.data(), high.data(), base, plain.data());
    ASSERT_EQ(fast, plain);
    const std::size_t count = Below(random, kBlockValues + 1);
    Avx2Kernels()->sum_up(fast.data(), count, base);
    ScalarKernels().sum_up(plain.data(), count, base);
    ASSERT_EQ(fast, plain);
    std::array<double, kBlockValues> fast_out{};
    std::array<double, kBlockValues> plain_out{};
    const std::uint64_t factor = round % 2 == 0 ? 1 : 4096;
    const std::uint64_t offset = round % 2 == 0 ? 0 : base;
    Avx2Kernels()->to_ordered(fast.data(), count, factor, offset, fast_out.data());
    ScalarKernels().to_ordered(fast.data(), count, factor, offset, plain_out.data());
    ASSERT_EQ(std::memcmp(fast_out.data(), plain_out.data(), sizeof fast_out), 0);
  }
}

TEST_F(KernelTwins, DivideIntegersLikeADivisionNearTheMiddleOfTwoDoubles) {
  // Quotients as near to a middle as there are: M · 5^E rounded to a multiple of a power of two.
  shapes::Random random(19);
  std::uint64_t checked = 0;
  for (int exponent = 1; exponent <= 17; ++exponent) {
    const double power = std::pow(10.0, exponent);
    for (int round = 0; round < 2'000; ++round) {
      std::array<std::uint64_t, 64> q;
      for (std::uint64_t& v : q) {
        const auto odd = static_cast<long double>((std::uint64_t{1} << 53 | Below(random, 1ull << 52) << 1) + 1);
        const long double middle = std::ldexp(odd, -static_cast<int>(Below(random, 100)));
        const long double near = std::nearbyint(middle * power);
        v = near <= 0x1p51L ? static_cast<std::uint64_t>(near) : Below(random, 1'000'000);
        v = Below(random, 2) == 0 ? v : 0 - v;
      }
      std::array<double, 64> fast;
      Avx2Kernels()->to_decimals(q.data(), q.size(), power, fast.data());
      for (std::size_t i = 0; i < q.size(); ++i) {
        const double plain = static_cast<double>(static_cast<std::int64_t>(q[i])) / power;
        ASSERT_EQ(fast[i], plain) << exponent << " " << q[i];
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 17u * 2'000 * 64);
}

TEST_F(KernelTwins, MatchTheSameDecimals) {
  shapes::Random random(15);
  for (int round = 0; round < 600; ++round) {
    const std::size_t count = 1 + Below(random, 300);
    const std::vector<double> values = shapes::Values(random, round % shapes::kValueShapes, count);
    std::vector<std::int64_t> fast(count);
    std::vector<std::int64_t> plain(count);
    std::vector<std::uint64_t> fast_misses((count + 63) / 64);
    std::vector<std::uint64_t> plain_misses((count + 63) / 64);
    const double power = std::pow(10.0, static_cast<double>(Below(random, 18)));
    Avx2Kernels()->match_decimals(values.data(), count, power, fast.data(), fast_misses.data());
    ScalarKernels().match_decimals(values.data(), count, power, plain.data(), plain_misses.data());
    ASSERT_EQ(fast_misses, plain_misses);
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isfinite(values[i])) {
        ASSERT_EQ(fast[i], plain[i]);
      }
    }
  }
}

}  // namespace
}  // namespace tsdb::chunk
