// The index over RocksDB: layers of changes in memory (overlay_layer.h) over a view of what is stored (stored_view.h).
//
//   active layer   takes Apply                                        ┐ newest
//   frozen layers  being persisted, or left over from a Persist       │ a newer one hides what
//   stored view    RocksDB at applied_commit                          ┘ older ones say of an id
//
// Lock order: life_mutex_, persist_mutex_, overlay_mutex_. No I/O happens under overlay_mutex_.
#include <algorithm>

#include "base/mutex.h"
#include "index/index_merge.h"
#include "index/layer_list.h"
#include "index/overlay_layer.h"
#include "index/planner.h"
#include "index/rocks_index.h"
#include "index/rocks_store.h"
#include "index/series_index.h"
#include "index/stored_view.h"

namespace tsdb::index {
namespace {

// Failed Persists leave layers behind; so many are made one again.
constexpr std::size_t kFrozenLayersMax = 4;

// What is looked for under an identity.
struct IdentityQuery {
  Identity identity;
  const Labels* labels = nullptr;  // null: a key
  std::string_view key;

  bool Verify(const SeriesDefinition& definition) const {
    return labels != nullptr ? !definition.created_by_key && definition.labels == *labels
                             : definition.created_by_key && definition.key == key;
  }
};

void KeepNewer(SeriesDefinition candidate, std::optional<SeriesDefinition>* best) {
  if (!best->has_value() || candidate.commit >= (*best)->commit) {
    *best = std::move(candidate);
  }
}

class RocksIndex final : public SeriesIndex {
 public:
  RocksIndex(const IndexOptions& options, std::unique_ptr<RocksStore> store, std::unique_ptr<StoredView> stored)
      : store_high_(options.store_high),
        store_low_(options.store_low),
        store_(std::move(store)),
        active_(std::make_shared<OverlayLayer>()),
        stored_(std::move(stored)),
        applied_commit_(stored_->meta().applied_commit) {}

  ~RocksIndex() override { (void)Close().ok(); }

  Result<std::vector<std::optional<SeriesDefinition>>> FindByLabels(std::span<const Labels* const> sets) override {
    std::vector<IdentityQuery> queries;
    queries.reserve(sets.size());
    for (const Labels* labels : sets) {
      queries.push_back({IdentityOfLabels(*labels), labels, {}});
    }
    return Find(queries);
  }

  Result<std::optional<SeriesDefinition>> FindByKey(std::string_view key) override {
    std::vector<IdentityQuery> queries{{IdentityOfKey(key), nullptr, key}};
    // A series created by labels is filed by its labels; its shown key is exactly their canonical text.
    const Result<Labels> labels = Labels::Parse(key);
    if (labels.ok() && labels->CanonicalKey() == key) {
      queries.push_back({IdentityOfLabels(*labels), &*labels, {}});
    }
    TSDB_ASSIGN_OR_RETURN(std::vector<std::optional<SeriesDefinition>> found, Find(queries));
    std::optional<SeriesDefinition> best;
    for (std::optional<SeriesDefinition>& one : found) {
      if (one.has_value()) {
        KeepNewer(*std::move(one), &best);
      }
    }
    return best;
  }

  Result<std::vector<std::optional<SeriesDefinition>>> FindByIds(std::span<const SeriesId> ids) override {
    return ByIds<std::optional<SeriesDefinition>>(
        ids,
        [](const OverlayLayer& layer, std::uint32_t slot) {
          SeriesDefinition definition = layer.Definition(slot);
          return definition.dropped ? std::nullopt : std::optional(std::move(definition));
        },
        [](const StoredView& stored, std::span<const std::uint64_t> wanted) { return stored.Definitions(wanted); });
  }

  Result<std::vector<SeriesInfoPtr>> InfosByIds(std::span<const SeriesId> ids) override {
    return ByIds<SeriesInfoPtr>(
        ids, [](const OverlayLayer& layer, std::uint32_t slot) { return layer.Info(slot); },
        [](const StoredView& stored, std::span<const std::uint64_t> wanted) { return stored.Infos(wanted); });
  }

