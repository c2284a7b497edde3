#include "engine/head/generation.h"

#include <algorithm>

namespace tsdb::engine {

HeadSeries* Generation::Create(SeriesId id, DuplicatePolicy policy) {
  Shard& shard = shards_[StripeOf(id)];
  const auto table_before = static_cast<std::int64_t>(shard.table.memory_bytes());
  HeadSeries* series = &shard.series.emplace_back(id, policy);
  shard.table.Insert(id, series);
  AddMemory(static_cast<std::int64_t>(shard.table.memory_bytes()) - table_before +
            static_cast<std::int64_t>(sizeof(HeadSeries)));
  series_.fetch_add(1, std::memory_order_relaxed);
  return series;
}

void Generation::AddDefinition(const SeriesDefinition& definition) {
  definitions.push_back(definition);
  // Once here, once in the overlay of the index; a label costs two strings in each.
  const std::size_t bytes = sizeof(SeriesDefinition) + definition.key.size() + definition.labels.bytes() +
                            definition.labels.size() * sizeof(Label);
  AddMemory(static_cast<std::int64_t>(2 * bytes));
}

std::vector<const HeadSeries*> Generation::SortedSeries() const {
  std::vector<const HeadSeries*> sorted;
  for (const Shard& shard : shards_) {
    for (const HeadSeries& series : shard.series) {
      if (!series.empty()) {
        sorted.push_back(&series);
      }
    }
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
  return sorted;
}

}  // namespace tsdb::engine
