// RocksStore: an ordered store of bytes that changes only in whole sorted sets, over RocksDB.
//
// RocksDB's own log is off and its write buffer is never used: a change is written as sorted table files beside the
// database and taken in by one call (IngestExternalFile), whose only commit point is one synced record of RocksDB's
// manifest. So after a crash the store holds all of a change or nothing of it. Tables are sorted, so nothing is sorted
// or written twice, and no memory is held between changes.
//
// Every byte read is checked against RocksDB's checksums; those that RocksDB parses unchecked against ours
// (index/sealed_tables.h).
//
// Errors: kCorruption (damaged, missing or foreign files: the store may be discarded), kBusy (open elsewhere),
// kTooManyOpenFiles, kNoSpace, kOutOfMemory, kIoError (what the operating system refuses for another reason).
//
// Thread safety: thread-safe; one TableSet and one Ingest at a time. Snapshots end before the store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/options.h"
#include "tsdb/result.h"

namespace tsdb::index {

/// The store as it was at one moment.
class RocksSnapshot {
 public:
  virtual ~RocksSnapshot() = default;

  virtual Result<std::optional<std::string>> Get(const std::string& key) const = 0;
  /// values[i] is that of keys[i].
  virtual Result<std::vector<std::optional<std::string>>> MultiGet(std::span<const std::string> keys) const = 0;

  /// Walks forward over [begin, end). The views of key() and value() hold until the next move.
  class Cursor {
   public:
    virtual ~Cursor() = default;
    virtual void Seek(const std::string& key) = 0;
    virtual void Next() = 0;
    /// False at the end and on error: see status().
    virtual bool Valid() const = 0;
    virtual std::string_view key() const = 0;
    virtual std::string_view value() const = 0;
    virtual Status status() const = 0;
  };
  /// At `begin` or behind it.
  virtual std::unique_ptr<Cursor> Walk(std::string begin, std::string end) const = 0;
};

class RocksStore {
 public:
  /// Sorted changes on their way into the store: each key at most once, in ascending order.
  class TableSet {
   public:
    virtual ~TableSet() = default;  // removes the files that were not ingested
    virtual Status Put(std::string_view key, std::string_view value) = 0;
    virtual Status Delete(std::string_view key) = 0;
  };

  /// Creates the store when the directory holds none. Removes leftovers of unfinished changes.
  static Result<std::unique_ptr<RocksStore>> Open(const std::string& directory,
                                                  std::function<void(LogLevel, std::string_view)> log);
  /// What is there now, beside a process that may be writing it: nothing on disk is touched, Ingest is kReadOnly.
  /// kNotFound when there is none. A writer that replaces files at this moment shows as kCorruption: try again.
  static Result<std::unique_ptr<RocksStore>> OpenReadOnly(const std::string& directory,
                                                          std::function<void(LogLevel, std::string_view)> log);
  virtual ~RocksStore() = default;

  virtual std::unique_ptr<RocksSnapshot> TakeSnapshot() const = 0;
  virtual std::unique_ptr<TableSet> NewTableSet() = 0;
  /// Makes the changes of `tables` part of the store, all or none, durably.
  virtual Status Ingest(TableSet& tables) = 0;
  /// Gives the space of removed keys back when that is much of it: the cost is in proportion to what was removed. Keys
  /// that a snapshot still holds stay.
  virtual Status CompactIfWorthwhile() = 0;
  /// Bytes of the block cache in use.
  virtual std::uint64_t cache_bytes() const = 0;
  virtual Status Close() = 0;
};

}  // namespace tsdb::index
