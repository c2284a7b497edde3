#include "index/stored_view.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/coding.h"
#include "index/id_block.h"

namespace tsdb::index {

namespace {

constexpr std::size_t kMetaBytes = 4 + 4 * 8 + 4;
/// Of what is remembered.
constexpr std::uint64_t kInfoBytesMax = 16 << 20;
constexpr std::uint64_t kPostingBytesMax = 4 << 20;

Status BadEntry(std::string_view what) {
  return Status::Corruption("index: " + std::string(what) + " cannot be decoded");
}

Status DecodeStoredDefinition(std::string_view bytes, std::uint64_t id, SeriesDefinition* definition) {
  ByteReader reader(bytes);
  if (!reader.ReadVarint(&definition->commit.value) || !DecodeDefinition(&reader, definition) || !reader.empty() ||
      definition->id.value != id || definition->dropped) {
    return BadEntry("the definition of series " + std::to_string(id));
  }
  return Status::Ok();
}

// Adds the blocks at and behind the cursor that belong to `text`; leaves the cursor at the first that does not.
Status ReadBlocks(RocksSnapshot::Cursor* cursor, std::string_view posting_key, IdSet* out) {
  for (; cursor->Valid() && cursor->key().starts_with(posting_key); cursor->Next()) {
    std::uint64_t block = 0;
    if (!ParseBlockKey(cursor->key(), posting_key.size(), &block) ||
        !DecodeIdBlockInto(cursor->value(), block, out)) {
      return BadEntry("a posting block");
    }
  }
  return cursor->status();
}

Result<bool> BlockHasLive(std::string_view bytes, std::uint64_t block, const IdSet& masked) {
  IdSet ids;
  if (!DecodeIdBlockInto(bytes, block, &ids)) {
    return BadEntry("a posting block");
  }
  ids -= masked;
  return !ids.empty();
}

}  // namespace

std::string EncodeMeta(const IndexMeta& meta) {
  std::string out;
  PutFixed32(&out, kIndexFormatVersion);
  PutFixed64(&out, meta.store_high);
  PutFixed64(&out, meta.store_low);
  PutFixed64(&out, meta.applied_commit.value);
  PutFixed64(&out, meta.series);
  PutFixed32(&out, Checksum32(out, 0));
  return out;
}

Result<IndexMeta> DecodeMeta(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint32_t version = 0;
  if (!reader.ReadFixed(&version)) {
    return BadEntry("the header");
  }
  if (version != kIndexFormatVersion) {
    return Status::NotSupported("index: format version " + std::to_string(version) + ", this version reads " +
                                std::to_string(kIndexFormatVersion));
  }
  IndexMeta meta;
  std::uint32_t checksum = 0;
  if (bytes.size() != kMetaBytes || !reader.ReadFixed(&meta.store_high) || !reader.ReadFixed(&meta.store_low) ||
      !reader.ReadFixed(&meta.applied_commit.value) || !reader.ReadFixed(&meta.series) ||
      !reader.ReadFixed(&checksum) || checksum != Checksum32(bytes.substr(0, kMetaBytes - 4), 0)) {
    return BadEntry("the header");
  }
  return meta;
}

std::string EncodeStoredDefinition(CommitNumber commit, std::string_view encoded) {
  std::string out;
  out.reserve(kVarintBytesMax + encoded.size());
  PutVarint(&out, commit.value);
  out.append(encoded);
  return out;
}

std::string EncodeIdentityIds(const std::vector<std::uint64_t>& ids) {
  std::string out;
  for (const std::uint64_t id : ids) {
    PutVarint(&out, id);
  }
  return out;
}

bool DecodeIdentityIds(std::string_view bytes, std::vector<std::uint64_t>* ids) {
  ByteReader reader(bytes);
  std::uint64_t id = 0;
  while (!reader.empty() && reader.ReadVarint(&id)) {
    ids->push_back(id);
  }
  return reader.ok() && !ids->empty();
}

InfoCachePtr StoredView::NewInfos() { return std::make_shared<InfoCache>(kInfoBytesMax); }

StoredView::StoredView(std::unique_ptr<RocksSnapshot> snapshot, const IndexMeta& meta, bool is_new, IdSet ids,
                       InfoCachePtr infos)
    : snapshot_(std::move(snapshot)),
      meta_(meta),
      is_new_(is_new),
      ids_(std::move(ids)),
      infos_(std::move(infos)),
      postings_(kPostingBytesMax) {}

Result<std::unique_ptr<StoredView>> StoredView::Load(std::unique_ptr<RocksSnapshot> snapshot) {
  TSDB_ASSIGN_OR_RETURN(const std::optional<std::string> header, snapshot->Get(MetaKey()));
  if (!header.has_value()) {
    const auto cursor = snapshot->Walk("", "\xff");
    TSDB_RETURN_IF_ERROR(cursor->status());
    if (cursor->Valid()) {
      return Status::Corruption("index: the header is missing");
    }
    return std::make_unique<StoredView>(std::move(snapshot), IndexMeta(), /*is_new=*/true, IdSet());
  }
  TSDB_ASSIGN_OR_RETURN(const IndexMeta meta, DecodeMeta(*header));
  IdSet ids;
  const std::string prefix(1, static_cast<char>(KeyKind::kAll));
  const auto cursor = snapshot->Walk(prefix, PrefixEnd(prefix));
  TSDB_RETURN_IF_ERROR(ReadBlocks(cursor.get(), prefix, &ids));
  ids.Optimize();
  if (ids.Count() != meta.series) {
    return Status::Corruption("index: the header counts " + std::to_string(meta.series) + " series, the list has " +
                              std::to_string(ids.Count()));
  }
  return std::make_unique<StoredView>(std::move(snapshot), meta, /*is_new=*/false, std::move(ids));
}

Result<std::vector<SeriesDefinition>> StoredView::Definitions(std::span<const std::uint64_t> ids) const {
  std::vector<std::string> keys;
  keys.reserve(ids.size());
  for (const std::uint64_t id : ids) {
    keys.push_back(DefinitionKey(id));
  }
  TSDB_ASSIGN_OR_RETURN(const auto values, snapshot_->MultiGet(keys));
  std::vector<SeriesDefinition> definitions(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!values[i].has_value()) {
      return Status::Corruption("index: the definition of series " + std::to_string(ids[i]) + " is missing");
    }
    TSDB_RETURN_IF_ERROR(DecodeStoredDefinition(*values[i], ids[i], &definitions[i]));
  }
  return definitions;
}

