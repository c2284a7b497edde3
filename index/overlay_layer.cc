#include "index/overlay_layer.h"

#include <algorithm>
#include <cassert>

#include "index/planner.h"

namespace tsdb::index {

namespace {

// What a node of an unordered_map costs beside its value: next pointer, cached hash, bucket, allocator header.
constexpr std::uint64_t kNodeBytes = 40;

std::uint64_t HashOfId(std::uint64_t id) {
  // Multiplication by 2^64 / golden ratio spreads neighbouring ids; the table takes the low half.
  return (id * 0x9E3779B97F4A7C15ull) >> 32;
}

}  // namespace

void SlotList::AddTo(IdSet* slots) const {
  if (!empty_) {
    slots->Add(first_);
    if (rest_ != nullptr) {
      slots->AddMany(*rest_);
    }
  }
}

std::string_view LabelPostings::Keep(std::string_view text) {
  texts_.emplace_back(text);
  bytes_ += sizeof(std::string) + (text.size() > 15 ? text.size() : 0);
  return texts_.back();
}

void LabelPostings::Add(const Labels& labels, std::uint32_t slot) {
  for (const Label& label : labels.pairs()) {
    auto name = names_.find(label.name);
    if (name == names_.end()) {
      name = names_.emplace(Keep(label.name), Name()).first;
      bytes_ += kNodeBytes + sizeof(Name);
    }
    name->second.present.Append(slot);
    auto& values = name->second.values;
    auto value = values.find(label.value);
    if (value == values.end()) {
      value = values.emplace(Keep(label.value), SlotList()).first;
      bytes_ += kNodeBytes + sizeof(SlotList);
    }
    value->second.Append(slot);
    bytes_ += 2 * sizeof(slot);
  }
}

const LabelPostings::Name* LabelPostings::Find(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : &it->second;
}

const SlotList* LabelPostings::Find(std::string_view name, std::string_view value) const {
  const Name* postings = Find(name);
  if (postings == nullptr) {
    return nullptr;
  }
  const auto it = postings->values.find(value);
  return it == postings->values.end() ? nullptr : &it->second;
}

void OverlayLayer::Supersede(std::uint32_t number) {
  slots_[number].superseded = true;
  dead_.Add(number);
}

OverlayLayer::Slot OverlayLayer::MakeSlot(const SeriesDefinition& definition) {
  Slot slot;
  slot.id = definition.id.value;
  slot.commit = definition.commit;
  slot.dropped = definition.dropped;
  if (!definition.dropped) {
    EncodeDefinition(definition, &slot.encoded);
    slot.encoded.shrink_to_fit();
    slot.identity =
        definition.created_by_key ? IdentityOfKey(definition.key) : IdentityOfLabels(definition.labels);
  }
  return slot;
}

void OverlayLayer::Apply(Slot slot, const Labels& labels) {
  const std::uint32_t number = size();
  const std::uint64_t id = slot.id;
  const bool known = by_id_.Replace(HashOfId(id), number, [&](std::uint32_t old) {
    if (slots_[old].id != id) {
      return false;
    }
    Supersede(old);
    return true;
  });
  if (!known) {
    by_id_.Insert(HashOfId(id), number);
    touched_ids_.Add(id);
  }
  if (slot.dropped) {
    dead_.Add(number);
    live_ids_.Remove(id);
  } else {
    by_identity_.Insert(slot.identity.hash.low, number);
    postings_.Add(labels, number);
    live_ids_.Add(id);
  }
  slot_bytes_ += sizeof(Slot) + slot.encoded.size();
  slots_.push_back(std::move(slot));
}

SeriesDefinition OverlayLayer::Definition(std::uint32_t number) const {
  const Slot& slot = slots_[number];
  SeriesDefinition definition;
  if (slot.dropped) {
    definition.dropped = true;
  } else {
    ByteReader reader(slot.encoded);
    [[maybe_unused]] const bool decoded = DecodeDefinition(&reader, &definition);
    assert(decoded);  // Apply wrote these bytes
  }
  definition.id = SeriesId{slot.id};
  definition.commit = slot.commit;
  return definition;
}

std::optional<std::uint32_t> OverlayLayer::FindId(std::uint64_t id) const {
  std::optional<std::uint32_t> found;
  by_id_.Find(HashOfId(id), [&](std::uint32_t number) {
    if (slots_[number].id == id) {
      found = number;
    }
    return found.has_value();
  });
  return found;
}

std::vector<std::uint32_t> OverlayLayer::SlotsOf(const Identity& identity) const {
  std::vector<std::uint32_t> found;
  by_identity_.Find(identity.hash.low, [&](std::uint32_t number) {
    if (!IsDead(number) && slots_[number].identity == identity) {
      found.push_back(number);
    }
    return false;
  });
  return found;
}

SeriesInfoPtr OverlayLayer::Info(std::uint32_t number) const {
  if (slots_[number].dropped) {
    return nullptr;
  }
  const SeriesInfoPtr info = infos_.Find(number);
  return info != nullptr ? info : infos_.Insert(number, Definition(number));
}

std::uint64_t OverlayLayer::bytes() const {
  // A change takes about four bytes in each of the sets of ids and slots.
  return slot_bytes_ + by_id_.bytes() + by_identity_.bytes() + postings_.bytes() + 12 * slots_.size();
}

Result<IdSet> OverlayLayer::Select(const std::vector<ValueMatcher>& matchers) const {
  TSDB_ASSIGN_OR_RETURN(IdSet slots, EvaluateMatchers(matchers, *this));
  slots -= dead_;
  IdSet ids;
  slots.ForEach([&](std::uint64_t number) { ids.Add(slots_[number].id); });
  return ids;
}

bool OverlayLayer::HasLive(const SlotList& list, const IdSet& masked) const {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!IsDead(list[i]) && !masked.Contains(slots_[list[i]].id)) {
      return true;
    }
  }
  return false;
}

