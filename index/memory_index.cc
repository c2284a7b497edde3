// The plain twin of the RocksDB index: one ordered map of live definitions, two maps of identities, linear selection.
#include <algorithm>
#include <map>
#include <set>

#include "base/mutex.h"
#include "index/series_index.h"

namespace tsdb::index {

namespace {

class MemoryIndex final : public SeriesIndex {
 public:
  Result<std::vector<std::optional<SeriesDefinition>>> FindByLabels(std::span<const Labels* const> sets) override {
    MutexLock lock(mutex_);
    std::vector<std::optional<SeriesDefinition>> found;
    found.reserve(sets.size());
    for (const Labels* labels : sets) {
      const auto it = by_labels_.find(*labels);
      found.push_back(it == by_labels_.end() ? std::nullopt : Newest(it->second));
    }
    return found;
  }

  Result<std::optional<SeriesDefinition>> FindByKey(std::string_view key) override {
    MutexLock lock(mutex_);
    const auto it = by_key_.find(key);
    return it == by_key_.end() ? std::nullopt : Newest(it->second);
  }

  Result<std::vector<std::optional<SeriesDefinition>>> FindByIds(std::span<const SeriesId> ids) override {
    MutexLock lock(mutex_);
    std::vector<std::optional<SeriesDefinition>> found(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (const auto it = live_.find(ids[i]); it != live_.end()) {
        found[i] = it->second;
      }
    }
    return found;
  }

  Result<std::vector<SeriesId>> Select(const Selector& selector) override {
    TSDB_ASSIGN_OR_RETURN(const CompiledSelector compiled, CompiledSelector::Compile(selector));
    std::vector<SeriesId> ids;
    if (selector.is_key()) {
      TSDB_ASSIGN_OR_RETURN(const std::optional<SeriesDefinition> found, FindByKey(selector.key()));
      if (found.has_value()) {
        ids.push_back(found->id);
      }
      return ids;
    }
    MutexLock lock(mutex_);
    for (const auto& [id, definition] : live_) {
      if (compiled.Matches(definition)) {
        ids.push_back(id);
      }
    }
    return ids;
  }

  Result<std::vector<std::string>> LabelNames(std::string_view prefix, std::uint64_t limit) override {
    MutexLock lock(mutex_);
    std::set<std::string> names;
    for (const auto& [id, definition] : live_) {
      for (const Label& label : definition.labels.pairs()) {
        if (label.name.starts_with(prefix)) {
          names.insert(label.name);
        }
      }
    }
    return FirstOf(names, limit);
  }

  Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix,
                                               std::uint64_t limit) override {
    MutexLock lock(mutex_);
    std::set<std::string> values;
    for (const auto& [id, definition] : live_) {
      const std::string_view value = definition.labels.Get(name);
      if (!value.empty() && value.starts_with(prefix)) {
        values.emplace(value);
      }
    }
    return FirstOf(values, limit);
  }

  Result<std::uint64_t> Count() override {
    MutexLock lock(mutex_);
    return std::uint64_t{live_.size()};
  }

  void Apply(const SeriesDefinition& definition) override {
    MutexLock lock(mutex_);
    if (const auto it = live_.find(definition.id); it != live_.end()) {
      Forget(it->second);
      live_.erase(it);
    }
    if (definition.dropped) {
      return;
    }
    live_.emplace(definition.id, definition);
    by_key_[definition.ShownKey()].insert(definition.id);
    if (!definition.created_by_key) {
      by_labels_[definition.labels].insert(definition.id);
    }
  }

  void VisitChanges(const std::function<void(const SeriesDefinition&)>& visit) const override {
    MutexLock lock(mutex_);
    for (const auto& [id, definition] : live_) {
      visit(definition);
    }
  }

  Status Persist(CommitNumber commit) override {
    MutexLock lock(mutex_);
    applied_commit_ = std::max(applied_commit_, commit);
    return Status::Ok();
  }

  CommitNumber applied_commit() const override {
    MutexLock lock(mutex_);
    return applied_commit_;
  }

  std::uint64_t memory_bytes() const override {
    MutexLock lock(mutex_);
    std::uint64_t bytes = 0;
    for (const auto& [id, definition] : live_) {
      // The definition, and its key and labels once more in the identity maps.
      bytes += sizeof(SeriesDefinition) + 2 * (definition.key.size() + definition.labels.bytes()) +
               2 * definition.labels.size() * sizeof(Label);
    }
    return bytes;
  }

  Status Close() override { return Status::Ok(); }

 private:
  using IdSet = std::set<SeriesId>;

  // A key may be held by two ids for a moment, when a drop and a creation of different series arrive in either order.
  std::optional<SeriesDefinition> Newest(const IdSet& ids) const TSDB_REQUIRES(mutex_) {
    const SeriesDefinition* newest = nullptr;
    for (const SeriesId id : ids) {
      const SeriesDefinition& definition = live_.at(id);
      if (newest == nullptr || definition.commit >= newest->commit) {
        newest = &definition;
      }
    }
    return newest == nullptr ? std::nullopt : std::optional(*newest);
  }

  void Forget(const SeriesDefinition& definition) TSDB_REQUIRES(mutex_) {
    const auto key = by_key_.find(definition.ShownKey());
    key->second.erase(definition.id);
    if (key->second.empty()) {
      by_key_.erase(key);
    }
    if (!definition.created_by_key) {
      const auto labels = by_labels_.find(definition.labels);
      labels->second.erase(definition.id);
      if (labels->second.empty()) {
        by_labels_.erase(labels);
      }
    }
  }

  static std::vector<std::string> FirstOf(const std::set<std::string>& all, std::uint64_t limit) {
    std::vector<std::string> first;
    for (const std::string& text : all) {
      if (limit != 0 && first.size() == limit) {
        break;
      }
      first.push_back(text);
    }
    return first;
  }

  mutable Mutex mutex_;  // guards everything below
  std::map<SeriesId, SeriesDefinition> live_ TSDB_GUARDED_BY(mutex_);
  std::map<std::string, IdSet, std::less<>> by_key_ TSDB_GUARDED_BY(mutex_);
  std::map<Labels, IdSet> by_labels_ TSDB_GUARDED_BY(mutex_);
  CommitNumber applied_commit_ TSDB_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<SeriesIndex> NewMemoryIndex() { return std::make_unique<MemoryIndex>(); }

}  // namespace tsdb::index
