#include "index/index_merge.h"

#include <algorithm>
#include <tuple>

#include "index/index_keys.h"
#include "index/posting_writer.h"

namespace tsdb::index {

namespace {

// The newest change of one series among those that are merged.
struct Change {
  std::uint64_t id = 0;
  std::uint32_t layer = 0;
  std::uint32_t slot = 0;
};

struct IdentityChange {
  Identity identity;
  std::uint64_t id = 0;
  bool added = false;
};

// One posting list of one source, under the text it belongs to.
struct ListOfText {
  std::string_view text;
  std::size_t source = 0;
  const SlotList* slots = nullptr;
};

class Merge {
 public:
  Merge(const StoredView& stored, const LayerList& layers, const IndexMeta& meta, RocksStore::TableSet* tables)
      : stored_(stored), layers_(layers), tables_(tables), postings_(stored, tables), result_{meta, stored.ids()} {}

  Result<MergeResult> Run() {
    CollectChanges();
    TSDB_RETURN_IF_ERROR(ReadStored());
    // In the order of the keys: A, D, I, M, N, V.
    TSDB_RETURN_IF_ERROR(WriteAll());
    TSDB_RETURN_IF_ERROR(WriteDefinitions());
    TSDB_RETURN_IF_ERROR(WriteIdentities());
    result_.meta.series = result_.ids.Count();
    TSDB_RETURN_IF_ERROR(tables_->Put(MetaKey(), EncodeMeta(result_.meta)));
    TSDB_RETURN_IF_ERROR(WritePostings());
    result_.ids.Optimize();
    return std::move(result_);
  }

 private:
  const OverlayLayer::Slot& SlotOf(const Change& change) const { return layers_[change.layer]->slot(change.slot); }

  void CollectChanges() {
    for (std::uint32_t layer = 0; layer < layers_.size(); ++layer) {
      for (std::uint32_t slot = 0; slot < layers_[layer]->size(); ++slot) {
        if (layers_[layer]->slot(slot).commit <= result_.meta.applied_commit) {
          changes_.push_back({layers_[layer]->slot(slot).id, layer, slot});
        }
      }
    }
    std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.id < b.id; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (i + 1 == changes_.size() || changes_[i + 1].id != changes_[i].id) {
        changes_[kept++] = changes_[i];
      }
    }
    changes_.resize(kept);
    chosen_.resize(layers_.size());
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      chosen_[layer].resize(layers_[layer]->size());
    }
    for (const Change& change : changes_) {
      chosen_[change.layer][change.slot] = !SlotOf(change).dropped;
    }
  }