  Result<std::vector<SeriesId>> Select(const Selector& selector) override {
    std::vector<SeriesId> ids;
    if (selector.is_key()) {
      TSDB_ASSIGN_OR_RETURN(const std::optional<SeriesDefinition> found, FindByKey(selector.key()));
      if (found.has_value()) {
        ids.push_back(found->id);
      }
      return ids;
    }
    TSDB_ASSIGN_OR_RETURN(const std::vector<ValueMatcher> matchers, CompileMatchers(selector.matchers()));
    ReadLock life(life_mutex_);
    TSDB_RETURN_IF_ERROR(CheckOpen());
    Pin pin;
    IdSet selected;
    IdSet masked;
    {
      ReadLock lock(overlay_mutex_);
      pin = MakePin();
      TSDB_ASSIGN_OR_RETURN(selected, active_->Select(matchers));
      masked = active_->touched_ids();
    }
    for (auto layer = pin.frozen.rbegin(); layer != pin.frozen.rend(); ++layer) {
      TSDB_ASSIGN_OR_RETURN(IdSet part, (*layer)->Select(matchers));
      part -= masked;
      selected |= part;
      masked |= (*layer)->touched_ids();
    }
    if (!pin.stored->ids().empty()) {
      TSDB_ASSIGN_OR_RETURN(IdSet part, EvaluateMatchers(matchers, *pin.stored));
      part -= masked;
      selected |= part;
    }
    ids.reserve(selected.Count());
    selected.ForEach([&](std::uint64_t id) { ids.push_back(SeriesId{id}); });
    return ids;
  }

  Result<std::vector<std::string>> LabelNames(std::string_view prefix, std::uint64_t limit) override {
    return Texts(std::nullopt, prefix, limit);
  }

  Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix,
                                               std::uint64_t limit) override {
    return Texts(std::string(name), prefix, limit);
  }

  Result<std::uint64_t> Count() override {
    ReadLock life(life_mutex_);
    TSDB_RETURN_IF_ERROR(CheckOpen());
    Pin pin;
    IdSet masked;
    std::uint64_t count = 0;
    {
      ReadLock lock(overlay_mutex_);
      pin = MakePin();
      count = active_->live_ids().Count();
      masked = active_->touched_ids();
    }
    for (auto layer = pin.frozen.rbegin(); layer != pin.frozen.rend(); ++layer) {
      count += (*layer)->live_ids().Count() - (*layer)->live_ids().CountShared(masked);
      masked |= (*layer)->touched_ids();
    }
    return count + pin.stored->ids().Count() - pin.stored->ids().CountShared(masked);
  }

  void Apply(const SeriesDefinition& definition) override {
    OverlayLayer::Slot slot = OverlayLayer::MakeSlot(definition);
    WriteLock lock(overlay_mutex_);
    active_->Apply(std::move(slot), definition.labels);
  }

  void VisitChanges(const std::function<void(const SeriesDefinition&)>& visit) const override {
    ReadLock lock(overlay_mutex_);
    const auto visit_layer = [&](const OverlayLayer& layer) {
      for (std::uint32_t slot = 0; slot < layer.size(); ++slot) {
        visit(layer.Definition(slot));
      }
    };
    for (const auto& layer : frozen_) {
      visit_layer(*layer);
    }
    visit_layer(*active_);
  }

  Status Persist(CommitNumber commit) override {
    ReadLock life(life_mutex_);
    TSDB_RETURN_IF_ERROR(CheckOpen());
    MutexLock persist(persist_mutex_);
    TSDB_RETURN_IF_ERROR(PersistUpTo(commit));
    // The view before this one is no longer held. What cannot be given back for want of space stays for now.
    const Status compacted = store_->CompactIfWorthwhile();
    return compacted.code() == StatusCode::kCorruption ? compacted : Status::Ok();
  }

  CommitNumber applied_commit() const override {
    ReadLock lock(overlay_mutex_);
    return applied_commit_;
  }

