// A record: the effects of one commit, as operations one behind the other. Byte layout: docs/format/wal.md.
//
//   record = operation*          operation = kind u8 · body bytes varint · body
//
// The log holds effects only (put, define, delete …), never operands, policies or refused samples; applying a record a
// second time changes nothing.
//
// Thread safety: none of the builder; the free functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "base/id_set.h"
#include "base/series_definition.h"
#include "tsdb/result.h"
#include "tsdb/retention.h"
#include "tsdb/types.h"

namespace tsdb::wal {

/// Numbers never change their meaning and are never reused. Kinds 3, 4, 6, 9 to 12 and 14 are reserved: their
/// layouts stand in docs/format/wal.md, readers of this version report them as kNotSupported.
enum class OpKind : std::uint8_t {
  kPut = 1,             // samples: (series, time, value)*
  kDefine = 2,          // a series begins, or all of its definition changes
  kAlter = 3,           // labels and settings of a series change
  kRename = 4,          // shown key of a series changes
  kDrop = 5,            // series end
  kUndrop = 6,          // a dropped series comes back
  kDelete = 7,          // series ids and a time range lose their samples
  kFloor = 8,           // samples of a series or class below a time are gone for good
  kRuleSet = 9,         // a downsampling rule begins or changes
  kRuleRemove = 10,
  kRollupSet = 11,      // a rollup policy begins or changes
  kRollupRemove = 12,
  kSettings = 13,       // settings of the database change
  kClockAccepted = 14,  // someone accepted the clock for retention
};

/// "put", "define", ...; "unknown" for numbers without a meaning.
std::string_view OpKindName(OpKind kind);

/// One sample that takes effect. `id` is not 0 and `time` is not kNow.
struct Put {
  SeriesId id;
  Timestamp time = 0;
  double value = 0;
};

/// Samples of `ids` in `range` that were put by earlier commits go.
struct DeleteOperation {
  TimeRange range;
  IdSet ids;
};

enum class DropReason : std::uint8_t { kAsked = 0, kExpired = 1, kEmpty = 2 };

/// Series end.
struct DropOperation {
  std::int64_t until_wall_nanos = 0;  // they may come back until then; 0: not at all
  DropReason reason = DropReason::kAsked;
  IdSet ids;
};

/// Samples below `floor` are gone for good in the whole database.
struct FloorOperation {
  Timestamp floor = 0;
};

/// Settings of the database that change; one that is not there stays.
struct SettingsOperation {
  std::optional<std::int64_t> retention;
  std::optional<std::uint64_t> bytes_max;
  std::optional<std::vector<RetentionClass>> classes;
};

class RecordBuilder {
 public:
  void AddDefinition(const SeriesDefinition& definition);
  void AddDelete(TimeRange range, const IdSet& ids);
  void AddDrop(const DropOperation& drop);
  void AddFloor(const FloorOperation& floor);
  void AddSettings(const SettingsOperation& settings);
  /// Puts in their order; consecutive ones of near ids and times take few bytes, as do values that are small integers
  /// or have few significant bits; every value is kept bit for bit.
  void AddPuts(std::span<const Put> puts);
  std::string_view payload() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  void Clear() { bytes_.clear(); }

 private:
  void Add(OpKind kind, std::string_view body);

  std::string bytes_;
};

/// Receives the operations of a record in order. An error ends the visit and is returned. What a visitor does not
/// implement is decoded, checked and passed over; one that keeps a state implements all.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  /// False: puts are stepped over without being decoded.
  virtual bool wants_puts() const { return true; }
  virtual Status OnPuts(std::span<const Put> puts) = 0;
  /// `definition.commit` is the record's commit.
  virtual Status OnDefinition(const SeriesDefinition& definition) = 0;
  virtual Status OnDelete(const DeleteOperation&) { return Status::Ok(); }
  virtual Status OnDrop(const DropOperation&) { return Status::Ok(); }
  virtual Status OnFloor(const FloorOperation&) { return Status::Ok(); }
  virtual Status OnSettings(const SettingsOperation&) { return Status::Ok(); }
};

/// Takes the next operation apart without looking into its body. False when the bytes are cut off.
bool ReadOperation(ByteReader* reader, OpKind* kind, std::string_view* body);

/// Decodes untrusted bytes. kCorruption: the bytes are not a record (what stands before the damage was visited, puts in
/// runs of up to 256);
/// kNotSupported: an operation kind of a later version.
Status VisitRecord(std::string_view payload, CommitNumber commit, RecordVisitor& visitor);

}  // namespace tsdb::wal
