#include "chunk/integer_token_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "chunk/column_codec.h"

namespace tsdb::chunk {
namespace {

/// Header, state and sizes of a token column.
constexpr double kHeaderBits = 90;

/// The finest graded tokens; all others are unions of them.
constexpr GradedTokens kFinest = {.direct = kDirectBitsMax, .mantissa = kMantissaBitsMax, .centre = 0};
constexpr int kFinestSteps = (1 << kDirectBitsMax) + ((64 - static_cast<int>(kDirectBitsMax)) << kMantissaBitsMax);

/// For a pair of direct and mantissa bits: the step, and its raw bits, of each finest step from 0 on.
struct Coarsening {
  std::array<std::int16_t, kFinestSteps> step;
  std::array<std::uint8_t, kFinestSteps> bits;
};
using Coarsenings = std::array<std::array<Coarsening, kMantissaBitsMax + 1>, kDirectBitsMax + 1>;

const Coarsenings& AllCoarsenings() {
  static const Coarsenings all = [] {
    Coarsenings result{};
    TokenSet fine;
    for (int at = 0; at < kFinestSteps; ++at) {
      fine.SetGraded(kFinest, at, 1);
      for (unsigned direct = 0; direct <= kDirectBitsMax; ++direct) {
        for (unsigned mantissa = 0; mantissa <= std::min(direct, kMantissaBitsMax); ++mantissa) {
          Coarsening& coarse = result[direct][mantissa];
          const std::uint64_t size = fine.base[0];  // up to 2^63: a size, not a signed distance
          if (size >> direct == 0) {
            coarse.step[at] = static_cast<std::int16_t>(size);
            coarse.bits[at] = 0;
          } else {
            const unsigned exponent = BitLength(size) - 1;
            coarse.bits[at] = static_cast<std::uint8_t>(exponent - mantissa);
            coarse.step[at] = static_cast<std::int16_t>((1u << direct) + ((exponent - direct) << mantissa) +
                                                        ((size >> (exponent - mantissa)) & LowMask(mantissa)));
          }
        }
      }
    }
    return result;
  }();
  return all;
}

/// How often each finest step occurs, around a centre.
class StepCounts {
 public:
  StepCounts(std::span<const std::uint64_t> differences, std::uint64_t centre) {
    GradedTokens graded = kFinest;
    graded.centre = centre;
    for (const std::uint64_t v : differences) {
      ++counts_[static_cast<std::size_t>(graded.StepOf(v) + kFinestSteps)];
    }
    for (int i = 0; i < 2 * kFinestSteps + 1; ++i) {
      if (counts_[static_cast<std::size_t>(i)] > 0) {
        used_.push_back(i - kFinestSteps);
      }
    }
  }
  /// The cost of a fair coarsening.
  double RoughCost() const {
    return std::min({Cost(AllCoarsenings()[2][0]), Cost(AllCoarsenings()[4][1]), Cost(AllCoarsenings()[7][2])});
  }
  /// Puts the cheapest coarsening into `plan` if it beats plan->bits; `extra_bits` are added to its cost.
  void Improve(double extra_bits, TokenPlan* plan) const {
    for (unsigned direct = 0; direct <= kDirectBitsMax; ++direct) {
      for (unsigned mantissa = 0; mantissa <= std::min(direct, kMantissaBitsMax); ++mantissa) {
        const Coarsening& coarse = AllCoarsenings()[direct][mantissa];
        const int first = Step(coarse, used_.front());
        const int last = Step(coarse, used_.back());
        if (last - first >= static_cast<int>(rans::kTokensMax)) {
          continue;
        }
        const double bits = Cost(coarse) + extra_bits;
        if (bits < plan->bits) {
          plan->graded.direct = direct;
          plan->graded.mantissa = mantissa;
          plan->first = first;
          plan->size = static_cast<std::size_t>(last - first) + 1;
          plan->bits = bits;
        }
      }
    }
  }

