#include "engine/head/generation.h"

#include <algorithm>

namespace tsdb::engine {

HeadSeries* Generation::Create(SeriesId id, DuplicatePolicy policy, bool judged) {
  Shard& shard = shards_[StripeOf(id)];
  const auto table_before = static_cast<std::int64_t>(shard.table.memory_bytes());
  HeadSeries* series = &shard.series.emplace_back(id, policy, judged);
  shard.table.Insert(id, series);
  AddMemory(static_cast<std::int64_t>(shard.table.memory_bytes()) - table_before +
            static_cast<std::int64_t>(sizeof(HeadSeries)));
  series_.fetch_add(1, std::memory_order_relaxed);
  return series;
}

void Generation::ApplyDelete(std::size_t stripe, const chunk::TombstonePtr& tombstone) {
  Shard& shard = shards_[stripe];
  const auto apply = [&](HeadSeries& series) {
    const HeadSeries::Freed freed = series.Delete(tombstone->range);
    AddMemory(-freed.bytes);
    samples_.fetch_sub(freed.samples, std::memory_order_relaxed);
  };
  if (tombstone->ids.Count() > shard.series.size()) {
    for (HeadSeries& series : shard.series) {
      if (!series.empty() && tombstone->ids.Contains(series.id().value)) {
        apply(series);
      }
    }
  } else {
    tombstone->ids.ForEach([&](std::uint64_t id) {
      if (StripeOf(SeriesId{id}) == stripe) {
        if (HeadSeries* series = shard.table.Find(SeriesId{id})) {
          apply(*series);
        }
      }
    });
  }
  if (shard.deletes.empty() || shard.deletes.back() != tombstone) {
    shard.deletes.push_back(tombstone);
    AddMemory(static_cast<std::int64_t>(sizeof(tombstone)));
  }
}

std::vector<chunk::TombstonePtr> Generation::SortedDeletes() const {
  std::vector<chunk::TombstonePtr> all;
  for (const Shard& shard : shards_) {
    all.insert(all.end(), shard.deletes.begin(), shard.deletes.end());
  }
  // One record may hold two deletes: the pointer tells them apart.
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a->commit == b->commit ? a.get() < b.get() : a->commit < b->commit;
  });
  const auto twice = std::ranges::unique(all);
  all.erase(twice.begin(), twice.end());
  return all;
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