Result<std::vector<SeriesInfoPtr>> StoredView::Infos(std::span<const std::uint64_t> ids) const {
  std::vector<SeriesInfoPtr> infos(ids.size());
  std::vector<std::uint64_t> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    infos[i] = infos_->Find(ids[i]);
    if (infos[i] == nullptr) {
      missing.push_back(ids[i]);
      places.push_back(i);
    }
  }
  if (missing.empty()) {
    return infos;
  }
  TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesDefinition> definitions, Definitions(missing));
  for (std::size_t i = 0; i < missing.size(); ++i) {
    infos[places[i]] = infos_->Insert(missing[i], definitions[i]);
  }
  return infos;
}

Result<std::vector<std::vector<std::uint64_t>>> StoredView::IdsOf(std::span<const Identity> identities) const {
  std::vector<std::vector<std::uint64_t>> found(identities.size());
  if (ids_.empty()) {
    return found;
  }
  std::vector<std::string> keys;
  keys.reserve(identities.size());
  for (const Identity& identity : identities) {
    keys.push_back(IdentityKey(identity));
  }
  TSDB_ASSIGN_OR_RETURN(const auto values, snapshot_->MultiGet(keys));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (values[i].has_value() && !DecodeIdentityIds(*values[i], &found[i])) {
      return BadEntry("an identity");
    }
    for (const std::uint64_t id : found[i]) {
      if (!ids_.Contains(id)) {
        return Status::Corruption("index: an identity names series " + std::to_string(id) + ", which is not there");
      }
    }
  }
  return found;
}

