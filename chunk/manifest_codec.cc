#include "chunk/manifest_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "base/coding.h"
#include "chunk/manifest_life_codec.h"

namespace tsdb::chunk {

namespace {

// Field numbers never change their meaning. In a tag the number is shifted left by one; the low bit says "required".
enum Field : std::uint64_t {
  kWholeState = 1,
  kStore = 2,
  kSettings = 3,
  kAddedChunkFile = 4,
  kRemovedChunkFile = 5,
  kAddedCatalogueFile = 6,
  kRemovedCatalogueFile = 7,
  kFlushedCommit = 8,
  kNextFileNumber = 9,
  kNextSeriesId = 10,
  kLastCommit = 11,
  kLastSegment = 12,
  kLastWallNanos = 13,
  kAddedTombstone = 14,
  kRemovedTombstone = 15,
  kDrops = 16,
  kRetention = 17,
  kFieldEnd = 18,
};

/// Field of a chunk file's value.
constexpr std::uint64_t kFilePurgedCommit = 1;

bool IsList(std::uint64_t field) {
  return (field >= kAddedChunkFile && field <= kRemovedCatalogueFile) || field == kAddedTombstone ||
         field == kRemovedTombstone;
}

void PutField(std::uint64_t field, std::string_view value, std::string* out) {
  PutVarint(out, field << 1 | 1);
  PutLengthPrefixed(out, value);
}

void PutNumber(std::uint64_t field, std::uint64_t number, std::string* out) {
  std::string value;
  PutVarint(&value, number);
  PutField(field, value, out);
}

/// 0 is "absent".
void PutPosition(std::uint64_t field, std::uint64_t number, std::string* out) {
  if (number != 0) {
    PutNumber(field, number, out);
  }
}

std::string EncodeSettings(const CreateOptions& settings) {
  std::string out;
  PutVarint(&out, static_cast<std::uint64_t>(settings.unit));
  PutVarint(&out, static_cast<std::uint64_t>(settings.durability));
  PutVarint(&out, static_cast<std::uint64_t>(settings.duplicates));
  PutVarintSigned(&out, settings.retention);
  PutVarint(&out, settings.bytes_max);
  return out;
}

std::string EncodeChunkFileMeta(const ChunkFileMeta& meta) {
  std::string out;
  PutVarint(&out, meta.number);
  PutVarint(&out, meta.bytes);
  PutVarint(&out, meta.first_commit.value);
  PutVarint(&out, meta.last_commit.value);
  PutVarintSigned(&out, meta.first_time);
  PutVarintSigned(&out, meta.last_time);
  PutVarint(&out, meta.series);
  PutVarint(&out, meta.chunks);
  PutVarint(&out, meta.samples);
  PutVarint(&out, meta.level);
  if (meta.purged_commit.value != 0) {
    std::string value;
    PutVarint(&value, meta.purged_commit.value);
    PutVarint(&out, kFilePurgedCommit << 1);
    PutLengthPrefixed(&out, value);
  }
  return out;
}

std::string EncodeCatalogueMeta(const CatalogueMeta& meta) {
  std::string out;
  PutVarint(&out, meta.number);
  PutVarint(&out, meta.bytes);
  PutVarint(&out, meta.first_commit.value);
  PutVarint(&out, meta.last_commit.value);
  PutVarint(&out, meta.definitions);
  return out;
}

/// Calls take(field, value) for each field this version may know; unknown optional ones are skipped.
template <typename Take>
Status ForEachField(ByteReader* reader, std::uint64_t field_end, Take take) {
  while (reader->ok() && !reader->empty()) {
    std::uint64_t tag = 0;
    std::string_view value;
    if (!reader->ReadVarint(&tag) || !reader->ReadLengthPrefixed(&value)) {
      break;
    }
    const std::uint64_t field = tag >> 1;
    if (field == 0 || field >= field_end) {
      if ((tag & 1) == 0) {
        continue;
      }
      return Status::NotSupported(
          fmt::format("field {} is of a newer version that must be understood: use a newer program", field));
    }
    TSDB_RETURN_IF_ERROR(take(field, value));
  }
  return reader->ok() ? Status() : Status::Corruption("a field reaches beyond the record");
}

Status BadField(std::uint64_t field) { return Status::Corruption(fmt::format("field {} has a wrong value", field)); }

/// Fields behind the fixed ones of a list element: none are known yet.
Status SkipExtensions(ByteReader* reader) {
  return ForEachField(reader, 1, [](std::uint64_t field, std::string_view) { return BadField(field); });
}

Status DecodeSettings(std::string_view value, CreateOptions* settings) {
  ByteReader reader(value);
  std::uint64_t unit = 0;
  std::uint64_t durability = 0;
  std::uint64_t duplicates = 0;
  reader.ReadVarint(&unit);
  reader.ReadVarint(&durability);
  reader.ReadVarint(&duplicates);
  reader.ReadVarintSigned(&settings->retention);
  if (!reader.ReadVarint(&settings->bytes_max)) {
    return BadField(kSettings);
  }
  if (unit > static_cast<std::uint64_t>(TimeUnit::kNanoseconds) ||
      durability > static_cast<std::uint64_t>(Durability::kAlways) ||
      duplicates > static_cast<std::uint64_t>(DuplicatePolicy::kSum)) {
    return Status::NotSupported("the database was created with a setting this version does not know");
  }
  settings->unit = static_cast<TimeUnit>(unit);
  settings->durability = static_cast<Durability>(durability);
  settings->duplicates = static_cast<DuplicatePolicy>(duplicates);
  return SkipExtensions(&reader);
}

Status DecodeChunkFileMeta(std::string_view value, ChunkFileMeta* meta) {
  ByteReader reader(value);
  std::uint64_t level = 0;
  reader.ReadVarint(&meta->number);
  reader.ReadVarint(&meta->bytes);
  reader.ReadVarint(&meta->first_commit.value);
  reader.ReadVarint(&meta->last_commit.value);
  reader.ReadVarintSigned(&meta->first_time);
  reader.ReadVarintSigned(&meta->last_time);
  reader.ReadVarint(&meta->series);
  reader.ReadVarint(&meta->chunks);
  reader.ReadVarint(&meta->samples);
  if (!reader.ReadVarint(&level) || level > UINT32_MAX) {
    return BadField(kAddedChunkFile);
  }
  meta->level = static_cast<std::uint32_t>(level);
  return ForEachField(&reader, kFilePurgedCommit + 1, [&](std::uint64_t, std::string_view field) {
    ByteReader number(field);
    return number.ReadVarint(&meta->purged_commit.value) && number.empty() ? Status() : BadField(kAddedChunkFile);
  });
}

Status DecodeCatalogueMeta(std::string_view value, CatalogueMeta* meta) {
  ByteReader reader(value);
  reader.ReadVarint(&meta->number);
  reader.ReadVarint(&meta->bytes);
  reader.ReadVarint(&meta->first_commit.value);
  reader.ReadVarint(&meta->last_commit.value);
  if (!reader.ReadVarint(&meta->definitions)) {
    return BadField(kAddedCatalogueFile);
  }
  return SkipExtensions(&reader);
}

Status DecodeNumber(std::uint64_t field, std::string_view value, std::uint64_t* number) {
  ByteReader reader(value);
  return reader.ReadVarint(number) && reader.empty() ? Status() : BadField(field);
}

Status DecodeStore(std::string_view value, ManifestRecord* record) {
  ByteReader reader(value);
  reader.ReadFixed(&record->store_high);
  return reader.ReadFixed(&record->store_low) && reader.empty() ? Status() : BadField(kStore);
}

Status DecodeField(std::uint64_t field, std::string_view value, ManifestRecord* record) {
  ManifestEdit& edit = record->edit;
  switch (static_cast<Field>(field)) {
    case kWholeState:
      record->whole_state = true;
      return value.empty() ? Status() : BadField(field);
    case kStore:
      return DecodeStore(value, record);
    case kSettings:
      return DecodeSettings(value, &edit.settings.emplace());
    case kAddedChunkFile:
      return DecodeChunkFileMeta(value, &edit.added_chunk_files.emplace_back());
    case kRemovedChunkFile:
      return DecodeNumber(field, value, &edit.removed_chunk_files.emplace_back());
    case kAddedCatalogueFile:
      return DecodeCatalogueMeta(value, &edit.added_catalogue_files.emplace_back());
    case kRemovedCatalogueFile:
      return DecodeNumber(field, value, &edit.removed_catalogue_files.emplace_back());
    case kFlushedCommit:
      return DecodeNumber(field, value, &edit.flushed_commit.value);
    case kNextFileNumber:
      return DecodeNumber(field, value, &edit.next_file_number);
    case kNextSeriesId:
      return DecodeNumber(field, value, &edit.next_series_id);
    case kLastCommit:
      return DecodeNumber(field, value, &edit.last_commit.value);
    case kLastSegment:
      return DecodeNumber(field, value, &edit.last_segment);
    case kLastWallNanos: {
      std::uint64_t nanos = 0;
      TSDB_RETURN_IF_ERROR(DecodeNumber(field, value, &nanos));
      edit.last_wall_nanos = UnZigZag(nanos);
      return {};
    }
    case kAddedTombstone:
      return DecodeTombstone(value, &edit.added_tombstones) ? Status() : BadField(field);
    case kRemovedTombstone:
      return DecodeNumber(field, value, &edit.removed_tombstones.emplace_back().value);
    case kDrops:
      return DecodeDrops(value, &edit.drops.emplace()) ? Status() : BadField(field);
    case kRetention:
      return DecodeRetention(value, &edit.retention.emplace()) ? Status() : BadField(field);
    case kFieldEnd:
      break;
  }
  return BadField(field);
}

/// Inserts, keeping the list sorted by number; false when the number is taken or 0.
template <typename Meta>
bool AddFile(const Meta& meta, std::vector<Meta>* files) {
  const auto at = std::ranges::lower_bound(*files, meta.number, {}, &Meta::number);
  if (meta.number == 0 || meta.number == UINT64_MAX || (at != files->end() && at->number == meta.number)) {
    return false;
  }
  files->insert(at, meta);
  return true;
}

template <typename Meta>
bool RemoveFile(std::uint64_t number, std::vector<Meta>* files) {
  const auto at = std::ranges::lower_bound(*files, number, {}, &Meta::number);
  if (at == files->end() || at->number != number) {
    return false;
  }
  files->erase(at);
  return true;
}

/// Removals first, so that an edit may replace files.
template <typename Meta>
Status ApplyFiles(std::string_view what, const std::vector<std::uint64_t>& removed, const std::vector<Meta>& added,
                  std::vector<Meta>* files, std::uint64_t* next_file_number) {
  for (const std::uint64_t number : removed) {
    if (!RemoveFile(number, files)) {
      return Status::Corruption(fmt::format("the edit removes {} {}, which is not there", what, number));
    }
  }
  for (const Meta& meta : added) {
    if (!AddFile(meta, files)) {
      return Status::Corruption(fmt::format("the edit adds {} {}, which is there already", what, meta.number));
    }
    *next_file_number = std::max(*next_file_number, meta.number + 1);
  }
  return {};
}

Status ApplyInPlace(const ManifestEdit& edit, ManifestState* state) {
  TSDB_RETURN_IF_ERROR(ApplyFiles("chunk file", edit.removed_chunk_files, edit.added_chunk_files, &state->chunk_files,
                                  &state->next_file_number));
  TSDB_RETURN_IF_ERROR(ApplyFiles("catalogue file", edit.removed_catalogue_files, edit.added_catalogue_files,
                                  &state->catalogue_files, &state->next_file_number));
  state->flushed_commit = std::max(state->flushed_commit, edit.flushed_commit);
  state->next_file_number = std::max(state->next_file_number, edit.next_file_number);
  state->next_series_id = std::max(state->next_series_id, edit.next_series_id);
  state->last_commit = std::max(state->last_commit, edit.last_commit);
  state->last_segment = std::max(state->last_segment, edit.last_segment);
  std::erase_if(state->tombstones, [&](const TombstonePtr& tombstone) {
    return std::ranges::find(edit.removed_tombstones, tombstone->commit) != edit.removed_tombstones.end();
  });
  for (const TombstonePtr& tombstone : edit.added_tombstones) {
    if (!state->tombstones.empty() && tombstone->commit < state->tombstones.back()->commit) {
      return Status::Corruption(fmt::format("the edit adds the delete of commit {} behind that of commit {}",
                                            tombstone->commit.value, state->tombstones.back()->commit.value));
    }
    state->tombstones.push_back(tombstone);
  }
  if (edit.settings) {
    state->settings = *edit.settings;
  }
  if (edit.drops) {
    state->drops = *edit.drops;
  }
  if (edit.retention) {
    state->retention = *edit.retention;
  }
  // Wall times may lie before 1970; 0 in an edit is "absent".
  if (edit.last_wall_nanos != 0 && (state->last_wall_nanos == 0 || edit.last_wall_nanos > state->last_wall_nanos)) {
    state->last_wall_nanos = edit.last_wall_nanos;
  }
  return {};
}

}  // namespace

std::string EncodeEdit(const ManifestEdit& edit) {
  std::string out;
  for (const std::uint64_t number : edit.removed_chunk_files) {
    PutNumber(kRemovedChunkFile, number, &out);
  }
  for (const ChunkFileMeta& meta : edit.added_chunk_files) {
    PutField(kAddedChunkFile, EncodeChunkFileMeta(meta), &out);
  }
  for (const std::uint64_t number : edit.removed_catalogue_files) {
    PutNumber(kRemovedCatalogueFile, number, &out);
  }
  for (const CatalogueMeta& meta : edit.added_catalogue_files) {
    PutField(kAddedCatalogueFile, EncodeCatalogueMeta(meta), &out);
  }
  PutPosition(kFlushedCommit, edit.flushed_commit.value, &out);
  PutPosition(kNextFileNumber, edit.next_file_number, &out);
  PutPosition(kNextSeriesId, edit.next_series_id, &out);
  PutPosition(kLastCommit, edit.last_commit.value, &out);
  PutPosition(kLastSegment, edit.last_segment, &out);
  PutPosition(kLastWallNanos, ZigZag(edit.last_wall_nanos), &out);
  for (const CommitNumber commit : edit.removed_tombstones) {
    PutNumber(kRemovedTombstone, commit.value, &out);
  }
  for (const TombstonePtr& tombstone : edit.added_tombstones) {
    PutField(kAddedTombstone, EncodeTombstone(*tombstone), &out);
  }
  if (edit.settings) {
    PutField(kSettings, EncodeSettings(*edit.settings), &out);
  }
  if (edit.drops) {
    PutField(kDrops, EncodeDrops(*edit.drops), &out);
  }
  if (edit.retention) {
    PutField(kRetention, EncodeRetention(*edit.retention), &out);
  }
  return out;
}

std::string EncodeState(const ManifestState& state) {
  std::string out;
  PutField(kWholeState, {}, &out);
  std::string store;
  PutFixed64(&store, state.store_high);
  PutFixed64(&store, state.store_low);
  PutField(kStore, store, &out);
  PutField(kSettings, EncodeSettings(state.settings), &out);
  ManifestEdit edit;
  edit.added_chunk_files = state.chunk_files;
  edit.added_catalogue_files = state.catalogue_files;
  edit.flushed_commit = state.flushed_commit;
  edit.next_file_number = state.next_file_number;
  edit.next_series_id = state.next_series_id;
  edit.last_commit = state.last_commit;
  edit.last_segment = state.last_segment;
  edit.last_wall_nanos = state.last_wall_nanos;
  edit.added_tombstones = state.tombstones;
  if (!state.drops.empty()) {
    edit.drops = state.drops;
  }
  if (!(state.retention == RetentionPositions())) {
    edit.retention = state.retention;
  }
  return out + EncodeEdit(edit);
}

Status DecodeRecord(std::string_view data, ManifestRecord* record) {
  *record = ManifestRecord();
  std::bitset<kFieldEnd> seen;
  ByteReader reader(data);
  TSDB_RETURN_IF_ERROR(ForEachField(&reader, kFieldEnd, [&](std::uint64_t field, std::string_view value) {
    if (!IsList(field) && seen.test(static_cast<std::size_t>(field))) {
      return Status::Corruption(fmt::format("field {} is there twice", field));
    }
    seen.set(static_cast<std::size_t>(field));
    return DecodeField(field, value, record);
  }));
  if (seen.test(kWholeState) != seen.test(kStore) || (seen.test(kWholeState) && !seen.test(kSettings))) {
    return Status::Corruption("a whole state needs store id and settings, and only it has a store id");
  }
  return {};
}

Status ApplyRecord(const ManifestRecord& record, ManifestState* state) {
  if (!record.whole_state) {
    return ApplyEdit(record.edit, state);
  }
  ManifestState next;
  next.store_high = record.store_high;
  next.store_low = record.store_low;
  TSDB_RETURN_IF_ERROR(ApplyInPlace(record.edit, &next));
  *state = std::move(next);
  return {};
}

Status ApplyEdit(const ManifestEdit& edit, ManifestState* state) {
  ManifestState next = *state;
  TSDB_RETURN_IF_ERROR(ApplyInPlace(edit, &next));
  *state = std::move(next);
  return {};
}

}  // namespace tsdb::chunk