 private:
  static int Step(const Coarsening& coarse, int fine) {
    return fine < 0 ? -coarse.step[static_cast<std::size_t>(-fine)] : coarse.step[static_cast<std::size_t>(fine)];
  }
  double Cost(const Coarsening& coarse) const {
    double bits = kTableBits;
    std::uint32_t all = 0;
    std::uint32_t run = 0;
    int step = std::numeric_limits<int>::min();
    for (const int fine : used_) {
      const std::uint32_t count = counts_[static_cast<std::size_t>(fine + kFinestSteps)];
      const int now = Step(coarse, fine);
      if (now != step) {
        bits += kLevelBits - NLogN(run);
        run = 0;
        step = now;
      }
      run += count;
      all += count;
      bits += static_cast<double>(count) * coarse.bits[static_cast<std::size_t>(fine < 0 ? -fine : fine)];
    }
    return bits + NLogN(all) - NLogN(run);
  }

  std::array<std::uint32_t, 2 * kFinestSteps + 1> counts_{};
  std::vector<int> used_;
};

std::uint64_t SampleMedian(std::span<const std::uint64_t> integers) {
  constexpr std::size_t kSamples = 65;
  std::array<std::int64_t, kSamples> sample;
  const std::size_t count = std::min(integers.size(), kSamples);
  for (std::size_t i = 0; i < count; ++i) {
    sample[i] = static_cast<std::int64_t>(integers[i * integers.size() / count]);
  }
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sample.begin(), middle, sample.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint64_t>(*middle);
}

/// What the first differences of a page come to, which are free: something that occurs anyway.
std::uint64_t FillerFor(std::span<const std::uint64_t> integers, int order) {
  const std::size_t n = integers.size();
  if (order == 0 || n < 3) {
    return 0;
  }
  // Within a page, and behind its first ones.
  const std::size_t i = std::max<std::size_t>(2, n / 2 % kPageSamples == 0 ? n / 2 + 2 : n / 2);
  return order == 1 ? integers[i] - integers[i - 1] : integers[i] - 2 * integers[i - 1] + integers[i - 2];
}

double StartBits(std::span<const std::uint64_t> starts, int order) {
  double bits = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto per_page = static_cast<std::size_t>(order);
    const std::uint64_t step = i % per_page == 0 && i > 0 ? starts[i] - starts[i - per_page] : starts[i];
    bits += 4 + 1.15 * BitLength(ZigZag(static_cast<std::int64_t>(step)));
  }
  return bits;
}

/// Open addressing; gives up beyond 256 integers.
bool CollectDistinct(std::span<const std::uint64_t> integers, std::vector<std::uint64_t>* distinct) {
  constexpr std::size_t kSlots = 1024;
  std::array<std::uint16_t, kSlots> slots{};  // index in `distinct` + 1
  for (const std::uint64_t v : integers) {
    std::size_t slot = static_cast<std::size_t>(v * 0x9e3779b97f4a7c15 >> 54);
    while (slots[slot] != 0 && (*distinct)[slots[slot] - 1u] != v) {
      slot = (slot + 1) % kSlots;
    }
    if (slots[slot] == 0) {
      if (distinct->size() == rans::kTokensMax) {
        return false;
      }
      distinct->push_back(v);
      slots[slot] = static_cast<std::uint16_t>(distinct->size());
    }
  }
  return true;
}

bool SignedLess(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
}

}  // namespace

double NLogN(std::uint32_t n) {
  static const std::vector<float> table = [] {
    std::vector<float> t(8192 + 1);
    for (std::size_t i = 1; i < t.size(); ++i) {
      t[i] = static_cast<float>(static_cast<double>(i) * std::log2(static_cast<double>(i)));
    }
    return t;
  }();
  return n < table.size() ? static_cast<double>(table[n]) : n * std::log2(static_cast<double>(n));
}

void DifferencePages(std::span<const std::uint64_t> integers, int order, std::uint64_t filler,
                     std::vector<std::uint64_t>* differences, std::vector<std::uint64_t>* starts) {
  const std::size_t n = integers.size();
  differences->assign(integers.begin(), integers.end());
  if (order == 0) {
    return;
  }
  for (std::size_t page = 0; page < n; page += kPageSamples) {
    const std::size_t m = std::min(kPageSamples, n - page);
    const std::uint64_t* q = integers.data() + page;
    std::uint64_t* r = differences->data() + page;
    const std::uint64_t step = m > 1 ? q[1] - q[0] : 0;
    r[0] = filler;
    if (order == 1) {
      starts->push_back(q[0] - filler);
      for (std::size_t i = 1; i < m; ++i) {
        r[i] = q[i] - q[i - 1];
      }
      continue;
    }
    const std::uint64_t delta = step - 2 * filler;  // the difference before the first
    starts->push_back(q[0] - delta - filler);
    starts->push_back(delta);
    if (m > 1) {
      r[1] = filler;
    }
    for (std::size_t i = 2; i < m; ++i) {
      r[i] = q[i] - 2 * q[i - 1] + q[i - 2];
    }
  }
}

