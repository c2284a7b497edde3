#include "index/rocks_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <system_error>

#include "base/file_system.h"
#include "index/sealed_tables.h"

namespace tsdb::index {

namespace {

constexpr std::uint64_t kTableBytesMax = 64ull << 20;
// Below this size a table goes on with the next kind of key: a small change is one file, a large one is a file for each
// kind, which sinks to the level where its keys meet no others.
constexpr std::uint64_t kTableBytesMin = 1ull << 20;
/// Fewer removed keys than this are left where they are.
constexpr std::uint64_t kRemovedKeysMin = 1000;
constexpr std::string_view kPendingSuffix = ".pending";

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// RocksDB keeps of errno only its text.
bool Mentions(const std::string& text, std::initializer_list<int> errors) {
  return std::any_of(errors.begin(), errors.end(), [&](int error) {
    return text.find(std::generic_category().message(error)) != std::string::npos;
  });
}

Status FromRocks(const rocksdb::Status& status, const std::string& directory) {
  if (status.ok()) {
    return Status::Ok();
  }
  const std::string text = directory + ": index: " + status.ToString();
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kSpaceLimit) {
    return Status::NoSpace(text);
  }
  if (status.IsMemoryLimit()) {
    return Status::OutOfMemory(text);
  }
  if (status.IsIOError()) {
    if (Mentions(text, {EMFILE, ENFILE})) {
      return Status::TooManyOpenFiles(text);
    }
    if (Mentions(text, {ENOSPC, EDQUOT})) {
      return Status::NoSpace(text);
    }
    if (Mentions(text, {ENOMEM})) {
      return Status::OutOfMemory(text);
    }
    if (text.find("lock hold by current process") != std::string::npos ||
        (text.find("While lock file") != std::string::npos && Mentions(text, {EAGAIN, EACCES}))) {
      return Status::Busy(text);
    }
    if (Mentions(text, {EACCES, EPERM, EROFS})) {
      return Status::IoError(text);
    }
    // What is left is a file that is missing, too short or unreadable.
    return Status::Corruption(text);
  }
  if (status.IsBusy() || status.IsTryAgain() || status.IsShutdownInProgress() || status.IsAborted()) {
    return Status::Busy(text);
  }
  return Status::Corruption(text);
}

class LogBridge final : public rocksdb::Logger {
 public:
  explicit LogBridge(std::function<void(LogLevel, std::string_view)> log)
      : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(std::move(log)) {}

  using rocksdb::Logger::Logv;
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    // Below warnings it tells every step of every background job.
    if (!log_ || level < rocksdb::InfoLogLevel::WARN_LEVEL || level == rocksdb::InfoLogLevel::HEADER_LEVEL) {
      return;
    }
    std::array<char, 1024> line;
    const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
    if (length > 0) {
      const std::size_t bytes = std::min(static_cast<std::size_t>(length), line.size() - 1);
      log_(level >= rocksdb::InfoLogLevel::ERROR_LEVEL ? LogLevel::kError : LogLevel::kWarning,
           std::string("index: ").append(line.data(), bytes));
    }
  }
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
  }

 private:
  const std::function<void(LogLevel, std::string_view)> log_;
};

/// Notes that RocksDB stopped all changes because of an error of the disk. It is not to go on by itself.
class StopNote final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status*) override { stopped_.store(true); }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* by_itself) override {
    *by_itself = false;
  }
  bool stopped() const { return stopped_.load(); }

 private:
  std::atomic<bool> stopped_{false};  // for good
};

rocksdb::CompressionType BestCompression() {
  const auto supported = rocksdb::GetSupportedCompressions();
  for (const auto type : {rocksdb::kZSTD, rocksdb::kLZ4Compression, rocksdb::kSnappyCompression}) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) {
      return type;
    }
  }
  return rocksdb::kNoCompression;
}

