// OverlayLayer: changes of definitions held in memory until they are persisted, findable by id, identity and labels.
//
//   Apply ──► slots: [0] [1] [2] ...   one per change, appended, never removed; `superseded` when a later slot of this
//               │                      layer is of the same id
//               ├─ by id        table: id → newest slot
//               ├─ by identity  table: hash → slots
//               └─ postings     name → slots that have it; name, value → slots that have it (ascending)
//
// Posting lists hold slot numbers, not ids: they only grow at their end, and a change of a definition touches no old
// list. Dropped and superseded slots are filtered at the end (`dead`).
//
// Thread safety: none for Apply; once no more is applied, everything may be read from many threads.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id_set.h"
#include "base/series_definition.h"
#include "index/index_keys.h"
#include "index/info_cache.h"
#include "index/posting_source.h"
#include "index/slot_table.h"

namespace tsdb::index {

/// Ascending slot numbers; the first costs no allocation, since most values of most labels are of few series.
class SlotList {
 public:
  void Append(std::uint32_t slot) {
    if (empty_) {
      first_ = slot;
      empty_ = false;
      return;
    }
    if (rest_ == nullptr) {
      rest_ = std::make_unique<std::vector<std::uint32_t>>();
    }
    rest_->push_back(slot);
  }
  std::size_t size() const { return empty_ ? 0 : 1 + (rest_ == nullptr ? 0 : rest_->size()); }
  std::uint32_t operator[](std::size_t i) const { return i == 0 ? first_ : (*rest_)[i - 1]; }
  void AddTo(IdSet* slots) const;

 private:
  std::unique_ptr<std::vector<std::uint32_t>> rest_;
  std::uint32_t first_ = 0;
  bool empty_ = true;
};

/// Label name → value → slots.
class LabelPostings {
 public:
  struct TextHash {
    std::size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
  };
  struct Name {
    SlotList present;
    std::unordered_map<std::string_view, SlotList, TextHash> values;  // keys live in texts_
  };

  void Add(const Labels& labels, std::uint32_t slot);
  const Name* Find(std::string_view name) const;
  const SlotList* Find(std::string_view name, std::string_view value) const;
  const std::unordered_map<std::string_view, Name, TextHash>& names() const { return names_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string_view Keep(std::string_view text);

  std::unordered_map<std::string_view, Name, TextHash> names_;  // keys live in texts_
  std::deque<std::string> texts_;
  std::uint64_t bytes_ = 0;
};

class OverlayLayer final : public PostingSource {
 public:
  struct Slot {
    std::uint64_t id = 0;
    CommitNumber commit;
    Identity identity;
    std::string encoded;  // EncodeDefinition; empty when dropped
    bool dropped = false;
    bool superseded = false;
  };

  /// What Apply stores of a definition; needs no layer, so that it can be made outside a lock.
  static Slot MakeSlot(const SeriesDefinition& definition);
  /// `labels` are those of the definition the slot was made of.
  void Apply(Slot slot, const Labels& labels);

  bool empty() const { return slots_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  const Slot& slot(std::uint32_t number) const { return slots_[number]; }
  /// The definition a slot holds, dropped ones included.
  SeriesDefinition Definition(std::uint32_t number) const;
  /// What queries show of it, null when it is dropped; remembered. May be called from many threads.
  SeriesInfoPtr Info(std::uint32_t number) const;

  /// Newest slot of an id.
  std::optional<std::uint32_t> FindId(std::uint64_t id) const;
  /// Live slots with this identity hash.
  std::vector<std::uint32_t> SlotsOf(const Identity& identity) const;
  /// Ids this layer knows something about: older layers and the stored index are not asked about these.
  const IdSet& touched_ids() const { return touched_ids_; }
  /// Of those, the ones that are not dropped.
  const IdSet& live_ids() const { return live_ids_; }
  const LabelPostings& postings() const { return postings_; }
  bool IsDead(std::uint32_t number) const { return slots_[number].dropped || slots_[number].superseded; }
  std::uint64_t bytes() const;
  std::uint64_t cache_bytes() const { return infos_.bytes(); }

  /// Ids of the series in this layer that match.
  Result<IdSet> Select(const std::vector<ValueMatcher>& matchers) const;
  /// True when a live series whose id is not in `masked` is in the list.
  bool HasLive(const SlotList& list, const IdSet& masked) const;

  // PostingSource, in slot numbers; dead ones may come out of all but All and Filter.
  Status All(IdSet* out) const override;
  Status WithName(std::string_view name, IdSet* out) const override;
  Status WithValue(std::string_view name, std::string_view value, IdSet* out) const override;
  Status ScanValues(std::string_view name, const ValueRange& range, const JudgeValue& judge,
                    IdSet* out) const override;
  Status Filter(const std::vector<const ValueMatcher*>& matchers, IdSet* candidates) const override;

 private:
  static constexpr std::uint64_t kInfoBytesMax = 4 << 20;

  void Supersede(std::uint32_t number);

  std::deque<Slot> slots_;
  SlotTable by_id_;
  SlotTable by_identity_;
  LabelPostings postings_;
  IdSet dead_;  // slots
  IdSet touched_ids_;
  IdSet live_ids_;
  std::uint64_t slot_bytes_ = 0;
  mutable InfoCache infos_{kInfoBytesMax};  // by slot
};

}  // namespace tsdb::index
