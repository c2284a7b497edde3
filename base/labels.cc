#include "tsdb/labels.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/coding.h"
#include "base/label_text.h"

namespace tsdb {

namespace {

bool NameLess(const Label& a, const Label& b) { return a.name < b.name; }

}  // namespace

Labels::Labels(std::initializer_list<Label> pairs) {
  std::size_t total = 0;
  for (const Label& pair : pairs) {
    const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), pair, NameLess);
    const bool repeated = at != pairs_.end() && at->name == pair.name;
    const std::size_t pair_bytes = pair.name.size() + pair.value.size();
    if (!pair.name.empty() && !pair.value.empty() && !repeated && total + pair_bytes <= kKeyBytesMax) {
      pairs_.insert(at, pair);
      total += pair_bytes;
    }
  }
}

Result<Labels> Labels::FromPairs(std::vector<Label> pairs) {
  // Repeats of a name with one value are legal, so sorting by name and value puts what contradicts side by side.
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].name.empty()) {
      return Status::InvalidArgument(fmt::format("a label has no name (its value is '{}')",
                                                 std::string_view(pairs[i].value).substr(0, 100)));
    }
    if (i > 0 && pairs[i].name == pairs[i - 1].name && pairs[i].value != pairs[i - 1].value) {
      return Status::InvalidArgument(fmt::format("label '{}' is given twice, with different values",
                                                 std::string_view(pairs[i].name).substr(0, 100)));
    }
  }
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::erase_if(pairs, [](const Label& pair) { return pair.value.empty(); });
  Labels labels;
  labels.pairs_ = std::move(pairs);
  if (labels.bytes() > kKeyBytesMax) {
    return Status::InvalidArgument(
        fmt::format("the labels have {} bytes; at most {} are possible", labels.bytes(), kKeyBytesMax));
  }
  return labels;
}

Result<Labels> Labels::Parse(std::string_view text) {
  auto matchers = ParseMatchers(text);
  if (!matchers.ok()) {
    return matchers.status().WithContext("labels");
  }
  std::vector<Label> pairs;
  pairs.reserve(matchers->size());
  for (Matcher& matcher : *matchers) {
    if (matcher.op != Matcher::Op::kEqual) {
      return Status::InvalidArgument(
          fmt::format("labels: label '{}' is not given one value; only name=\"value\" names a series", matcher.name));
    }
    pairs.push_back({std::move(matcher.name), std::move(matcher.values.front())});
  }
  auto labels = FromPairs(std::move(pairs));
  if (!labels.ok()) {
    return labels.status().WithContext("labels");
  }
  return labels;
}

std::string_view Labels::Get(std::string_view name) const {
  const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), name,
                                   [](const Label& pair, std::string_view wanted) { return pair.name < wanted; });
  return at != pairs_.end() && at->name == name ? std::string_view(at->value) : std::string_view();
}

std::size_t Labels::bytes() const {
  std::size_t total = 0;
  for (const Label& pair : pairs_) {
    total += pair.name.size() + pair.value.size();
  }
  return total;
}

LabelsHash Labels::Hash() const {
  // The hash of a series must be cheap: common sets are laid out on the stack, large ones on the heap.
  std::array<char, 1024> small;
  std::string large;
  char* buffer = small.data();
  const std::size_t room = bytes() + 2 * kVarintBytesMax * size();
  if (room > small.size()) {
    large.resize(room);
    buffer = large.data();
  }
  char* p = buffer;
  for (const Label& pair : pairs_) {
    for (const std::string* part : {&pair.name, &pair.value}) {
      p = EncodeVarint(p, part->size());
      p = std::copy(part->begin(), part->end(), p);
    }
  }
  const XXH128_hash_t hash = XXH3_128bits(buffer, static_cast<std::size_t>(p - buffer));
  return {hash.high64, hash.low64};
}

std::string Labels::CanonicalKey() const {
  std::string out;
  out.reserve(bytes() + 4 * size() + 2);
  const std::string_view metric = Get(kMetricLabel);
  const bool plain_metric = IsPlainMetricName(metric);
  if (plain_metric) {
    out.append(metric);
    if (size() == 1) {
      return out;
    }
  }
  out.push_back('{');
  bool first = true;
  if (!metric.empty() && !plain_metric) {
    AppendQuoted(metric, &out);
    first = false;
  }
  for (const Label& pair : pairs_) {
    if (pair.name == kMetricLabel) {
      continue;
    }
    if (!first) {
      out.push_back(',');
    }
    first = false;
    AppendLabelName(pair.name, &out);
    out.push_back('=');
    AppendQuoted(pair.value, &out);
  }
  out.push_back('}');
  return out;
}

void AppendEscapedLabelValue(std::string_view value, std::string* out) {
  for (const char c : value) {
    switch (c) {
      case '\\': out->append("\\\\"); break;
      case '"': out->append("\\\""); break;
      case '\n': out->append("\\n"); break;
      default: out->push_back(c);
    }
  }
}

}  // namespace tsdb