rocksdb::Options MakeOptions(std::function<void(LogLevel, std::string_view)> log) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(32ull << 20);
  table.block_size = 8 << 10;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // Filters and indexes live in the block cache piece by piece, so that memory stays bounded however many series.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.cache_index_and_filter_blocks = true;
  table.pin_top_level_index_and_filter = true;

  rocksdb::Options options;
  options.env = SealingEnv();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.info_log = std::make_shared<LogBridge>(std::move(log));
  options.listeners.push_back(std::make_shared<StopNote>());
  options.max_bgerror_resume_count = 0;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  // Tables come in by ingestion and carry no id of this database; their checksums are verified instead.
  options.verify_sst_unique_id_in_manifest = false;
  // The write buffer and RocksDB's log are never used: bytes in the log are not ours.
  options.write_buffer_size = 1 << 20;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  options.avoid_flush_during_shutdown = true;
  // All tables are opened with the database: a missing or damaged one shows then.
  options.max_open_files = -1;
  options.max_file_opening_threads = 1;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.manifest_preallocation_size = 4096;
  options.compression = BestCompression();
  options.compression_opts.level = 1;
  options.target_file_size_base = kTableBytesMax;
  options.max_bytes_for_level_base = 4 * kTableBytesMax;
  options.level_compaction_dynamic_level_bytes = true;
  return options;
}

class SnapshotImpl final : public RocksSnapshot {
 public:
  SnapshotImpl(rocksdb::DB* db, const std::string& directory)
      : db_(db), directory_(directory), snapshot_(db->GetSnapshot()) {}
  ~SnapshotImpl() override { db_->ReleaseSnapshot(snapshot_); }
  SnapshotImpl(const SnapshotImpl&) = delete;
  SnapshotImpl& operator=(const SnapshotImpl&) = delete;

  Result<std::optional<std::string>> Get(const std::string& key) const override {
    std::string value;
    const rocksdb::Status status = db_->Get(ReadOptions(), key, &value);
    if (status.IsNotFound()) {
      return std::optional<std::string>();
    }
    TSDB_RETURN_IF_ERROR(FromRocks(status, directory_));
    return std::optional<std::string>(std::move(value));
  }

  Result<std::vector<std::optional<std::string>>> MultiGet(std::span<const std::string> keys) const override {
    constexpr std::size_t kBatch = 256;
    std::vector<std::optional<std::string>> found(keys.size());
    std::array<rocksdb::Slice, kBatch> slices;
    std::array<rocksdb::PinnableSlice, kBatch> values;
    std::array<rocksdb::Status, kBatch> statuses;
    // In order, so that keys of one block come together: it is looked up, read and unpacked once, not for each of them.
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    if (!std::is_sorted(keys.begin(), keys.end())) {
      std::ranges::sort(order, {}, [&keys](std::uint32_t i) { return std::string_view(keys[i]); });
    }
    for (std::size_t begin = 0; begin < keys.size(); begin += kBatch) {
      const std::size_t count = std::min(kBatch, keys.size() - begin);
      for (std::size_t i = 0; i < count; ++i) {
        slices[i] = keys[order[begin + i]];
      }
      db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), count, slices.data(), values.data(), statuses.data(),
                    /*sorted_input=*/true);
      for (std::size_t i = 0; i < count; ++i) {
        if (statuses[i].ok()) {
          found[order[begin + i]].emplace(values[i].data(), values[i].size());
        } else if (!statuses[i].IsNotFound()) {
          return FromRocks(statuses[i], directory_);
        }
        values[i].Reset();
      }
    }
    return found;
  }

  std::unique_ptr<Cursor> Walk(std::string begin, std::string end) const override {
    return std::make_unique<CursorImpl>(*this, begin, std::move(end));
  }

 private:
  class CursorImpl final : public Cursor {
   public:
    CursorImpl(const SnapshotImpl& snapshot, const std::string& begin, std::string end)
        : directory_(snapshot.directory_), end_(std::move(end)), end_slice_(end_) {
      rocksdb::ReadOptions options = snapshot.ReadOptions();
      options.iterate_upper_bound = &end_slice_;
      iterator_.reset(snapshot.db_->NewIterator(options));
      iterator_->Seek(begin);
    }
    void Seek(const std::string& key) override { iterator_->Seek(key); }
    void Next() override { iterator_->Next(); }
    bool Valid() const override { return iterator_->Valid(); }
    std::string_view key() const override { return ToView(iterator_->key()); }
    std::string_view value() const override { return ToView(iterator_->value()); }
    Status status() const override { return FromRocks(iterator_->status(), directory_); }

   private:
    const std::string& directory_;
    const std::string end_;
    const rocksdb::Slice end_slice_;  // RocksDB keeps its address
    std::unique_ptr<rocksdb::Iterator> iterator_;
  };

  rocksdb::ReadOptions ReadOptions() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    options.verify_checksums = true;
    return options;
  }

  rocksdb::DB* const db_;
  const std::string& directory_;
  const rocksdb::Snapshot* const snapshot_;
};