  std::uint64_t memory_bytes() const override {
    ReadLock lock(overlay_mutex_);
    std::uint64_t bytes = active_->bytes();
    for (const auto& layer : frozen_) {
      bytes += layer->bytes();
    }
    return bytes;
  }

  std::uint64_t cache_bytes() const override {
    ReadLock life(life_mutex_);
    if (store_ == nullptr) {
      return 0;
    }
    ReadLock lock(overlay_mutex_);
    std::uint64_t bytes = store_->cache_bytes() + stored_->cache_bytes() + active_->cache_bytes();
    for (const auto& layer : frozen_) {
      bytes += layer->cache_bytes();
    }
    return bytes;
  }

  Status Close() override {
    WriteLock life(life_mutex_);
    if (store_ == nullptr) {
      return Status::Ok();
    }
    {
      WriteLock lock(overlay_mutex_);
      stored_.reset();  // its snapshot must not outlive the store
    }
    const Status status = store_->Close();
    store_.reset();
    return status;
  }

 private:
  Status PersistUpTo(CommitNumber commit) TSDB_REQUIRES_SHARED(life_mutex_) TSDB_REQUIRES(persist_mutex_) {
    const Pin pin = Freeze();
    IndexMeta meta;
    meta.store_high = store_high_;
    meta.store_low = store_low_;
    meta.applied_commit = std::max(commit, pin.stored->meta().applied_commit);
    if (!pin.stored->is_new() && meta.applied_commit == pin.stored->meta().applied_commit &&
        !HasCommitUpTo(pin.frozen, meta.applied_commit)) {
      return Status::Ok();
    }
    const std::unique_ptr<RocksStore::TableSet> tables = store_->NewTableSet();
    TSDB_ASSIGN_OR_RETURN(MergeResult merged, MergeLayers(*pin.stored, pin.frozen, meta, tables.get()));
    TSDB_RETURN_IF_ERROR(store_->Ingest(*tables));
    auto stored = std::make_shared<StoredView>(store_->TakeSnapshot(), merged.meta, /*is_new=*/false,
                                               std::move(merged.ids), InfosBehind(pin));
    const std::shared_ptr<const OverlayLayer> rest = Rebuild(pin.frozen, merged.meta.applied_commit);
    WriteLock lock(overlay_mutex_);
    frozen_.clear();
    if (rest != nullptr) {
      frozen_.push_back(rest);
    }
    stored_ = std::move(stored);
    applied_commit_ = merged.meta.applied_commit;
    ++epoch_;
    return Status::Ok();
  }

  // Frozen layers and the view under them at one moment.
  struct Pin {
    LayerList frozen;  // oldest first
    std::shared_ptr<const StoredView> stored;
  };

  Status CheckOpen() const TSDB_REQUIRES_SHARED(life_mutex_) {
    return store_ == nullptr ? Status::Closed("the index was closed") : Status::Ok();
  }
  Pin MakePin() const TSDB_REQUIRES_SHARED(overlay_mutex_) { return {frozen_, stored_}; }

  // What is remembered of series stays right while only new ones come.
  static InfoCachePtr InfosBehind(const Pin& pin) {
    for (const auto& layer : pin.frozen) {
      if (layer->touched_ids().CountShared(pin.stored->ids()) != 0) {
        return StoredView::NewInfos();
      }
    }
    return pin.stored->infos();
  }

  // One answer per id: of the newest layer that knows it, else of the stored view.
  template <typename Answer, typename OfLayer, typename OfView>
  Result<std::vector<Answer>> ByIds(std::span<const SeriesId> ids, OfLayer of_layer, OfView of_view) const {
    ReadLock life(life_mutex_);
    TSDB_RETURN_IF_ERROR(CheckOpen());
    std::vector<Answer> found(ids.size());
    std::vector<std::size_t> positions;
    std::vector<std::uint64_t> stored_ids;
    Pin pin;
    {
      ReadLock lock(overlay_mutex_);
      pin = MakePin();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const OverlayLayer* layer = LayerOf(ids[i].value);
        if (layer != nullptr) {
          found[i] = of_layer(*layer, *layer->FindId(ids[i].value));
        } else if (pin.stored->ids().Contains(ids[i].value)) {
          positions.push_back(i);
          stored_ids.push_back(ids[i].value);
        }
      }
    }
    TSDB_ASSIGN_OR_RETURN(auto answers, of_view(*pin.stored, stored_ids));
    for (std::size_t i = 0; i < positions.size(); ++i) {
      found[positions[i]] = std::move(answers[i]);
    }
    return found;
  }

