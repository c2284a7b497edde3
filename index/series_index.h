// SeriesIndex: which series exist, by identity, by key and by labels.
//
// A cache: everything in it can be rebuilt from the catalogue files and the log. Two implementations behind this
// interface: OpenRocksIndex (RocksDB + an overlay in memory) and NewMemoryIndex (the twin for tests).
//
//   Apply (define, change, drop) ──► overlay (memory) ──Persist──► RocksDB, with store id and applied_commit, one
//   atomic
//                                        │                          write
//   Find / Select / Labels ◄── overlay over RocksDB
//
// No RocksDB write happens in Apply. Persist writes only commits the caller knows to be synced in our own log.
//
// Thread safety: all functions are thread-safe; Apply calls are serialized by the caller in commit order per series.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/series_definition.h"
#include "tsdb/options.h"
#include "tsdb/query.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/types.h"

namespace tsdb::index {

class SeriesIndex {
 public:
  virtual ~SeriesIndex() = default;

  /// Series created by labels, by label set; one answer per set, nullopt where there is none. Verified against the
  /// stored labels, not only by hash.
  virtual Result<std::vector<std::optional<SeriesDefinition>>> FindByLabels(std::span<const Labels* const> sets) = 0;
  /// Series by shown key, both name spaces.
  virtual Result<std::optional<SeriesDefinition>> FindByKey(std::string_view key) = 0;
  /// Definitions by id; nullopt where there is none (or it was dropped).
  virtual Result<std::vector<std::optional<SeriesDefinition>>> FindByIds(std::span<const SeriesId> ids) = 0;

  /// What queries show of series; null where there is none. An implementation may remember it of those asked for
  /// lately.
  virtual Result<std::vector<SeriesInfoPtr>> InfosByIds(std::span<const SeriesId> ids);

  /// Ids of the series that match, ascending. Absent label = empty value, in every matcher. kInvalidArgument: a regex
  /// that RE2 refuses.
  virtual Result<std::vector<SeriesId>> Select(const Selector& selector) = 0;
  /// Sorted; only of live series.
  virtual Result<std::vector<std::string>> LabelNames(std::string_view prefix, std::uint64_t limit) = 0;
  virtual Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix,
                                                       std::uint64_t limit) = 0;
  /// Number of live series.
  virtual Result<std::uint64_t> Count() = 0;

  /// Takes in a new, changed or dropped (definition.dropped) series. Memory only.
  virtual void Apply(const SeriesDefinition& definition) = 0;
  /// Visits the changes that are not part of the stored index, in the order in which they came. Also of a closed index.
  virtual void VisitChanges(const std::function<void(const SeriesDefinition&)>& visit) const = 0;
  /// How often a damaged stored index was discarded and built again since the opening.
  virtual std::uint64_t rebuilds() const { return 0; }
  /// Makes all changes with commit <= `commit` part of the stored index in one atomic step and forgets them in the
  /// overlay.
  virtual Status Persist(CommitNumber commit) = 0;
  /// Commit the stored index reflects; 0 for a new one.
  virtual CommitNumber applied_commit() const = 0;
  /// Bytes of the overlay in memory.
  virtual std::uint64_t memory_bytes() const = 0;
  /// Bytes of what the stored index keeps in memory for speed; bounded, however many series there are.
  virtual std::uint64_t cache_bytes() const { return 0; }
  virtual Status Close() = 0;
};

struct IndexOptions {
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  /// Highest commit known from manifest and log: a stored index that claims more is not of this database's history and
  /// is discarded.
  CommitNumber known_commit;
  std::function<void(LogLevel, std::string_view)> log;
};

/// Opens the index in `directory`. Anything that cannot be used (damaged, truncated, another store id, beyond
/// known_commit, other format version) is discarded and an empty index with applied_commit 0 comes back; `*rebuilt`
/// tells. Errors only for what is not damage (kIoError, kNoSpace, kTooManyOpenFiles, kBusy).
Result<std::unique_ptr<SeriesIndex>> OpenRocksIndex(const std::string& directory, const IndexOptions& options,
                                                    bool* rebuilt);
/// The stored index as it is now, beside a process that may be writing it; what is applied stays in memory, Persist is
/// kReadOnly, nothing on disk is touched. Errors: kNotFound, kCorruption, kNotSupported, kBusy … it cannot be used at
/// this moment: try again, or do without it. kOutOfRange: it reflects commits beyond known_commit; a newer manifest
/// may know them.
Result<std::unique_ptr<SeriesIndex>> OpenRocksIndexReadOnly(const std::string& directory, const IndexOptions& options);
/// Holds what is applied, in memory, in the compact form of the overlay; Persist is kReadOnly. For readers where there
/// is no stored index to use.
std::unique_ptr<SeriesIndex> NewOverlayIndex();
/// The plain twin: maps in memory, linear selection. Persist only remembers the commit.
std::unique_ptr<SeriesIndex> NewMemoryIndex();

/// Matches one label set against a selector the plain way (shared by the twin, the overlay and tests).
class CompiledSelector {
 public:
  static Result<CompiledSelector> Compile(const Selector& selector);
  bool Matches(const SeriesDefinition& definition) const;
  CompiledSelector(CompiledSelector&&) noexcept;
  CompiledSelector& operator=(CompiledSelector&&) noexcept;
  ~CompiledSelector();

 private:
  struct Impl;
  explicit CompiledSelector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tsdb::index