class TableSetImpl final : public RocksStore::TableSet {
 public:
  TableSetImpl(const rocksdb::Options& options, std::string directory)
      : options_(options), directory_(std::move(directory)) {}

  ~TableSetImpl() override {
    writer_.reset();
    for (const std::string& path : paths_) {
      // What stays behind is removed by the next Open.
      (void)PosixFileSystem().RemoveFile(path).ok();
    }
  }

  Status Put(std::string_view key, std::string_view value) override {
    TSDB_RETURN_IF_ERROR(Prepare(key));
    return FromRocks(writer_->Put(ToSlice(key), ToSlice(value)), directory_);
  }

  Status Delete(std::string_view key) override {
    TSDB_RETURN_IF_ERROR(Prepare(key));
    return FromRocks(writer_->Delete(ToSlice(key)), directory_);
  }

  Status FinishTable() {
    if (writer_ == nullptr) {
      return Status::Ok();
    }
    const rocksdb::Status status = writer_->Finish();
    writer_.reset();
    return FromRocks(status, directory_);
  }

  const std::vector<std::string>& paths() const { return paths_; }

 private:
  Status Prepare(std::string_view key) {
    if (writer_ != nullptr) {
      const std::uint64_t bytes = writer_->FileSize();
      if (bytes >= kTableBytesMax || (key[0] != kind_ && bytes >= kTableBytesMin)) {
        TSDB_RETURN_IF_ERROR(FinishTable());
      }
    }
    kind_ = key[0];
    if (writer_ != nullptr) {
      return Status::Ok();
    }
    paths_.push_back(JoinPath(directory_, std::to_string(paths_.size()).append(kPendingSuffix)));
    writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options_, nullptr,
                                                       /*invalidate_page_cache=*/false);
    return FromRocks(writer_->Open(paths_.back()), directory_);
  }

  const rocksdb::Options options_;
  const std::string directory_;
  std::vector<std::string> paths_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  char kind_ = 0;
};

class RocksStoreImpl final : public RocksStore {
 public:
  RocksStoreImpl(std::unique_ptr<rocksdb::DB> db, rocksdb::Options options, std::string directory, bool read_only)
      : db_(std::move(db)), options_(std::move(options)), directory_(std::move(directory)), read_only_(read_only) {}

  // RocksDB opens a table whose properties cannot be read, but its entries then have a wrong age.
  Status CheckTables() const {
    rocksdb::TablePropertiesCollection tables;
    TSDB_RETURN_IF_ERROR(FromRocks(db_->GetPropertiesOfAllTables(&tables), directory_));
    for (const auto& [path, properties] : tables) {
      if (properties == nullptr || properties->num_entries == 0) {
        return Status::Corruption(path + ": index: the properties of the table cannot be read");
      }
    }
    return Status::Ok();
  }

  std::uint64_t cache_bytes() const override {
    return options_.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache->GetUsage();
  }

  std::unique_ptr<RocksSnapshot> TakeSnapshot() const override {
    return std::make_unique<SnapshotImpl>(db_.get(), directory_);
  }

  std::unique_ptr<TableSet> NewTableSet() override { return std::make_unique<TableSetImpl>(options_, directory_); }

  Status CompactIfWorthwhile() override {
    if (read_only_) {
      return Status::Ok();
    }
    rocksdb::TablePropertiesCollection tables;
    TSDB_RETURN_IF_ERROR(FromRocks(db_->GetPropertiesOfAllTables(&tables), directory_));
    std::uint64_t entries = 0;
    std::uint64_t removed = 0;
    for (const auto& [path, properties] : tables) {
      entries += properties->num_entries;
      removed += properties->num_deletions;
    }
    if (removed < kRemovedKeysMin || removed < entries / 4) {
      return Status::Ok();
    }
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    return FromRocks(db_->CompactRange(options, nullptr, nullptr), directory_);
  }