  // The newest layer that knows something about the id; null when none does.
  const OverlayLayer* LayerOf(std::uint64_t id) const TSDB_REQUIRES_SHARED(overlay_mutex_) {
    if (active_->touched_ids().Contains(id)) {
      return active_.get();
    }
    for (auto layer = frozen_.rbegin(); layer != frozen_.rend(); ++layer) {
      if ((*layer)->touched_ids().Contains(id)) {
        return layer->get();
      }
    }
    return nullptr;
  }

  std::optional<SeriesDefinition> FindInOverlay(const IdentityQuery& query) const
      TSDB_REQUIRES_SHARED(overlay_mutex_) {
    std::optional<SeriesDefinition> best;
    for (const auto& layer : frozen_) {
      FindInLayer(*layer, query, &best);
    }
    FindInLayer(*active_, query, &best);
    return best;
  }

  void FindInLayer(const OverlayLayer& layer, const IdentityQuery& query, std::optional<SeriesDefinition>* best) const
      TSDB_REQUIRES_SHARED(overlay_mutex_) {
    for (const std::uint32_t slot : layer.SlotsOf(query.identity)) {
      SeriesDefinition definition = layer.Definition(slot);
      if (LayerOf(definition.id.value) == &layer && query.Verify(definition)) {
        KeepNewer(std::move(definition), best);
      }
    }
  }

  // One answer per query. What the overlay does not have is looked up in the stored view without the lock; what is
  // found there counts only if the overlay still says nothing about its id.
  Result<std::vector<std::optional<SeriesDefinition>>> Find(const std::vector<IdentityQuery>& queries) {
    ReadLock life(life_mutex_);
    TSDB_RETURN_IF_ERROR(CheckOpen());
    std::vector<std::optional<SeriesDefinition>> found(queries.size());
    std::vector<std::size_t> missing(queries.size());
    for (std::size_t i = 0; i < missing.size(); ++i) {
      missing[i] = i;
    }
    for (;;) {
      Pin pin;
      std::uint64_t epoch = 0;
      {
        ReadLock lock(overlay_mutex_);
        pin = MakePin();
        epoch = epoch_;
        std::size_t kept = 0;
        for (const std::size_t i : missing) {
          found[i] = FindInOverlay(queries[i]);
          if (!found[i].has_value()) {
            missing[kept++] = i;
          }
        }
        missing.resize(kept);
      }
      if (missing.empty() || pin.stored->ids().empty()) {
        return found;
      }
      TSDB_ASSIGN_OR_RETURN(const auto candidates, FindInStored(*pin.stored, queries, &missing));
      if (candidates.empty()) {
        return found;
      }
      ReadLock lock(overlay_mutex_);
      if (epoch != epoch_) {
        continue;
      }
      for (const auto& [i, definition] : candidates) {
        if (!found[i].has_value()) {
          found[i] = FindInOverlay(queries[i]);
        }
        if (LayerOf(definition.id.value) == nullptr) {
          KeepNewer(definition, &found[i]);
        }
      }
      return found;
    }
  }

  using Candidate = std::pair<std::size_t, SeriesDefinition>;

