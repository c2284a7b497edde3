// Oracle: what a database must hold, kept the plain way: a list of acknowledged batches and std::maps.
//
// The oracle judges policies itself, by its own few lines, and knows for every prefix of batches what the contents are.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {

/// One sample as a test asks for it.
struct OracleOp {
  std::string key;  // shown key of its series
  Timestamp time = 0;
  double value = 0;
  DuplicatePolicy policy = DuplicatePolicy::kLast;
  bool increment = false;
};

/// What `found` has too little, too much or otherwise than `expected`, as text.
inline std::string Difference(const Contents& found, const Contents& expected) {
  std::string text;
  const auto list = [&text](const Contents& a, const Contents& b, const std::string& what) {
    for (const auto& [key, samples] : a) {
      const auto other = b.find(key);
      for (const auto& [time, bits] : samples) {
        if (other == b.end() || !other->second.contains(time) || other->second.at(time) != bits) {
          text += what + " " + key + " at " + std::to_string(time) + ": " +
                  std::to_string(std::bit_cast<double>(bits)) + "\n";
        }
      }
    }
  };
  list(expected, found, "missing");
  list(found, expected, "unexpected");
  return text;
}

class Oracle {
 public:
  /// Applies a batch the database acknowledged; returns how many samples it must have refused.
  std::size_t Apply(const std::vector<OracleOp>& ops) {
    std::size_t refused = 0;
    for (const OracleOp& op : ops) {
      const bool taken = !(refuses && refuses(op, contents_)) && ApplyOne(op, &contents_);
      refused += taken ? 0 : 1;
    }
    prefixes_.push_back(contents_);
    return refused;
  }
  /// Another acknowledged operation: counts as a batch.
  void Change(const std::function<void(Contents*)>& change) {
    change(&contents_);
    prefixes_.push_back(contents_);
  }
  /// What the last operation did goes on.
  void Amend(const std::function<void(Contents*)>& change) {
    change(&contents_);
    if (!prefixes_.empty()) {
      prefixes_.back() = contents_;
    }
  }
  /// Tells which samples are refused beside what policies refuse; may be empty.
  std::function<bool(const OracleOp&, const Contents&)> refuses;

  /// Contents if `ops` had been taken in as well.
  Contents With(const std::vector<OracleOp>& ops) const {
    Contents contents = contents_;
    for (const OracleOp& op : ops) {
      ApplyOne(op, &contents);
    }
    return contents;
  }

  const Contents& contents() const { return contents_; }
  std::size_t batches() const { return prefixes_.size(); }
  /// Position of the prefix that equals `found`, searched from the longest down to `at_least` batches.
  std::optional<std::size_t> FindPrefix(const Contents& found, std::size_t at_least) const {
    for (std::size_t n = prefixes_.size() + 1; n-- > at_least;) {
      if ((n == 0 ? Contents{} : prefixes_[n - 1]) == found) {
        return n;
      }
    }
    return std::nullopt;
  }
  /// What came back after a crash is the truth from now on.
  void Reset(const Contents& contents) {
    contents_ = contents;
    prefixes_.clear();
    prefixes_.push_back(contents);
  }
  void Forget(std::size_t keep_batches) {
    contents_ = keep_batches == 0 ? Contents{} : prefixes_[keep_batches - 1];
    prefixes_.resize(keep_batches);
  }

 private:
  static bool ApplyOne(const OracleOp& op, Contents* contents) {
    const auto value_of = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
    const auto found = contents->find(op.key);
    const bool empty = found == contents->end() || found->second.empty();
    if (op.increment) {
      double value = op.value;
      if (!empty) {
        const auto& newest = *found->second.rbegin();
        if (op.time < newest.first) {
          return false;
        }
        value += value_of(newest.second);
      } else {
        value += 0.0;
      }
      (*contents)[op.key][op.time] = std::bit_cast<std::uint64_t>(value);
      return true;
    }
    if (empty || !found->second.contains(op.time)) {
      (*contents)[op.key][op.time] = std::bit_cast<std::uint64_t>(op.value);
      return true;
    }
    std::uint64_t& bits = found->second[op.time];
    const double old = value_of(bits);
    double effect = op.value;
    switch (op.policy) {
      case DuplicatePolicy::kBlock:
        return false;
      case DuplicatePolicy::kFirst:
        effect = old;
        break;
      case DuplicatePolicy::kLast:
        break;
      case DuplicatePolicy::kMin:
        effect = std::isnan(old) ? op.value : (op.value < old ? op.value : old);
        break;
      case DuplicatePolicy::kMax:
        effect = std::isnan(old) ? op.value : (op.value > old ? op.value : old);
        break;
      case DuplicatePolicy::kSum:
        effect = old + op.value;
        break;
    }
    bits = std::bit_cast<std::uint64_t>(effect);
    return true;
  }

  Contents contents_;
  std::vector<Contents> prefixes_;  // after each batch
};

}  // namespace tsdb::engine
