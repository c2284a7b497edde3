// Selector::Parse and Labels::Parse over any bytes: what parses reads back equal from its canonical text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tsdb/labels.h"
#include "tsdb/selector.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckSelector(std::string_view text) {
  const auto selector = tsdb::Selector::Parse(text);
  if (!selector.ok()) {
    Require(!selector.status().message().empty());
    return;
  }
  const auto again = tsdb::Selector::Parse(selector->ToString());
  Require(again.ok() && *again == *selector);
}

void CheckLabels(std::string_view text) {
  const auto labels = tsdb::Labels::Parse(text);
  if (!labels.ok()) {
    Require(!labels.status().message().empty());
    return;
  }
  Require(labels->bytes() <= tsdb::kKeyBytesMax);
  const auto again = tsdb::Labels::Parse(labels->CanonicalKey());
  Require(again.ok() && *again == *labels && again->Hash() == labels->Hash());
  // Every order and grouping of the same pairs is the same set.
  const auto rebuilt = tsdb::Labels::FromPairs({labels->pairs().rbegin(), labels->pairs().rend()});
  Require(rebuilt.ok() && *rebuilt == *labels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckSelector(text);
  CheckLabels(text);
  return 0;
}