  // Verified stored series by position of their query; `missing` is left with the queries that have one.
  static Result<std::vector<Candidate>> FindInStored(const StoredView& stored,
                                                     const std::vector<IdentityQuery>& queries,
                                                     std::vector<std::size_t>* missing) {
    std::vector<Identity> identities;
    identities.reserve(missing->size());
    for (const std::size_t i : *missing) {
      identities.push_back(queries[i].identity);
    }
    TSDB_ASSIGN_OR_RETURN(const auto ids, stored.IdsOf(identities));
    std::vector<std::size_t> owners;
    std::vector<std::uint64_t> all_ids;
    for (std::size_t k = 0; k < missing->size(); ++k) {
      for (const std::uint64_t id : ids[k]) {
        owners.push_back((*missing)[k]);
        all_ids.push_back(id);
      }
    }
    TSDB_ASSIGN_OR_RETURN(std::vector<SeriesDefinition> definitions, stored.Definitions(all_ids));
    std::vector<Candidate> candidates;
    missing->clear();
    for (std::size_t k = 0; k < owners.size(); ++k) {
      if (queries[owners[k]].Verify(definitions[k])) {
        if (missing->empty() || missing->back() != owners[k]) {
          missing->push_back(owners[k]);
        }
        candidates.emplace_back(owners[k], std::move(definitions[k]));
      }
    }
    return candidates;
  }

  Result<std::vector<std::string>> Texts(const std::optional<std::string>& name, std::string_view prefix,
                                         std::uint64_t limit) {
    ReadLock life(life_mutex_);
    TSDB_RETURN_IF_ERROR(CheckOpen());
    Pin pin;
    IdSet masked;
    std::vector<std::string> texts;
    {
      ReadLock lock(overlay_mutex_);
      pin = MakePin();
      CollectTexts(*active_, name, prefix, masked, &texts);
      masked = active_->touched_ids();
    }
    for (auto layer = pin.frozen.rbegin(); layer != pin.frozen.rend(); ++layer) {
      CollectTexts(**layer, name, prefix, masked, &texts);
      masked |= (*layer)->touched_ids();
    }
    const std::string zone = name.has_value() ? ValueZone(*name) : NameZone();
    TSDB_ASSIGN_OR_RETURN(std::vector<std::string> stored, pin.stored->Texts(zone, prefix, limit, masked));
    texts.insert(texts.end(), std::make_move_iterator(stored.begin()), std::make_move_iterator(stored.end()));
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    if (limit != 0 && texts.size() > limit) {
      texts.resize(limit);
    }
    return texts;
  }

  // Starts a new active layer; what was applied so far is immutable from here on.
  Pin Freeze() TSDB_REQUIRES(persist_mutex_) {
    Pin pin;
    {
      WriteLock lock(overlay_mutex_);
      if (!active_->empty()) {
        frozen_.push_back(std::move(active_));
        active_ = std::make_shared<OverlayLayer>();
        ++epoch_;
      }
      pin = MakePin();
    }
    if (pin.frozen.size() > kFrozenLayersMax) {
      pin.frozen = {Rebuild(pin.frozen, std::nullopt)};
      WriteLock lock(overlay_mutex_);
      frozen_ = pin.frozen;
      ++epoch_;
    }
    return pin;
  }

  const std::uint64_t store_high_;
  const std::uint64_t store_low_;

  // Held shared by every call that reads the store, alone by Close.
  mutable SharedMutex life_mutex_;
  std::unique_ptr<RocksStore> store_ TSDB_GUARDED_BY(life_mutex_);  // null: closed

  Mutex persist_mutex_;  // one Persist at a time

  mutable SharedMutex overlay_mutex_;  // guards everything below
  std::shared_ptr<OverlayLayer> active_ TSDB_GUARDED_BY(overlay_mutex_);
  LayerList frozen_ TSDB_GUARDED_BY(overlay_mutex_);  // oldest first; the layers themselves are immutable
  std::shared_ptr<const StoredView> stored_ TSDB_GUARDED_BY(overlay_mutex_);
  CommitNumber applied_commit_ TSDB_GUARDED_BY(overlay_mutex_);
  std::uint64_t epoch_ TSDB_GUARDED_BY(overlay_mutex_) = 0;  // rises when layers or view are exchanged
};

}  // namespace

std::unique_ptr<SeriesIndex> MakeRocksIndex(const IndexOptions& options, std::unique_ptr<RocksStore> store,
                                            std::unique_ptr<StoredView> stored) {
  return std::make_unique<RocksIndex>(options, std::move(store), std::move(stored));
}

}  // namespace tsdb::index
