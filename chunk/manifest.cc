#include "chunk/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>

#include "base/safeguard.h"
#include "chunk/manifest_codec.h"
#include "chunk/manifest_log.h"

namespace tsdb::chunk {

namespace {

constexpr std::string_view kCurrent = "CURRENT";
constexpr std::string_view kManifestFolder = "manifest";
constexpr std::uint64_t kRewriteBytesMin = 1 << 20;

/// What a manifest file held.
struct Loaded {
  std::uint64_t number = 0;
  ManifestState state;
  ManifestScan scan;
  std::uint64_t bytes = 0;
  std::uint64_t state_bytes = 0;  // of the first frame
};

Status At(const std::string& path, const Status& status) {
  return status.ok() ? Status() : Status(status.code(), path + std::string(status.message()));
}

Result<std::uint64_t> ReadCurrent(FileSystem& fs, const std::string& database_path) {
  const std::string path = JoinPath(database_path, kCurrent);
  auto content = ReadFile(fs, path, 4096);
  if (content.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(database_path + ": no database here (no file CURRENT)");
  }
  TSDB_RETURN_IF_ERROR(content.status());
  auto number = DecodeCurrent(*content);
  TSDB_RETURN_IF_ERROR(At(path, number.status()));
  return number;
}

Status LoadFile(FileSystem& fs, const std::string& path, std::uint64_t number, Loaded* loaded) {
  TSDB_ASSIGN_OR_RETURN(const std::string file, ReadFile(fs, path, kManifestBytesMax));
  auto header_number = DecodeManifestHeader(file);
  TSDB_RETURN_IF_ERROR(At(path, header_number.status()));
  if (*header_number != number) {
    return Status::Corruption(fmt::format("{}@16: the file is manifest {}", path, *header_number));
  }
  bool first = true;
  auto scan = ScanManifest(file, number, [&](const ManifestFrame& frame) -> Status {
    if (frame.record.empty()) {
      return first ? Status::Corruption(fmt::format("@{}: a seal without an edit", frame.offset)) : Status();
    }
    ManifestRecord record;
    Status status = DecodeRecord(frame.record, &record);
    if (status.ok() && record.whole_state != first) {
      status = Status::Corruption("a whole state must be the first edit, and only it");
    }
    if (status.ok()) {
      status = ApplyRecord(record, &loaded->state);
    }
    if (first) {
      loaded->state_bytes = frame.record.size();
    }
    first = false;
    return status.WithContext(fmt::format("@{}", frame.offset));
  });
  TSDB_RETURN_IF_ERROR(At(path, scan.status()));
  if (first) {
    // CURRENT names a manifest only after its state is synced.
    return Status::Corruption(fmt::format("{}@{}: no valid state: restore a backup", path, kManifestHeaderBytes));
  }
  loaded->number = number;
  loaded->scan = *std::move(scan);
  loaded->bytes = file.size();
  return {};
}

/// Reads the manifest CURRENT names. A writer may replace both meanwhile: then once more.
Result<Loaded> LoadCurrent(FileSystem& fs, const std::string& database_path) {
  TSDB_ASSIGN_OR_RETURN(std::uint64_t number, ReadCurrent(fs, database_path));
  for (;;) {
    const std::string path = JoinPath(database_path, ManifestFileName(number));
    Loaded loaded;
    Status status;
    try {
      status = LoadFile(fs, path, number, &loaded);
    } catch (const std::bad_alloc&) {
      status = Status::OutOfMemory(path + ": no memory to read it");
    }
    if (status.ok()) {
      return loaded;
    }
    TSDB_ASSIGN_OR_RETURN(const std::uint64_t number_now, ReadCurrent(fs, database_path));
    if (number_now == number) {
      if (status.code() == StatusCode::kNotFound) {
        return Status::Corruption(path + ": missing, but CURRENT names it: restore a backup");
      }
      return status;
    }
    number = number_now;
  }
}

/// The number after the highest of all files in manifest/, leftovers of failed attempts included.
Result<std::uint64_t> NextManifestNumber(FileSystem& fs, const std::string& database_path) {
  TSDB_ASSIGN_OR_RETURN(const auto entries, fs.List(JoinPath(database_path, kManifestFolder)));
  std::uint64_t highest = 0;
  for (const DirectoryEntry& entry : entries) {
    std::uint64_t number = 0;
    const char* const end = entry.name.data() + entry.name.size();
    if (std::from_chars(entry.name.data(), end, number).ptr == end && number != UINT64_MAX) {
      highest = std::max(highest, number);
    }
  }
  return highest + 1;
}

/// Nothing in the folder would tell that this edit is missing: no file that nobody names is left without it. So it must
/// not stand at the end of a file, where it can be cut off exactly.
bool OnlyTakesAway(const ManifestEdit& edit) {
  const bool adds = !edit.added_chunk_files.empty() || !edit.added_catalogue_files.empty();
  return !adds && (!edit.removed_chunk_files.empty() || !edit.removed_catalogue_files.empty() ||
                   !edit.added_tombstones.empty() || edit.settings || edit.drops || edit.retention);
}

class ManifestImpl final : public Manifest {
 public:
  ManifestImpl(FileSystem& fs, std::string database_path) : fs_(fs), database_path_(std::move(database_path)) {}