Result<std::vector<std::string>> StoredView::Texts(const std::string& zone, std::string_view prefix,
                                                   std::uint64_t limit, const IdSet& masked) const {
  std::vector<std::string> texts;
  if (ids_.empty()) {
    return texts;
  }
  std::string begin = zone;
  AppendEscaped(prefix, &begin);
  const bool check = ids_.CountShared(masked) != 0;
  const auto cursor = snapshot_->Walk(begin, PrefixEnd(zone));
  std::string text;
  while (cursor->Valid() && (limit == 0 || texts.size() < limit)) {
    std::uint64_t block = 0;
    if (!ParsePostingKey(cursor->key(), zone, &text, &block)) {
      return BadEntry("a posting key");
    }
    if (!text.starts_with(prefix)) {
      break;
    }
    if (check) {
      TSDB_ASSIGN_OR_RETURN(const bool live, BlockHasLive(cursor->value(), block, masked));
      if (!live) {
        cursor->Next();
        continue;
      }
    }
    texts.push_back(text);
    // Most texts have one block; a jump is worth it only where there are more.
    const std::string posting_key = PostingKey(zone, text);
    cursor->Next();
    if (cursor->Valid() && cursor->key().starts_with(posting_key)) {
      cursor->Seek(PostingKeyEnd(zone, text));
    }
  }
  TSDB_RETURN_IF_ERROR(cursor->status());
  return texts;
}

Status StoredView::All(IdSet* out) const {
  *out |= ids_;
  return Status::Ok();
}

Status StoredView::ReadPosting(const std::string& zone, std::string_view text, IdSet* out) const {
  if (ids_.empty()) {
    return Status::Ok();
  }
  const std::string posting_key = PostingKey(zone, text);
  std::shared_ptr<const IdSet> ids = postings_.Find(posting_key);
  if (ids == nullptr) {
    IdSet read;
    const auto cursor = snapshot_->Walk(posting_key, PostingKeyEnd(zone, text));
    TSDB_RETURN_IF_ERROR(ReadBlocks(cursor.get(), posting_key, &read));
    const std::uint64_t bytes = read.bytes();
    ids = std::make_shared<const IdSet>(std::move(read));
    postings_.Insert(posting_key, ids, posting_key.size() + bytes);
  }
  *out |= *ids;
  return Status::Ok();
}

Status StoredView::WithName(std::string_view name, IdSet* out) const { return ReadPosting(NameZone(), name, out); }

Status StoredView::WithValue(std::string_view name, std::string_view value, IdSet* out) const {
  return ReadPosting(ValueZone(name), value, out);
}

Status StoredView::ScanValues(std::string_view name, const ValueRange& range, const JudgeValue& judge,
                              IdSet* out) const {
  if (ids_.empty()) {
    return Status::Ok();
  }
  const std::string zone = ValueZone(name);
  std::string begin = zone;
  std::string end = PrefixEnd(zone);
  if (!range.all) {
    AppendEscaped(range.low, &begin);
    end = PostingKeyEnd(zone, range.high);
  }
  if (begin >= end) {
    return Status::Ok();
  }
  const auto cursor = snapshot_->Walk(begin, end);
  std::string value;
  std::string judged;
  ValueVerdict verdict = ValueVerdict::kSkip;
  for (; cursor->Valid(); cursor->Next()) {
    std::uint64_t block = 0;
    if (!ParsePostingKey(cursor->key(), zone, &value, &block)) {
      return BadEntry("a posting key");
    }
    if (value != judged) {  // values are not empty
      verdict = judge(value);
      judged = value;
    }
    if (verdict == ValueVerdict::kStop) {
      break;
    }
    if (verdict == ValueVerdict::kTake && !DecodeIdBlockInto(cursor->value(), block, out)) {
      return BadEntry("a posting block");
    }
  }
  return cursor->status();
}

Status StoredView::Filter(const std::vector<const ValueMatcher*>& matchers, IdSet* candidates) const {
  constexpr std::size_t kBatch = 256;
  const std::vector<std::uint64_t> ids = candidates->ToVector();
  IdSet matching;
  for (std::size_t begin = 0; begin < ids.size(); begin += kBatch) {
    const auto batch = std::span(ids).subspan(begin, std::min(kBatch, ids.size() - begin));
    TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesDefinition> definitions, Definitions(batch));
    for (const SeriesDefinition& definition : definitions) {
      if (std::all_of(matchers.begin(), matchers.end(), [&](const ValueMatcher* matcher) {
            return matcher->Accepts(definition.labels.Get(matcher->name()));
          })) {
        matching.Add(definition.id.value);
      }
    }
  }
  *candidates = std::move(matching);
  return Status::Ok();
}

}  // namespace tsdb::index