  Status Ingest(TableSet& tables) override {
    if (read_only_) {
      return Status::ReadOnly(directory_ + ": index: was opened read-only");
    }
    auto& set = static_cast<TableSetImpl&>(tables);
    TSDB_RETURN_IF_ERROR(set.FinishTable());
    if (set.paths().empty()) {
      return Status::Ok();
    }
    if (static_cast<const StopNote&>(*options_.listeners.front()).stopped()) {
      // Resume fails as long as the disk does. When it says that all is well the next ingestion may still end the
      // process (it works with file number 0), so this database takes in nothing any more: it is to be built again.
      TSDB_RETURN_IF_ERROR(FromRocks(db_->Resume(), directory_));
      return Status::Corruption(directory_ + ": index: was stopped by an error of the disk that is over");
    }
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    options.snapshot_consistency = true;
    options.write_global_seqno = false;
    return FromRocks(db_->IngestExternalFile(set.paths(), options), directory_);
  }

  Status Close() override { return FromRocks(db_->Close(), directory_); }

 private:
  const std::unique_ptr<rocksdb::DB> db_;
  const rocksdb::Options options_;
  const std::string directory_;
  const bool read_only_;
};

template <typename Unwanted>
Status RemoveFiles(const std::string& directory, Unwanted unwanted) {
  TSDB_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, PosixFileSystem().List(directory));
  for (const DirectoryEntry& entry : entries) {
    if (unwanted(entry)) {
      TSDB_RETURN_IF_ERROR(PosixFileSystem().RemoveFile(JoinPath(directory, entry.name)));
    }
  }
  return Status::Ok();
}

// What earlier opens left: tables of an ingestion that was cut short, and RocksDB's own logs, which stay empty because
// nothing is written to them (one that is not empty is not ours and is left for RocksDB to judge).
Status RemoveLeftovers(const std::string& directory) {
  return RemoveFiles(directory, [](const DirectoryEntry& entry) {
    return entry.name.ends_with(kPendingSuffix) || (entry.name.ends_with(".log") && entry.bytes == 0);
  });
}

// RocksDB writes its options down at each open, 7 KiB a time, and never reads them.
Status RemoveWrittenOptions(const std::string& directory) {
  return RemoveFiles(directory, [](const DirectoryEntry& entry) { return entry.name.starts_with("OPTIONS-"); });
}

}  // namespace

Result<std::unique_ptr<RocksStore>> RocksStore::Open(const std::string& directory,
                                                     std::function<void(LogLevel, std::string_view)> log) {
  TSDB_ASSIGN_OR_RETURN(const bool exists, PosixFileSystem().Exists(directory));
  if (exists) {
    TSDB_RETURN_IF_ERROR(RemoveLeftovers(directory));
  }
  rocksdb::Options options = MakeOptions(std::move(log));
  rocksdb::DB* db = nullptr;
  TSDB_RETURN_IF_ERROR(FromRocks(rocksdb::DB::Open(options, directory, &db), directory));
  auto store = std::make_unique<RocksStoreImpl>(std::unique_ptr<rocksdb::DB>(db), options, directory, false);
  TSDB_RETURN_IF_ERROR(RemoveWrittenOptions(directory));
  TSDB_RETURN_IF_ERROR(store->CheckTables());
  return std::unique_ptr<RocksStore>(std::move(store));
}

Result<std::unique_ptr<RocksStore>> RocksStore::OpenReadOnly(const std::string& directory,
                                                             std::function<void(LogLevel, std::string_view)> log) {
  TSDB_ASSIGN_OR_RETURN(const bool exists, PosixFileSystem().Exists(JoinPath(directory, "CURRENT")));
  if (!exists) {
    return Status::NotFound(directory + ": no index here");
  }
  rocksdb::Options options = MakeOptions(std::move(log));
  options.create_if_missing = false;
  // The form with column families: the short one may give a database that has no iterators.
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  TSDB_RETURN_IF_ERROR(FromRocks(
      rocksdb::DB::OpenForReadOnly(options, directory,
                                   {{rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions(options)}},
                                   &handles, &db),
      directory));
  auto store = std::make_unique<RocksStoreImpl>(std::unique_ptr<rocksdb::DB>(db), options, directory, true);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    TSDB_RETURN_IF_ERROR(FromRocks(db->DestroyColumnFamilyHandle(handle), directory));
  }
  TSDB_RETURN_IF_ERROR(store->CheckTables());
  return std::unique_ptr<RocksStore>(std::move(store));
}

}  // namespace tsdb::index