  const ManifestState& state() const override { return state_; }
  std::string file_name() const override { return ManifestFileName(number_); }

  Status Append(const ManifestEdit& edit) override {
    try {
      ManifestState next = state_;
      TSDB_RETURN_IF_ERROR(ApplyEdit(edit, &next).WithContext(file_name()));
      const std::string record = EncodeEdit(edit);
      if (record.empty()) {
        return {};
      }
      const bool too_large = bytes_ > kRewriteBytesMin && bytes_ > 2 * EncodeState(next).size();
      const bool anew = file_ == nullptr || too_large || OnlyTakesAway(edit);
      TSDB_RETURN_IF_ERROR(anew ? Rewrite(next) : AppendRecord(record));
      state_ = std::move(next);
      return {};
    } catch (const std::bad_alloc&) {
      file_ = nullptr;  // what it holds now is unknown, as after an error
      return Status::OutOfMemory("no memory");
    }
  }

  /// Writes `state` into a new manifest and makes it the current one.
  Status Rewrite(const ManifestState& state) {
    file_ = nullptr;
    TSDB_ASSIGN_OR_RETURN(const std::uint64_t number, NextManifestNumber(fs_, database_path_));
    const std::string path = JoinPath(database_path_, ManifestFileName(number));
    std::string content = EncodeManifestHeader(number);
    AppendFrame(EncodeState(state), number, content.size(), &content);
    TSDB_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, fs_.OpenWritable(path, OpenMode::kCreate));
    TSDB_RETURN_IF_ERROR(file->Append(content));
    TSDB_RETURN_IF_ERROR(TSDB_SYNC("manifest/new-bytes", file->Sync()));
    TSDB_RETURN_IF_ERROR(
        TSDB_SYNC("manifest/new-folder", fs_.SyncDirectory(JoinPath(database_path_, kManifestFolder))));
    TSDB_RETURN_IF_ERROR(
        WriteFileAtomically(fs_, JoinPath(database_path_, kCurrent), EncodeCurrent(number)));
    const std::uint64_t old_number = number_;
    number_ = number;
    bytes_ = content.size();
    file_ = std::move(file);
    Seal();
    if (old_number != 0) {
      // A leftover does no harm and is removed with the other orphans.
      static_cast<void>(fs_.RemoveFile(JoinPath(database_path_, ManifestFileName(old_number))));
    }
    return {};
  }

  /// Continues a file that ends with a seal.
  Status Continue(Loaded loaded) {
    number_ = loaded.number;
    bytes_ = loaded.bytes;
    state_ = std::move(loaded.state);
    if (!loaded.scan.sealed) {
      return Rewrite(state_);
    }
    TSDB_ASSIGN_OR_RETURN(
        file_, fs_.OpenWritable(JoinPath(database_path_, ManifestFileName(number_)), OpenMode::kAppend));
    return {};
  }

  void SetState(const ManifestState& state) { state_ = state; }

