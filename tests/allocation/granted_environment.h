// GrantedEnvironment: an environment in memory whose file system and index find memory always: they stand in for the
// operating system and RocksDB. Taking a definition into the index may fail: that part is ours.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "tests/allocation/failing_allocator.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::allocation_test {

class GrantedWritable final : public WritableFile {
 public:
  explicit GrantedWritable(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}
  ~GrantedWritable() override {
    const Grant grant;
    file_.reset();
  }
  Status Append(std::string_view data) override {
    const Grant grant;
    return file_->Append(data);
  }
  Status Sync() override {
    const Grant grant;
    return file_->Sync();
  }
  Status Reserve(std::uint64_t size) override {
    const Grant grant;
    return file_->Reserve(size);
  }
  Status ReleaseReserved() override {
    const Grant grant;
    return file_->ReleaseReserved();
  }
  Status Close() override {
    const Grant grant;
    return file_->Close();
  }
  std::uint64_t size() const override { return file_->size(); }

 private:
  std::unique_ptr<WritableFile> file_;
};

class GrantedFileSystem final : public FileSystem {
 public:
  explicit GrantedFileSystem(MemoryFileSystem& under) : under_(under) {}

  Result<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, OpenMode mode) override {
    const Grant grant;
    TSDB_ASSIGN_OR_RETURN(auto file, under_.OpenWritable(path, mode));
    return std::unique_ptr<WritableFile>(std::make_unique<GrantedWritable>(std::move(file)));
  }
  Result<std::unique_ptr<RandomReadFile>> OpenReadable(const std::string& path) override {
    const Grant grant;
    return under_.OpenReadable(path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    const Grant grant;
    return under_.Rename(from, to);
  }
  Status RemoveFile(const std::string& path) override {
    const Grant grant;
    return under_.RemoveFile(path);
  }
  Status RemoveAll(const std::string& path) override {
    const Grant grant;
    return under_.RemoveAll(path);
  }
  Status CreateDirectories(const std::string& path) override {
    const Grant grant;
    return under_.CreateDirectories(path);
  }
  Status SyncDirectory(const std::string& path) override {
    const Grant grant;
    return under_.SyncDirectory(path);
  }
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override {
    const Grant grant;
    return under_.List(path);
  }
  Result<bool> Exists(const std::string& path) override {
    const Grant grant;
    return under_.Exists(path);
  }
  Result<std::uint64_t> FileSize(const std::string& path) override {
    const Grant grant;
    return under_.FileSize(path);
  }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    const Grant grant;
    return under_.Lock(path);
  }
  Result<std::uint64_t> FreeBytes(const std::string& path) override {
    const Grant grant;
    return under_.FreeBytes(path);
  }

 private:
  MemoryFileSystem& under_;
};

class GrantedIndex final : public index::SeriesIndex {
 public:
  GrantedIndex() {
    const Grant grant;
    under_ = index::NewMemoryIndex();
  }
  Result<std::vector<std::optional<SeriesDefinition>>> FindByLabels(std::span<const Labels* const> sets) override {
    const Grant grant;
    return under_->FindByLabels(sets);
  }
  Result<std::optional<SeriesDefinition>> FindByKey(std::string_view key) override {
    const Grant grant;
    return under_->FindByKey(key);
  }
  Result<std::vector<std::optional<SeriesDefinition>>> FindByIds(std::span<const SeriesId> ids) override {
    const Grant grant;
    return under_->FindByIds(ids);
  }
  Result<std::vector<SeriesId>> Select(const Selector& selector) override {
    const Grant grant;
    return under_->Select(selector);
  }
  Result<std::vector<std::string>> LabelNames(std::string_view prefix, std::uint64_t limit) override {
    const Grant grant;
    return under_->LabelNames(prefix, limit);
  }
  Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix,
                                               std::uint64_t limit) override {
    const Grant grant;
    return under_->LabelValues(name, prefix, limit);
  }
  Result<std::uint64_t> Count() override { return under_->Count(); }
  void Apply(const SeriesDefinition& definition) override {
    if (AllocationFails()) {
      throw std::bad_alloc();
    }
    const Grant grant;
    under_->Apply(definition);
  }
  Status Persist(CommitNumber commit) override {
    const Grant grant;
    return under_->Persist(commit);
  }
  void VisitChanges(const std::function<void(const SeriesDefinition&)>& visit) const override {
    const Grant grant;
    under_->VisitChanges(visit);
  }
  CommitNumber applied_commit() const override { return under_->applied_commit(); }
  std::uint64_t memory_bytes() const override { return under_->memory_bytes(); }
  Status Close() override {
    const Grant grant;
    return under_->Close();
  }

 private:
  std::unique_ptr<index::SeriesIndex> under_;
};

inline engine::Environment GrantedEnvironment(FileSystem* fs, Clock* clock) {
  engine::Environment environment;
  environment.fs = fs;
  environment.clock = clock;
  environment.open_index = [](const std::string&, const index::IndexOptions&,
                              bool* rebuilt) -> Result<std::unique_ptr<index::SeriesIndex>> {
    *rebuilt = false;
    const Grant grant;
    return std::unique_ptr<index::SeriesIndex>(std::make_unique<GrantedIndex>());
  };
  return environment;
}

}  // namespace tsdb::allocation_test