  // What goes of the stored series that change: labels into removed_, identities into identities_.
  Status ReadStored() {
    constexpr std::size_t kBatch = 1024;
    std::vector<const Change*> batch;
    const auto read = [&]() -> Status {
      std::vector<std::uint64_t> ids;
      for (const Change* change : batch) {
        ids.push_back(change->id);
      }
      TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesDefinition> definitions, stored_.Definitions(ids));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const SeriesDefinition& old = definitions[i];
        removed_.Add(old.labels, static_cast<std::uint32_t>(removed_ids_.size()));
        removed_ids_.push_back(old.id.value);
        const Identity identity = old.created_by_key ? IdentityOfKey(old.key) : IdentityOfLabels(old.labels);
        const OverlayLayer::Slot& slot = SlotOf(*batch[i]);
        if (slot.dropped || slot.identity != identity) {
          identities_.push_back({identity, old.id.value, false});
        }
      }
      batch.clear();
      return Status::Ok();
    };
    for (const Change& change : changes_) {
      if (stored_.ids().Contains(change.id)) {
        batch.push_back(&change);
        if (batch.size() == kBatch) {
          TSDB_RETURN_IF_ERROR(read());
        }
      }
      if (!SlotOf(change).dropped) {
        identities_.push_back({SlotOf(change).identity, change.id, true});
      }
    }
    return read();
  }

  Status WriteAll() {
    std::vector<std::uint64_t> added;
    std::vector<std::uint64_t> removed;
    for (const Change& change : changes_) {
      const bool was_stored = stored_.ids().Contains(change.id);
      if (SlotOf(change).dropped) {
        if (was_stored) {
          removed.push_back(change.id);
          result_.ids.Remove(change.id);
        }
      } else if (!was_stored) {
        added.push_back(change.id);
        result_.ids.Add(change.id);
      }
    }
    TSDB_RETURN_IF_ERROR(postings_.Change(std::string(1, static_cast<char>(KeyKind::kAll)), &added, &removed));
    return postings_.Flush();
  }

  Status WriteDefinitions() {
    for (const Change& change : changes_) {
      const OverlayLayer::Slot& slot = SlotOf(change);
      if (!slot.dropped) {
        TSDB_RETURN_IF_ERROR(
            tables_->Put(DefinitionKey(change.id), EncodeStoredDefinition(slot.commit, slot.encoded)));
      } else if (stored_.ids().Contains(change.id)) {
        TSDB_RETURN_IF_ERROR(tables_->Delete(DefinitionKey(change.id)));
      }
    }
    return Status::Ok();
  }

  Status WriteIdentities() {
    std::sort(identities_.begin(), identities_.end(), [](const IdentityChange& a, const IdentityChange& b) {
      return std::tie(a.identity, a.id) < std::tie(b.identity, b.id);
    });
    constexpr std::size_t kBatch = 1024;
    for (std::size_t begin = 0; begin < identities_.size();) {
      // A batch ends between two identities.
      std::vector<Identity> batch;
      std::size_t end = begin;
      while (end < identities_.size()) {
        if (batch.empty() || batch.back() != identities_[end].identity) {
          if (batch.size() == kBatch) {
            break;
          }
          batch.push_back(identities_[end].identity);
        }
        ++end;
      }
      TSDB_ASSIGN_OR_RETURN(const std::vector<std::vector<std::uint64_t>> stored, stored_.IdsOf(batch));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        std::vector<std::uint64_t> ids = stored[i];
        for (; begin < end && identities_[begin].identity == batch[i]; ++begin) {
          std::erase(ids, identities_[begin].id);
          if (identities_[begin].added) {
            ids.push_back(identities_[begin].id);
          }
        }
        TSDB_RETURN_IF_ERROR(WriteIdentity(batch[i], stored[i], std::move(ids)));
      }
    }
    return Status::Ok();
  }

  Status WriteIdentity(const Identity& identity, const std::vector<std::uint64_t>& stored,
                       std::vector<std::uint64_t> ids) {
    std::sort(ids.begin(), ids.end());
    if (ids == stored) {
      return Status::Ok();
    }
    return ids.empty() ? tables_->Delete(IdentityKey(identity))
                       : tables_->Put(IdentityKey(identity), EncodeIdentityIds(ids));
  }

  // Sources of posting lists: the layers, and behind them what is removed.
  const LabelPostings& Source(std::size_t source) const {
    return source < layers_.size() ? layers_[source]->postings() : removed_;
  }

  Status WritePostings() {
    std::vector<ListOfText> names;
    for (std::size_t source = 0; source <= layers_.size(); ++source) {
      for (const auto& [name, lists] : Source(source).names()) {
        names.push_back({name, source, &lists.present});
      }
    }
    TSDB_RETURN_IF_ERROR(WriteZone(NameZone(), &names));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i != 0 && names[i].text == names[i - 1].text) {
        continue;
      }
      std::vector<ListOfText> values;
      for (std::size_t source = 0; source <= layers_.size(); ++source) {
        if (const LabelPostings::Name* name = Source(source).Find(names[i].text)) {
          for (const auto& [value, slots] : name->values) {
            values.push_back({value, source, &slots});
          }
        }
      }
      TSDB_RETURN_IF_ERROR(WriteZone(ValueZone(names[i].text), &values));
    }
    return Status::Ok();
  }

  // Sorts the lists and writes the changes of each text.
  Status WriteZone(const std::string& zone, std::vector<ListOfText>* lists) {
    std::sort(lists->begin(), lists->end(), [](const ListOfText& a, const ListOfText& b) {
      return std::tie(a.text, a.source) < std::tie(b.text, b.source);
    });
    std::vector<std::uint64_t> added;
    std::vector<std::uint64_t> removed;
    for (std::size_t i = 0; i < lists->size();) {
      const std::string_view text = (*lists)[i].text;
      added.clear();
      removed.clear();
      for (; i < lists->size() && (*lists)[i].text == text; ++i) {
        Collect((*lists)[i], &added, &removed);
      }
      if (!added.empty() || !removed.empty()) {
        TSDB_RETURN_IF_ERROR(postings_.Change(PostingKey(zone, text), &added, &removed));
      }
    }
    return postings_.Flush();
  }

  void Collect(const ListOfText& list, std::vector<std::uint64_t>* added, std::vector<std::uint64_t>* removed) const {
    for (std::size_t i = 0; i < list.slots->size(); ++i) {
      const std::uint32_t slot = (*list.slots)[i];
      if (list.source == layers_.size()) {
        removed->push_back(removed_ids_[slot]);
      } else if (chosen_[list.source][slot]) {
        added->push_back(layers_[list.source]->slot(slot).id);
      }
    }
  }

  const StoredView& stored_;
  const LayerList& layers_;
  RocksStore::TableSet* const tables_;
  PostingWriter postings_;
  MergeResult result_;

  std::vector<Change> changes_;             // ascending ids, one each
  std::vector<std::vector<bool>> chosen_;   // by layer and slot: a change that is merged and not a drop
  std::vector<std::uint64_t> removed_ids_;  // stored series that change
  LabelPostings removed_;                   // their labels, by position in removed_ids_
  std::vector<IdentityChange> identities_;
};

}  // namespace

Result<MergeResult> MergeLayers(const StoredView& stored, const LayerList& layers, IndexMeta meta,
                                RocksStore::TableSet* tables) {
  return Merge(stored, layers, meta, tables).Run();
}

}  // namespace tsdb::index
