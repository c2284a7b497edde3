#include "index/sealed_tables.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"

namespace tsdb::index {

namespace {

using rocksdb::FileOptions;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// RocksDB ends a table with its properties (about 1 KiB), the list of such blocks and the footer.
constexpr std::uint32_t kTailBytes = 16 << 10;
constexpr std::uint32_t kSealMagic = 0x4c414553;  // "SEAL"
constexpr std::size_t kSealBytes = 28;

bool IsTable(std::string_view path) { return path.ends_with(".sst") || path.ends_with(".pending"); }

std::string_view View(const Slice& slice) { return {slice.data(), slice.size()}; }

struct Seal {
  std::uint64_t table_bytes = 0;
  std::uint32_t tail_bytes = 0;
  std::uint64_t tail_checksum = 0;

  std::uint64_t tail_offset() const { return table_bytes - tail_bytes; }
};

Seal SealOf(std::uint64_t table_bytes, std::string_view tail) {
  return {table_bytes, static_cast<std::uint32_t>(tail.size()), Checksum64(tail, table_bytes)};
}

std::string Encode(const Seal& seal) {
  std::string bytes;
  PutFixed64(&bytes, seal.table_bytes);
  PutFixed32(&bytes, seal.tail_bytes);
  PutFixed64(&bytes, seal.tail_checksum);
  PutFixed32(&bytes, kSealMagic);
  PutFixed32(&bytes, Checksum32(bytes, 0));
  return bytes;
}

bool Decode(std::string_view bytes, std::uint64_t file_bytes, Seal* seal) {
  const char* p = bytes.data();
  seal->table_bytes = LoadFixed<std::uint64_t>(p);
  seal->tail_bytes = LoadFixed<std::uint32_t>(p + 8);
  seal->tail_checksum = LoadFixed<std::uint64_t>(p + 12);
  return LoadFixed<std::uint32_t>(p + 20) == kSealMagic &&
         LoadFixed<std::uint32_t>(p + 24) == Checksum32(bytes.substr(0, 24), 0) &&
         seal->table_bytes == file_bytes - kSealBytes &&
         seal->tail_bytes == std::min<std::uint64_t>(seal->table_bytes, kTailBytes);
}

IOStatus Damaged(const std::string& path, const char* what) { return IOStatus::Corruption(path, what); }

class SealedWriter final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  SealedWriter(std::string path, std::unique_ptr<FSWritableFile> file)
      : rocksdb::FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (sealed_) {
      return IOStatus::NotSupported(path_, "grows behind its seal");
    }
    IOStatus status = target()->Append(data, options, debug);
    if (status.ok()) {
      Remember(View(data));
    }
    return status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus PositionedAppend(const Slice&, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported(path_, "is written front to back");
  }
  IOStatus PositionedAppend(const Slice&, std::uint64_t, const IOOptions&, const rocksdb::DataVerificationInfo&,
                            IODebugContext*) override {
    return IOStatus::NotSupported(path_, "is written front to back");
  }
  IOStatus Truncate(std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported(path_, "is written front to back");
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = WriteSeal(options, debug);
    return status.ok() ? target()->Sync(options, debug) : status;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = WriteSeal(options, debug);
    return status.ok() ? target()->Fsync(options, debug) : status;
  }
  bool IsSyncThreadSafe() const override { return false; }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = WriteSeal(options, debug);
    IOStatus closed = target()->Close(options, debug);
    return status.ok() ? closed : status;
  }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return bytes_; }

 private:
  void Remember(std::string_view data) {
    bytes_ += data.size();
    if (data.size() >= kTailBytes) {
      tail_.assign(data.substr(data.size() - kTailBytes));
      return;
    }
    tail_.append(data);
    if (tail_.size() > 8 * kTailBytes) {
      tail_.erase(0, tail_.size() - kTailBytes);
    }
  }

  // Once: what it said the first time holds.
  IOStatus WriteSeal(const IOOptions& options, IODebugContext* debug) {
    if (!sealed_) {
      sealed_ = true;
      std::string_view tail = tail_;
      tail.remove_prefix(tail.size() - std::min<std::size_t>(tail.size(), kTailBytes));
      IOStatus status = target()->Append(Encode(SealOf(bytes_, tail)), options, debug);
      failed_ = !status.ok();
      return status;
    }
    return failed_ ? IOStatus::IOError(path_, "its seal was not written") : IOStatus::OK();
  }

  const std::string path_;
  std::uint64_t bytes_ = 0;
  std::string tail_;  // the last bytes, kTailBytes of them or more when there are so many
  bool sealed_ = false;
  bool failed_ = false;
};