TokenPlan PlanGraded(std::span<const std::uint64_t> integers) {
  // Order and centre by a rough cost, then the tokens for the best of them.
  TokenPlan plan;
  plan.bits = std::numeric_limits<double>::infinity();
  std::optional<StepCounts> best;
  double best_start_bits = 0;
  std::vector<std::uint64_t> differences;
  std::vector<std::uint64_t> starts;
  double previous = plan.bits;
  for (int order = 0; order <= 2; ++order) {
    starts.clear();
    const std::uint64_t filler = FillerFor(integers, order);
    DifferencePages(integers, order, filler, &differences, &starts);
    const double start_bits = kHeaderBits + StartBits(starts, order);
    double order_bits = std::numeric_limits<double>::infinity();
    const std::uint64_t median = SampleMedian(differences);
    for (const std::uint64_t centre : {median, std::uint64_t{0}}) {
      if (centre == 0 && median != 0 && order == 0) {
        continue;
      }
      StepCounts counts(differences, centre);
      const double centre_bits = start_bits + BitLength(ZigZag(static_cast<std::int64_t>(centre)));
      const double bits = counts.RoughCost() + centre_bits;
      order_bits = std::min(order_bits, bits);
      if (bits < plan.bits) {
        plan.order = order;
        plan.filler = filler;
        plan.graded.centre = centre;
        plan.bits = bits;
        best = std::move(counts);
        best_start_bits = centre_bits;
      }
      if (median == 0) {
        break;
      }
    }
    if (order_bits > previous * 1.02) {
      break;  // where one difference does not help, two will not
    }
    previous = order_bits;
  }
  plan.bits = std::numeric_limits<double>::infinity();
  best->Improve(best_start_bits, &plan);
  return plan;
}

TokenPlan PlanDictionary(std::span<const std::uint64_t> integers) {
  TokenPlan plan;
  plan.bits = -1;
  std::vector<std::uint64_t> distinct;
  if (!CollectDistinct(integers, &distinct)) {
    return plan;
  }
  std::sort(distinct.begin(), distinct.end(), SignedLess);
  plan.size = distinct.size();
  plan.dictionary = std::move(distinct);
  std::vector<std::uint32_t> counts(plan.size);
  for (const std::uint8_t token : Tokenize(plan, integers)) {
    ++counts[token];
  }
  double bits = kHeaderBits + kTableBits + kLevelBits * static_cast<double>(plan.size) +
                NLogN(static_cast<std::uint32_t>(integers.size()));
  unsigned gap_bits = 0;
  for (std::size_t i = 0; i < plan.size; ++i) {
    bits -= NLogN(counts[i]);
    gap_bits = std::max(gap_bits, i == 0 ? 0 : BitLength(plan.dictionary[i] - plan.dictionary[i - 1]));
  }
  plan.bits = bits + 24 + static_cast<double>(gap_bits * plan.size);
  return plan;
}

std::vector<std::uint8_t> Tokenize(const TokenPlan& plan, std::span<const std::uint64_t> differences) {
  std::vector<std::uint8_t> tokens(differences.size());
  if (plan.dictionary.empty()) {
    for (std::size_t i = 0; i < differences.size(); ++i) {
      tokens[i] = static_cast<std::uint8_t>(plan.graded.StepOf(differences[i]) - plan.first);
    }
    return tokens;
  }
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (i > 0 && differences[i] == differences[i - 1]) {
      tokens[i] = tokens[i - 1];
      continue;
    }
    const auto place = std::lower_bound(plan.dictionary.begin(), plan.dictionary.end(), differences[i], SignedLess);
    tokens[i] = static_cast<std::uint8_t>(place - plan.dictionary.begin());
  }
  return tokens;
}

}  // namespace tsdb::chunk