Status OverlayLayer::All(IdSet* out) const {
  if (!empty()) {
    out->AddRange(0, slots_.size() - 1);
    *out -= dead_;
  }
  return Status::Ok();
}

Status OverlayLayer::WithName(std::string_view name, IdSet* out) const {
  if (const LabelPostings::Name* postings = postings_.Find(name)) {
    postings->present.AddTo(out);
  }
  return Status::Ok();
}

Status OverlayLayer::WithValue(std::string_view name, std::string_view value, IdSet* out) const {
  if (const SlotList* list = postings_.Find(name, value)) {
    list->AddTo(out);
  }
  return Status::Ok();
}

Status OverlayLayer::ScanValues(std::string_view name, const ValueRange& range, const JudgeValue& judge,
                                IdSet* out) const {
  const LabelPostings::Name* postings = postings_.Find(name);
  if (postings == nullptr) {
    return Status::Ok();
  }
  for (const auto& [value, list] : postings->values) {
    if (!range.Contains(value)) {
      continue;
    }
    const ValueVerdict verdict = judge(value);
    if (verdict == ValueVerdict::kStop) {
      break;
    }
    if (verdict == ValueVerdict::kTake) {
      list.AddTo(out);
    }
  }
  return Status::Ok();
}

Status OverlayLayer::Filter(const std::vector<const ValueMatcher*>& matchers, IdSet* candidates) const {
  IdSet matching;
  candidates->ForEach([&](std::uint64_t number) {
    if (IsDead(static_cast<std::uint32_t>(number))) {
      return;
    }
    const SeriesDefinition definition = Definition(static_cast<std::uint32_t>(number));
    if (std::all_of(matchers.begin(), matchers.end(), [&](const ValueMatcher* matcher) {
          return matcher->Accepts(definition.labels.Get(matcher->name()));
        })) {
      matching.Add(number);
    }
  });
  *candidates = std::move(matching);
  return Status::Ok();
}

}  // namespace tsdb::index
