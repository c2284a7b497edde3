#include "wal/record.h"

#include <cstring>

#include "base/coding.h"
#include "wal/put_codec.h"

namespace tsdb::wal {
namespace {

// docs/format/wal.md
constexpr std::uint8_t kScopeDatabase = 2;
constexpr std::uint64_t kSettingRetention = 3;
constexpr std::uint64_t kSettingBytesMax = 4;
constexpr std::uint64_t kSettingClasses = 6;

/// Bytes of the varint of a number up to `max`.
std::size_t VarintBytes(std::uint64_t max) {
  std::size_t n = 1;
  for (; max >= 128; max >>= 7) {
    ++n;
  }
  return n;
}

/// Writes `v` as a varint of exactly `n` bytes, padded with continuation bytes that add nothing.
void StorePaddedVarint(char* p, std::size_t n, std::uint64_t v) {
  for (std::size_t i = 0; i + 1 < n; ++i, v >>= 7) {
    p[i] = static_cast<char>(v | 128);
  }
  p[n - 1] = static_cast<char>(v);
}

Status Damaged(CommitNumber commit, std::size_t offset, std::string_view what) {
  return Status::Corruption("commit " + std::to_string(commit.value) + ", operation at byte " + std::to_string(offset) +
                            " of the record: " + std::string(what));
}

Status VisitPuts(std::string_view body, CommitNumber commit, std::size_t offset, RecordVisitor& visitor) {
  ByteReader reader(body);
  std::uint64_t count = 0;
  if (!reader.ReadVarint(&count)) {
    return Damaged(commit, offset, "count of puts cut off");
  }
  bool damaged = false;
  Status status = DecodePuts(body.substr(reader.offset()), count, visitor, &damaged);
  return damaged ? Damaged(commit, offset, "puts are damaged") : status;
}

Status VisitDefinition(std::string_view body, CommitNumber commit, std::size_t offset, RecordVisitor& visitor) {
  ByteReader reader(body);
  SeriesDefinition definition;
  if (!DecodeDefinition(&reader, &definition) || !reader.empty()) {
    return Damaged(commit, offset, "series definition is damaged");
  }
  definition.commit = commit;
  return visitor.OnDefinition(definition);
}

bool DecodeDelete(ByteReader* reader, DeleteOperation* operation) {
  return reader->ReadVarintSigned(&operation->range.from) && reader->ReadVarintSigned(&operation->range.to) &&
         DecodeIds(reader, &operation->ids) && !operation->ids.empty();
}

bool DecodeDrop(ByteReader* reader, DropOperation* operation) {
  std::uint8_t reason = 0;
  if (!reader->ReadVarintSigned(&operation->until_wall_nanos) || !reader->ReadFixed(&reason) ||
      reason > static_cast<std::uint8_t>(DropReason::kEmpty)) {
    return false;
  }
  operation->reason = static_cast<DropReason>(reason);
  return DecodeIds(reader, &operation->ids) && !operation->ids.empty();
}

bool DecodeFloor(ByteReader* reader, FloorOperation* operation) {
  std::uint8_t scope = 0;
  std::uint64_t id = 0;
  return reader->ReadFixed(&scope) && scope == kScopeDatabase && reader->ReadVarint(&id) && id == 0 &&
         reader->ReadVarintSigned(&operation->floor);
}

bool DecodeClasses(std::string_view bytes, std::vector<RetentionClass>* classes) {
  ByteReader reader(bytes);
  while (!reader.empty()) {
    std::string_view selector;
    RetentionClass one;
    if (!reader.ReadLengthPrefixed(&selector) || !reader.ReadVarintSigned(&one.age)) {
      return false;
    }
    one.selector.assign(selector);
    classes->push_back(std::move(one));
  }
  return reader.ok();
}

bool DecodeSettings(ByteReader* reader, SettingsOperation* operation) {
  std::uint64_t count = 0;
  if (!reader->ReadVarint(&count)) {
    return false;
  }
  for (; count > 0; --count) {
    std::uint64_t number = 0;
    std::string_view bytes;
    if (!reader->ReadVarint(&number) || !reader->ReadLengthPrefixed(&bytes)) {
      return false;
    }
    ByteReader value(bytes);
    bool known = false;
    if (number == kSettingRetention) {
      known = value.ReadVarintSigned(&operation->retention.emplace()) && value.empty();
    } else if (number == kSettingBytesMax) {
      known = value.ReadVarint(&operation->bytes_max.emplace()) && value.empty();
    } else if (number == kSettingClasses) {
      known = DecodeClasses(bytes, &operation->classes.emplace());
    }
    if (!known) {
      return false;
    }
  }
  return true;
}

/// Decodes one body and hands it to `take`.
template <typename Operation, typename Take>
Status VisitBody(std::string_view body, CommitNumber commit, std::size_t offset, std::string_view what,
                 bool (*decode)(ByteReader*, Operation*), const Take& take) {
  ByteReader reader(body);
  Operation operation;
  if (!decode(&reader, &operation) || !reader.empty()) {
    return Damaged(commit, offset, std::string(what) + " is damaged");
  }
  return take(operation);
}

}  // namespace

std::string_view OpKindName(OpKind kind) {
  switch (kind) {
    case OpKind::kPut: return "put";
    case OpKind::kDefine: return "define";
    case OpKind::kAlter: return "alter";
    case OpKind::kRename: return "rename";
    case OpKind::kDrop: return "drop";
    case OpKind::kUndrop: return "undrop";
    case OpKind::kDelete: return "delete";
    case OpKind::kFloor: return "floor";
    case OpKind::kRuleSet: return "rule-set";
    case OpKind::kRuleRemove: return "rule-remove";
    case OpKind::kRollupSet: return "rollup-set";
    case OpKind::kRollupRemove: return "rollup-remove";
    case OpKind::kSettings: return "settings";
    case OpKind::kClockAccepted: return "clock-accepted";
  }
  return "unknown";
}

void RecordBuilder::Add(OpKind kind, std::string_view body) {
  bytes_.push_back(static_cast<char>(kind));
  PutLengthPrefixed(&bytes_, body);
}

void RecordBuilder::AddDefinition(const SeriesDefinition& definition) {
  std::string body;
  EncodeDefinition(definition, &body);
  Add(OpKind::kDefine, body);
}

void RecordBuilder::AddDelete(TimeRange range, const IdSet& ids) {
  std::string body;
  PutVarintSigned(&body, range.from);
  PutVarintSigned(&body, range.to);
  EncodeIds(ids, &body);
  Add(OpKind::kDelete, body);
}

void RecordBuilder::AddDrop(const DropOperation& drop) {
  std::string body;
  PutVarintSigned(&body, drop.until_wall_nanos);
  body.push_back(static_cast<char>(drop.reason));
  EncodeIds(drop.ids, &body);
  Add(OpKind::kDrop, body);
}

void RecordBuilder::AddFloor(const FloorOperation& floor) {
  std::string body(1, static_cast<char>(kScopeDatabase));
  PutVarint(&body, 0);
  PutVarintSigned(&body, floor.floor);
  Add(OpKind::kFloor, body);
}

void RecordBuilder::AddSettings(const SettingsOperation& settings) {
  std::string body;
  std::uint64_t count = 0;
  const auto add = [&](std::uint64_t number, std::string_view value) {
    ++count;
    PutVarint(&body, number);
    PutLengthPrefixed(&body, value);
  };
  if (settings.retention) {
    std::string value;
    PutVarintSigned(&value, *settings.retention);
    add(kSettingRetention, value);
  }
  if (settings.bytes_max) {
    std::string value;
    PutVarint(&value, *settings.bytes_max);
    add(kSettingBytesMax, value);
  }
  if (settings.classes) {
    std::string value;
    for (const RetentionClass& one : *settings.classes) {
      PutLengthPrefixed(&value, one.selector);
      PutVarintSigned(&value, one.age);
    }
    add(kSettingClasses, value);
  }
  std::string counted;
  PutVarint(&counted, count);
  Add(OpKind::kSettings, counted + body);
}

void RecordBuilder::AddPuts(std::span<const Put> puts) {
  if (puts.empty()) {
    return;
  }
  bytes_.push_back(static_cast<char>(OpKind::kPut));
  // The length stands in front of what it measures: as many bytes as its upper bound needs are kept free for it.
  const std::size_t length_bytes = VarintBytes(kVarintBytesMax + kPutBytesMax * puts.size());
  const std::size_t length_at = bytes_.size();
  bytes_.append(length_bytes, '\0');
  PutVarint(&bytes_, puts.size());
  EncodePuts(puts, &bytes_);
  StorePaddedVarint(bytes_.data() + length_at, length_bytes, bytes_.size() - length_at - length_bytes);
}

bool ReadOperation(ByteReader* reader, OpKind* kind, std::string_view* body) {
  std::uint8_t number = 0;
  if (!reader->ReadFixed(&number) || !reader->ReadLengthPrefixed(body)) {
    return false;
  }
  *kind = static_cast<OpKind>(number);
  return true;
}

Status VisitRecord(std::string_view payload, CommitNumber commit, RecordVisitor& visitor) {
  ByteReader reader(payload);
  while (!reader.empty()) {
    const std::size_t offset = reader.offset();
    OpKind kind{};
    std::string_view body;
    if (!ReadOperation(&reader, &kind, &body)) {
      return Damaged(commit, offset, "cut off");
    }
    switch (kind) {
      case OpKind::kPut:
        if (visitor.wants_puts()) {
          TSDB_RETURN_IF_ERROR(VisitPuts(body, commit, offset, visitor));
        }
        break;
      case OpKind::kDefine:
        TSDB_RETURN_IF_ERROR(VisitDefinition(body, commit, offset, visitor));
        break;
      case OpKind::kDelete:
        TSDB_RETURN_IF_ERROR(VisitBody(body, commit, offset, "delete", &DecodeDelete,
                                       [&](const DeleteOperation& o) { return visitor.OnDelete(o); }));
        break;
      case OpKind::kDrop:
        TSDB_RETURN_IF_ERROR(VisitBody(body, commit, offset, "drop", &DecodeDrop,
                                       [&](const DropOperation& o) { return visitor.OnDrop(o); }));
        break;
      case OpKind::kFloor:
        TSDB_RETURN_IF_ERROR(VisitBody(body, commit, offset, "floor", &DecodeFloor,
                                       [&](const FloorOperation& o) { return visitor.OnFloor(o); }));
        break;
      case OpKind::kSettings:
        TSDB_RETURN_IF_ERROR(VisitBody(body, commit, offset, "settings", &DecodeSettings,
                                       [&](const SettingsOperation& o) { return visitor.OnSettings(o); }));
        break;
      default:
        return Status::NotSupported("commit " + std::to_string(commit.value) + ", operation at byte " +
                                    std::to_string(offset) + " of the record: kind " +
                                    std::to_string(static_cast<unsigned>(kind)) + " (" + std::string(OpKindName(kind)) +
                                    ") of a later version; use that version to open the database");
    }
  }
  return {};
}

}  // namespace tsdb::wal