class SealedReader final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  SealedReader(std::string path, std::unique_ptr<FSRandomAccessFile> file, const Seal& seal)
      : rocksdb::FSRandomAccessFileOwnerWrapper(std::move(file)), path_(std::move(path)), seal_(seal) {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, seal_.table_bytes - std::min(offset, seal_.table_bytes)));
    if (offset + n <= seal_.tail_offset()) {
      return target()->Read(offset, n, options, result, scratch, debug);
    }
    std::size_t before = 0;  // bytes in front of the tail
    if (offset < seal_.tail_offset()) {
      before = static_cast<std::size_t>(seal_.tail_offset() - offset);
      if (IOStatus status = ReadWhole(offset, before, options, scratch, debug); !status.ok()) {
        return status;
      }
    }
    std::string tail(seal_.tail_bytes, '\0');
    if (IOStatus status = ReadWhole(seal_.tail_offset(), tail.size(), options, tail.data(), debug); !status.ok()) {
      return status;
    }
    if (Checksum64(tail, seal_.table_bytes) != seal_.tail_checksum) {
      return Damaged(path_, "the end of the table is damaged: checksum mismatch");
    }
    std::memcpy(scratch + before, tail.data() + (offset + before - seal_.tail_offset()), n - before);
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    const bool all_before = std::all_of(requests, requests + count, [&](const rocksdb::FSReadRequest& request) {
      return request.len <= seal_.tail_offset() && request.offset <= seal_.tail_offset() - request.len;
    });
    return all_before ? target()->MultiRead(requests, count, options, debug)
                      : FSRandomAccessFile::MultiRead(requests, count, options, debug);
  }
  IOStatus ReadAsync(rocksdb::FSReadRequest& request, const IOOptions& options,
                     std::function<void(const rocksdb::FSReadRequest&, void*)> done, void* argument, void** handle,
                     rocksdb::IOHandleDeleter* deleter, IODebugContext* debug) override {
    return FSRandomAccessFile::ReadAsync(request, options, std::move(done), argument, handle, deleter, debug);
  }

 private:
  IOStatus ReadWhole(std::uint64_t offset, std::size_t n, const IOOptions& options, char* out,
                     IODebugContext* debug) const {
    Slice result;
    if (IOStatus status = target()->Read(offset, n, options, &result, out, debug); !status.ok()) {
      return status;
    }
    if (result.size() != n) {
      return Damaged(path_, "the table is shorter than its seal says");
    }
    if (result.data() != out) {
      std::memcpy(out, result.data(), n);
    }
    return IOStatus::OK();
  }

  const std::string path_;
  const Seal seal_;
};

/// Ends where the table does, for copies.
class SealedSequence final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  SealedSequence(std::unique_ptr<FSSequentialFile> file, std::uint64_t bytes)
      : rocksdb::FSSequentialFileOwnerWrapper(std::move(file)), left_(bytes) {}

  IOStatus Read(std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) override {
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, left_));
    IOStatus status = target()->Read(n, options, result, scratch, debug);
    left_ -= status.ok() ? result->size() : 0;
    return status;
  }
  IOStatus Skip(std::uint64_t n) override {
    n = std::min(n, left_);
    left_ -= n;
    return target()->Skip(n);
  }

 private:
  std::uint64_t left_;
};

class SealingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit SealingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target)
      : rocksdb::FileSystemWrapper(target) {}

  const char* Name() const override { return "tsdb-sealed-tables"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
                           IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (status.ok() && IsTable(path)) {
      *file = std::make_unique<SealedWriter>(path, std::move(*file));
    }
    return status;
  }
  // ReopenWritableFile passes: RocksDB opens a table again only to sync it.

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewRandomAccessFile(path, options, file, debug);
    if (!status.ok() || !IsTable(path)) {
      return status;
    }
    Seal seal;
    status = ReadSeal(path, **file, &seal, debug);
    if (!status.ok()) {
      file->reset();
      return status;
    }
    *file = std::make_unique<SealedReader>(path, std::move(*file), seal);
    return status;
  }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewSequentialFile(path, options, file, debug);
    std::uint64_t bytes = 0;
    if (!status.ok() || !IsTable(path)) {
      return status;
    }
    status = GetFileSize(path, options.io_options, &bytes, debug);
    if (!status.ok()) {
      file->reset();
      return status;
    }
    *file = std::make_unique<SealedSequence>(std::move(*file), bytes);
    return status;
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, std::uint64_t* bytes,
                       IODebugContext* debug) override {
    IOStatus status = target()->GetFileSize(path, options, bytes, debug);
    if (status.ok() && IsTable(path)) {
      // Of one that is shorter than a seal its opening says what is wrong.
      *bytes -= std::min<std::uint64_t>(*bytes, kSealBytes);
    }
    return status;
  }

 private:
  IOStatus ReadSeal(const std::string& path, const FSRandomAccessFile& file, Seal* seal, IODebugContext* debug) {
    std::uint64_t bytes = 0;
    if (IOStatus status = target()->GetFileSize(path, IOOptions(), &bytes, debug); !status.ok()) {
      return status;
    }
    char buffer[kSealBytes];
    Slice read;
    if (bytes >= kSealBytes) {
      if (IOStatus status = file.Read(bytes - kSealBytes, kSealBytes, IOOptions(), &read, buffer, debug);
          !status.ok()) {
        return status;
      }
    }
    if (read.size() != kSealBytes || !Decode(View(read), bytes, seal)) {
      return Damaged(path, "the table has no seal, or a damaged one");
    }
    return IOStatus::OK();
  }
};

}  // namespace

rocksdb::Env* SealingEnv() {
  // Never destroyed: databases may be closed by destructors of other static objects.
  static rocksdb::Env* const env =
      rocksdb::NewCompositeEnv(std::make_shared<SealingFileSystem>(rocksdb::FileSystem::Default())).release();
  return env;
}

}  // namespace tsdb::index
