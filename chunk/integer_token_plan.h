// Plans for integer tokens: which order, which tokens and which contexts make a sequence smallest.
//
// Thread safety: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "chunk/rans.h"
#include "chunk/token_model.h"

namespace tsdb::chunk {

/// What a table of frequencies costs: in all, and for each token that occurs (a little more than it takes, for it also
/// takes time to read).
inline constexpr double kTableBits = 14;
inline constexpr double kLevelBits = 3.3;
/// n · log2(n).
double NLogN(std::uint32_t n);

struct TokenPlan {
  int order = 0;
  std::uint64_t filler = 0;  // for DifferencePages
  GradedTokens graded;
  int first = 0;         // step of token 0
  std::size_t size = 0;  // tokens
  std::vector<std::uint64_t> dictionary;  // ascending as signed integers; empty: graded
  double bits = 0;       // estimate, without contexts
};

/// Replaces integers by their differences in pages of kPageSamples, appending the start values of each page to `starts`
/// (none, one or two by order); what the first ones of a page come to is `filler`.
void DifferencePages(std::span<const std::uint64_t> integers, int order, std::uint64_t filler,
                     std::vector<std::uint64_t>* differences, std::vector<std::uint64_t>* starts);

/// The cheapest plan with graded tokens, and the one with a dictionary (bits < 0 when there are more than 256
/// integers).
TokenPlan PlanGraded(std::span<const std::uint64_t> integers);
TokenPlan PlanDictionary(std::span<const std::uint64_t> integers);

/// The tokens of the planned differences.
std::vector<std::uint8_t> Tokenize(const TokenPlan& plan, std::span<const std::uint64_t> differences);

/// Which context follows each token, by how much alike what follows is.
struct ContextPlan {
  std::size_t count = 1;
  std::array<std::uint8_t, rans::kTokensMax> context{};
  double gain_bits = 0;  // estimate of what the contexts save
};
ContextPlan PlanContexts(std::span<const std::uint8_t> tokens, std::size_t size, std::size_t contexts_max);

}  // namespace tsdb::chunk
