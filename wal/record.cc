#include "wal/record.h"

#include <cstring>

#include "base/coding.h"
#include "wal/put_codec.h"

namespace tsdb::wal {
namespace {

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

void RecordBuilder::AddDefinition(const SeriesDefinition& definition) {
  std::string body;
  EncodeDefinition(definition, &body);
  bytes_.push_back(static_cast<char>(OpKind::kDefine));
  PutLengthPrefixed(&bytes_, body);
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
