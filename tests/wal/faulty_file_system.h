// FaultyFileSystem: hands everything to a MemoryFileSystem and lets chosen operations fail: without effect, half done,
// or done and reported as failed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"

namespace tsdb::wal {

struct Fault {
  enum class Effect : unsigned char { kNone, kHalf, kWhole };  // kHalf: of an Append; others: none
  Status status;
  Effect effect = Effect::kNone;
};

class FaultyFileSystem final : public FileSystem {
 public:
  /// Asked before every operation that writes; an OK status lets it run.
  using Plan = std::function<Fault(std::uint64_t number, std::string_view operation)>;

  explicit FaultyFileSystem(MemoryFileSystem& under) : under_(under) {}
  void set_plan(Plan plan) { plan_ = std::move(plan); }
  std::uint64_t operations() const { return operations_; }

  Result<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, OpenMode mode) override {
    const Fault fault = Next("OpenWritable");
    if (!fault.status.ok()) {
      if (fault.effect == Fault::Effect::kWhole) {
        (void)under_.OpenWritable(path, mode);
      }
      return fault.status;
    }
    TSDB_ASSIGN_OR_RETURN(auto file, under_.OpenWritable(path, mode));
    return std::unique_ptr<WritableFile>(std::make_unique<File>(*this, std::move(file)));
  }
  Result<std::unique_ptr<RandomReadFile>> OpenReadable(const std::string& path) override {
    return under_.OpenReadable(path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return Run("Rename", [&] { return under_.Rename(from, to); });
  }
  Status RemoveFile(const std::string& path) override {
    return Run("RemoveFile", [&] { return under_.RemoveFile(path); });
  }
  Status RemoveAll(const std::string& path) override { return under_.RemoveAll(path); }
  Status CreateDirectories(const std::string& path) override {
    return Run("CreateDirectories", [&] { return under_.CreateDirectories(path); });
  }
  Status SyncDirectory(const std::string& path) override {
    return Run("SyncDirectory", [&] { return under_.SyncDirectory(path); });
  }
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override { return under_.List(path); }
  Result<bool> Exists(const std::string& path) override { return under_.Exists(path); }
  Result<std::uint64_t> FileSize(const std::string& path) override { return under_.FileSize(path); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override { return under_.Lock(path); }
  Result<std::uint64_t> FreeBytes(const std::string& path) override { return under_.FreeBytes(path); }

 private:
  class File final : public WritableFile {
   public:
    File(FaultyFileSystem& fs, std::unique_ptr<WritableFile> file) : fs_(fs), file_(std::move(file)) {}
    Status Append(std::string_view data) override {
      const Fault fault = fs_.Next("Append");
      if (fault.status.ok()) {
        return file_->Append(data);
      }
      if (fault.effect != Fault::Effect::kNone) {
        (void)file_->Append(fault.effect == Fault::Effect::kHalf ? data.substr(0, data.size() / 2) : data);
      }
      return fault.status;
    }
    Status Sync() override {
      return fs_.Run("Sync", [&] { return file_->Sync(); });
    }
    Status Reserve(std::uint64_t size) override {
      return fs_.Run("Reserve", [&] { return file_->Reserve(size); });
    }
    Status ReleaseReserved() override { return file_->ReleaseReserved(); }
    Status Close() override { return file_->Close(); }
    std::uint64_t size() const override { return file_->size(); }

   private:
    FaultyFileSystem& fs_;
    std::unique_ptr<WritableFile> file_;
  };

  Fault Next(std::string_view operation) {
    ++operations_;
    return plan_ ? plan_(operations_, operation) : Fault{};
  }
  template <typename Do>
  Status Run(std::string_view operation, const Do& run) {
    const Fault fault = Next(operation);
    if (!fault.status.ok() && fault.effect != Fault::Effect::kWhole) {
      return fault.status;
    }
    Status status = run();
    return fault.status.ok() ? status : fault.status;
  }

  MemoryFileSystem& under_;
  Plan plan_;
  std::uint64_t operations_ = 0;
};

}  // namespace tsdb::wal
