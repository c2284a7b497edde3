// StoredView: the stored index as of one applied commit: a snapshot of the store, the ids in it, and how to read them.
//
// Thread safety: immutable; may be read from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_set.h"
#include "base/recent_cache.h"
#include "base/series_definition.h"
#include "index/index_keys.h"
#include "index/info_cache.h"
#include "index/posting_source.h"
#include "index/rocks_store.h"

namespace tsdb::index {

/// The header of the stored index, written in the same step as every change.
struct IndexMeta {
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  CommitNumber applied_commit;
  std::uint64_t series = 0;
};
std::string EncodeMeta(const IndexMeta& meta);
/// kNotSupported: another format version; kCorruption: not a header.
Result<IndexMeta> DecodeMeta(std::string_view bytes);

/// Value of a definition: varint commit, then EncodeDefinition.
std::string EncodeStoredDefinition(CommitNumber commit, std::string_view encoded);
/// Value of an identity: the ids that have it, as varints. One, but for colliding hashes.
std::string EncodeIdentityIds(const std::vector<std::uint64_t>& ids);
bool DecodeIdentityIds(std::string_view bytes, std::vector<std::uint64_t>* ids);

class StoredView final : public PostingSource {
 public:
  /// Reads the header and the set of all ids. A store without a header is new and must be empty.
  static Result<std::unique_ptr<StoredView>> Load(std::unique_ptr<RocksSnapshot> snapshot);
  /// The view behind a change whose outcome is known. `infos`: those of the view before when no series of it changed.
  StoredView(std::unique_ptr<RocksSnapshot> snapshot, const IndexMeta& meta, bool is_new, IdSet ids,
             InfoCachePtr infos = NewInfos());

  const RocksSnapshot& snapshot() const { return *snapshot_; }
  const IndexMeta& meta() const { return meta_; }
  bool is_new() const { return is_new_; }
  const IdSet& ids() const { return ids_; }

  /// Definitions of ids, all of which must be in ids().
  Result<std::vector<SeriesDefinition>> Definitions(std::span<const std::uint64_t> ids) const;
  /// What queries show of them; remembered.
  Result<std::vector<SeriesInfoPtr>> Infos(std::span<const std::uint64_t> ids) const;
  static InfoCachePtr NewInfos();
  const InfoCachePtr& infos() const { return infos_; }
  /// Of everything remembered.
  std::uint64_t cache_bytes() const { return infos_->bytes() + postings_.bytes(); }
  /// Ids filed under each identity; not verified against the definitions.
  Result<std::vector<std::vector<std::uint64_t>>> IdsOf(std::span<const Identity> identities) const;
  /// Texts of a zone (label names, or values of a name) in order, that begin with `prefix` and have a series whose id
  /// is not in `masked`; at most `limit` (0: all).
  Result<std::vector<std::string>> Texts(const std::string& zone, std::string_view prefix, std::uint64_t limit,
                                         const IdSet& masked) const;

  Status All(IdSet* out) const override;
  Status WithName(std::string_view name, IdSet* out) const override;
  Status WithValue(std::string_view name, std::string_view value, IdSet* out) const override;
  Status ScanValues(std::string_view name, const ValueRange& range, const JudgeValue& judge,
                    IdSet* out) const override;
  Status Filter(const std::vector<const ValueMatcher*>& matchers, IdSet* candidates) const override;

 private:
  Status ReadPosting(const std::string& zone, std::string_view text, IdSet* out) const;

  const std::unique_ptr<RocksSnapshot> snapshot_;
  const IndexMeta meta_;
  const bool is_new_;
  const IdSet ids_;
  const InfoCachePtr infos_;  // by id
  mutable RecentCache<std::string, std::shared_ptr<const IdSet>> postings_;  // by key
};

}  // namespace tsdb::index