 private:
  Status AppendRecord(const std::string& record) {
    std::string frame;
    AppendFrame(record, number_, bytes_, &frame);
    Status status = file_->Append(frame);
    if (status.ok()) {
      status = TSDB_SYNC("manifest/edit", file_->Sync());
    }
    if (!status.ok()) {
      // What the file holds now is unknown: nothing is appended to it again.
      file_ = nullptr;
      return status;
    }
    bytes_ += frame.size();
    Seal();
    return {};
  }

  /// Says that everything so far is synced. The edit is durable without it: when this fails, the next edit goes into a
  /// new file.
  void Seal() {
    std::string seal;
    AppendFrame({}, number_, bytes_, &seal);
    if (!file_->Append(seal).ok()) {
      file_ = nullptr;
      return;
    }
    bytes_ += seal.size();
  }

  FileSystem& fs_;
  const std::string database_path_;
  ManifestState state_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<WritableFile> file_;  // null: the next edit goes into a new file
};

}  // namespace

Result<std::unique_ptr<Manifest>> Manifest::Create(FileSystem& fs, const std::string& database_path,
                                                   const ManifestState& initial) {
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(JoinPath(database_path, kCurrent)));
  if (exists) {
    return Status::AlreadyExists(database_path + ": there is a database already");
  }
  for (const std::string_view folder : {kManifestFolder, std::string_view("chunks"), std::string_view("catalogue")}) {
    const std::string path = JoinPath(database_path, folder);
    TSDB_RETURN_IF_ERROR(fs.CreateDirectories(path));
  }
  TSDB_RETURN_IF_ERROR(TSDB_SYNC("create/database", fs.SyncDirectory(database_path)));
  TSDB_RETURN_IF_ERROR(TSDB_SYNC("create/parent", fs.SyncDirectory(ParentPath(database_path))));
  auto manifest = std::make_unique<ManifestImpl>(fs, database_path);
  manifest->SetState(initial);
  TSDB_RETURN_IF_ERROR(manifest->Rewrite(initial));
  return std::unique_ptr<Manifest>(std::move(manifest));
}

Result<std::unique_ptr<Manifest>> Manifest::Open(FileSystem& fs, const std::string& database_path,
                                                 std::vector<std::string>* notes) {
  TSDB_ASSIGN_OR_RETURN(Loaded loaded, LoadCurrent(fs, database_path));
  if (!loaded.scan.torn.empty() && notes != nullptr) {
    notes->push_back(ManifestFileName(loaded.number) + loaded.scan.torn + ": cut off");
  }
  if (loaded.scan.lost_seal != 0 && notes != nullptr) {
    notes->push_back(fmt::format("{}@{}: the seal of an edit is missing; no edit is lost",
                                 ManifestFileName(loaded.number), loaded.scan.lost_seal));
  }
  // A process that died right after replacing CURRENT may have left its entry unsynced; it had not sealed the new
  // manifest then, which is therefore written anew, and CURRENT with it.
  auto manifest = std::make_unique<ManifestImpl>(fs, database_path);
  TSDB_RETURN_IF_ERROR(manifest->Continue(std::move(loaded)));
  return std::unique_ptr<Manifest>(std::move(manifest));
}

Result<std::string> Manifest::CurrentPath(FileSystem& fs, const std::string& database_path) {
  TSDB_ASSIGN_OR_RETURN(const std::uint64_t number, ReadCurrent(fs, database_path));
  return JoinPath(database_path, ManifestFileName(number));
}

Result<ManifestState> Manifest::Load(FileSystem& fs, const std::string& database_path) {
  TSDB_ASSIGN_OR_RETURN(Loaded loaded, LoadCurrent(fs, database_path));
  return std::move(loaded.state);
}

Status Manifest::Replace(FileSystem& fs, const std::string& database_path, const ManifestState& state) {
  TSDB_RETURN_IF_ERROR(fs.CreateDirectories(JoinPath(database_path, kManifestFolder)));
  return ManifestImpl(fs, database_path).Rewrite(state);
}

std::string ChunkFileName(std::uint64_t number) { return fmt::format("chunks/{:06}.chunk", number); }
std::string CatalogueFileName(std::uint64_t number) { return fmt::format("catalogue/{:06}.catalogue", number); }
std::string ManifestFileName(std::uint64_t number) { return fmt::format("manifest/{:06}", number); }

}  // namespace tsdb::chunk
