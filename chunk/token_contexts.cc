#include <algorithm>
#include <cmath>
#include <numeric>

#include "chunk/integer_token_plan.h"

namespace tsdb::chunk {
namespace {

/// Contexts are worth it from so many bits on, and so much of the whole: tables cost time to read.
constexpr double kMapBits = 6;  // of the context map, for each group
constexpr double kGainShare = 0.004;
/// Groups of tokens that contexts are made of, and classes of tokens whose frequencies are compared.
constexpr std::size_t kGroups = 12;
constexpr std::size_t kClasses = 40;

/// What follows one group of tokens, by class.
struct Followers {
  std::array<std::uint32_t, kClasses> counts{};
  double bits = 0;  // tokens and table
};

/// Neighbouring tokens together, so that at most `groups` are left and none is much larger than need be.
std::size_t GroupByMass(std::span<const std::uint32_t> counts, std::size_t all, std::size_t groups,
                        std::array<std::uint8_t, rans::kTokensMax>* group_of) {
  std::size_t group = 0;
  std::size_t mass = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] > 0 && mass > 0 && (mass + counts[t]) * groups > all && group + 1 < groups) {
      ++group;
      mass = 0;
    }
    mass += counts[t];
    (*group_of)[t] = static_cast<std::uint8_t>(group);
  }
  return group + 1;
}

class ContextPlanner {
 public:
  ContextPlanner(std::span<const std::uint8_t> tokens, std::size_t size) : size_(size) {
    std::vector<std::uint32_t> counts(size);
    for (const std::uint8_t t : tokens) {
      ++counts[t];
    }
    groups_.resize(GroupByMass(counts, tokens.size(), kGroups, &group_of_));
    std::array<std::uint8_t, rans::kTokensMax> class_of;
    classes_ = size <= kClasses ? size : GroupByMass(counts, tokens.size(), kClasses, &class_of);
    if (size <= kClasses) {
      std::iota(class_of.begin(), class_of.begin() + static_cast<std::ptrdiff_t>(size), std::uint8_t{0});
    }
    const auto present = std::count_if(counts.begin(), counts.end(), [](std::uint32_t c) { return c > 0; });
    level_bits_ = kLevelBits * static_cast<double>(present) / static_cast<double>(classes_);
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      ++groups_[group_of_[tokens[i - 1]]].counts[class_of[tokens[i]]];
    }
    for (Followers& group : groups_) {
      for (std::size_t c = 0; c < classes_; ++c) {
        all_.counts[c] += group.counts[c];
      }
      group.bits = Bits(group, nullptr);
    }
    all_.bits = Bits(all_, nullptr);
  }

  ContextPlan Plan(std::size_t contexts_max) {
    // The pair whose union costs least becomes one, as long as that gains.
    alive_.resize(groups_.size());
    std::iota(alive_.begin(), alive_.end(), std::size_t{0});
    merged_into_ = alive_;
    loss_.assign(groups_.size(), std::vector<double>(groups_.size(), 0));
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      for (std::size_t j = i + 1; j < alive_.size(); ++j) {
        ComputeLoss(i, j);
      }
    }
    while (alive_.size() > 1 && MergeBestPair(contexts_max)) {
    }
    ContextPlan plan;
    double bits = kMapBits * static_cast<double>(groups_.size());
    for (const std::size_t g : alive_) {
      bits += groups_[g].bits;
    }
    if (alive_.size() == 1 || all_.bits - bits < kGainShare * all_.bits) {
      return plan;
    }
    plan.gain_bits = all_.bits - bits;
    plan.count = alive_.size();
    // The first token of a stream is coded in context 0: the one that is met most.
    std::iter_swap(alive_.begin(), std::max_element(alive_.begin(), alive_.end(), [this](std::size_t a, std::size_t b) {
                     return Mass(a) < Mass(b);
                   }));
    for (std::size_t t = 0; t < size_; ++t) {
      const auto place = std::find(alive_.begin(), alive_.end(), merged_into_[group_of_[t]]);
      plan.context[t] = static_cast<std::uint8_t>(place - alive_.begin());
    }
    return plan;
  }

 private:
  double Bits(const Followers& a, const Followers* b) const {
    double bits = kTableBits;
    std::uint32_t all = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      const std::uint32_t count = a.counts[c] + (b == nullptr ? 0 : b->counts[c]);
      if (count > 0) {
        bits += level_bits_ - NLogN(count);
        all += count;
      }
    }
    return bits + NLogN(all);
  }
  std::uint64_t Mass(std::size_t g) const {
    return std::accumulate(groups_[g].counts.begin(), groups_[g].counts.end(), std::uint64_t{0});
  }
  void ComputeLoss(std::size_t a, std::size_t b) {
    loss_[a][b] = loss_[b][a] = Bits(groups_[a], &groups_[b]) - groups_[a].bits - groups_[b].bits;
  }
  bool MergeBestPair(std::size_t contexts_max) {
    std::size_t a = alive_[0];
    std::size_t b = alive_[1];
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      for (std::size_t j = i + 1; j < alive_.size(); ++j) {
        if (loss_[alive_[i]][alive_[j]] < loss_[a][b]) {
          a = alive_[i];
          b = alive_[j];
        }
      }
    }
    if (loss_[a][b] > kMapBits && alive_.size() <= contexts_max) {
      return false;
    }
    for (std::size_t c = 0; c < classes_; ++c) {
      groups_[a].counts[c] += groups_[b].counts[c];
    }
    groups_[a].bits += groups_[b].bits + loss_[a][b];
    std::erase(alive_, b);
    std::replace(merged_into_.begin(), merged_into_.end(), b, a);
    for (const std::size_t g : alive_) {
      if (g != a) {
        ComputeLoss(a, g);
      }
    }
    return true;
  }

  const std::size_t size_;
  std::size_t classes_ = 0;
  double level_bits_ = 0;  // per class
  std::array<std::uint8_t, rans::kTokensMax> group_of_;
  std::vector<Followers> groups_;
  Followers all_;
  std::vector<std::size_t> alive_;
  std::vector<std::size_t> merged_into_;
  std::vector<std::vector<double>> loss_;  // of a union
};

}  // namespace

ContextPlan PlanContexts(std::span<const std::uint8_t> tokens, std::size_t size, std::size_t contexts_max) {
  return ContextPlanner(tokens, size).Plan(contexts_max);
}

}  // namespace tsdb::chunk
