#include "index/info_cache.h"

#include <string>

namespace tsdb::index {

namespace {

/// About what an info takes.
std::uint64_t BytesOf(const SeriesInfo& info) {
  constexpr std::size_t kShort = 15;  // a string keeps what is short in itself
  const auto heap = [](const std::string& text) { return text.size() > kShort ? text.size() + 17 : 0; };
  std::uint64_t bytes = sizeof info + heap(info.key) + info.labels.size() * sizeof(Label);
  for (const Label& label : info.labels.pairs()) {
    bytes += heap(label.name) + heap(label.value);
  }
  return bytes;
}

}  // namespace

SeriesInfoPtr InfoCache::Insert(std::uint64_t number, const SeriesDefinition& definition) {
  const auto info = std::make_shared<const SeriesInfo>(definition.ToInfo());
  infos_.Insert(number, info, BytesOf(*info));
  return info;
}

}  // namespace tsdb::index
