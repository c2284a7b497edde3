#include "base/memory_tree.h"

#include <algorithm>
#include <utility>

namespace tsdb {

namespace {

constexpr std::uint64_t kSectorBytes = 512;

// SplitMix64: small, and the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  Random(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
    state_ = Next() ^ (stream * 0xD1342543DE82EF95ull);
  }
  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  std::uint64_t Below(std::uint64_t n) { return Next() % n; }
  bool Coin() { return (Next() & 1) != 0; }

 private:
  std::uint64_t state_;
};

// Spoils sectors of [begin, end): as written, zero, or garbage; never a byte outside.
void TearSectors(std::uint64_t begin, std::uint64_t end, std::string* bytes, Random* random) {
  for (std::uint64_t at = begin - begin % kSectorBytes; at < end; at += kSectorBytes) {
    const std::uint64_t kind = random->Below(3);
    const std::uint64_t sector_end = std::min(at + kSectorBytes, end);
    for (std::uint64_t i = std::max(at, begin); kind != 0 && i < sector_end; ++i) {
      (*bytes)[static_cast<std::size_t>(i)] = kind == 1 ? '\0' : static_cast<char>(random->Next());
    }
  }
}

void Zero(const ByteSpan& span, std::string* bytes) {
  const std::uint64_t end = std::min<std::uint64_t>(span.end, bytes->size());
  if (span.begin < end) {
    std::fill(bytes->begin() + static_cast<std::ptrdiff_t>(span.begin),
              bytes->begin() + static_cast<std::ptrdiff_t>(end), '\0');
  }
}

// A random length of what was not synced, its last part possibly torn.
void KeepPrefix(const MemoryFile& file, std::string* bytes, Random* random) {
  bytes->resize(static_cast<std::size_t>(file.synced + random->Below(bytes->size() - file.synced + 1)));
  if (bytes->size() > file.synced && random->Coin()) {
    const std::uint64_t from = file.synced + random->Below(bytes->size() - file.synced);
    TearSectors(std::max(file.synced, from - from % kSectorBytes), bytes->size(), bytes, random);
  }
}

// Any subset of the writes, in any order: one that did not survive reads as zeros when a later one did. The length may
// be of any of them, whether its bytes are there or not.
void KeepSubset(const MemoryFile& file, std::string* bytes, Random* random) {
  std::uint64_t length = file.synced;
  for (const ByteSpan& write : file.unsynced) {
    const bool keep = random->Coin();
    if (!keep) {
      Zero(write, bytes);
    } else if (random->Below(4) == 0) {
      TearSectors(write.begin, write.end, bytes, random);
    }
    if (keep || random->Below(4) == 0) {
      length = write.end;
    }
  }
  bytes->resize(static_cast<std::size_t>(length));
  // Space that was reserved may show as zeros behind the end.
  if (file.reserved > length && random->Below(4) == 0) {
    bytes->resize(static_cast<std::size_t>(length + random->Below(file.reserved - length + 1)), '\0');
  }
}

std::string RandomBytes(const MemoryFile& file, Random random) {
  if (file.replaced && random.Coin()) {
    return *file.replaced;
  }
  std::string bytes = file.bytes;
  for (const ByteSpan& span : file.lost) {
    if (random.Coin()) {
      TearSectors(span.begin, span.end, &bytes, &random);
    } else {
      Zero(span, &bytes);
    }
  }
  if (bytes.size() > file.synced && random.Coin()) {
    KeepPrefix(file, &bytes, &random);
  } else {
    KeepSubset(file, &bytes, &random);
  }
  return bytes;
}

// Nothing but what is certain.
std::string DurableBytes(const MemoryFile& file) {
  if (file.replaced) {
    return *file.replaced;
  }
  std::string bytes = file.bytes.substr(0, static_cast<std::size_t>(file.synced));
  for (const ByteSpan& span : file.lost) {
    Zero(span, &bytes);
  }
  return bytes;
}

class TreeCopier {
 public:
  std::shared_ptr<MemoryDirectory> Copy(const MemoryDirectory& from) {
    const auto [at, is_new] = directories_.try_emplace(&from, nullptr);
    if (!is_new) {
      return at->second;
    }
    const auto to = std::make_shared<MemoryDirectory>();
    at->second = to;
    to->entries = Copy(from.entries);
    to->durable_entries = Copy(from.durable_entries);
    for (const MemoryChange& change : from.pending) {
      MemoryChange copy = change;
      copy.node = Copy(change.node);
      const auto peer = change.peer.lock();
      copy.peer = peer ? Copy(*peer) : nullptr;  // directories_ owns it until the walk reaches it
      to->pending.push_back(std::move(copy));
    }
    return to;
  }

 private:
  MemoryEntries Copy(const MemoryEntries& from) {
    MemoryEntries to;
    for (const auto& [name, node] : from) {
      to.emplace(name, Copy(node));
    }
    return to;
  }
  MemoryNode Copy(const MemoryNode& from) {
    MemoryNode to;
    to.number = from.number;
    if (from.file) {
      auto& file = files_[from.file.get()];
      if (file == nullptr) {
        file = std::make_shared<MemoryFile>(*from.file);
      }
      to.file = file;
    } else if (from.directory) {
      to.directory = Copy(*from.directory);
    }
    return to;
  }

  std::unordered_map<const MemoryFile*, std::shared_ptr<MemoryFile>> files_;
  std::unordered_map<const MemoryDirectory*, std::shared_ptr<MemoryDirectory>> directories_;
};

class TreeCutter {
 public:
  TreeCutter(MemoryFileSystem::CutMode mode, std::uint64_t seed) : mode_(mode), seed_(seed) {}

  std::shared_ptr<MemoryDirectory> Cut(const MemoryDirectory& from) {
    auto to = std::make_shared<MemoryDirectory>();
    for (const auto& [name, node] : Surviving(from)) {
      MemoryNode copy;
      copy.number = node.number;
      if (node.file) {
        copy.file = CutFile(node);
      } else {
        copy.directory = Cut(*node.directory);
      }
      to->entries.emplace(name, std::move(copy));
    }
    to->durable_entries = to->entries;
    return to;
  }

 private:
  MemoryEntries Surviving(const MemoryDirectory& from) const {
    if (mode_ == MemoryFileSystem::CutMode::kKeepUnsynced) {
      return from.entries;
    }
    MemoryEntries entries = from.durable_entries;
    if (mode_ == MemoryFileSystem::CutMode::kRandom) {
      for (const MemoryChange& change : from.pending) {
        // By the number of the operation: both sides of a rename between directories fare alike.
        if (Random(seed_, change.number).Coin()) {
          ApplyChange(change, &entries);
        }
      }
    }
    return entries;
  }

  std::shared_ptr<MemoryFile> CutFile(const MemoryNode& node) {
    auto& file = files_[node.file.get()];  // two names of one file stay one file
    if (file == nullptr) {
      file = std::make_shared<MemoryFile>();
      file->bytes = SurvivingBytes(node);
      file->synced = file->bytes.size();
    }
    return file;
  }

  std::string SurvivingBytes(const MemoryNode& node) const {
    const MemoryFile& file = *node.file;
    switch (mode_) {
      case MemoryFileSystem::CutMode::kKeepUnsynced: return file.bytes;
      case MemoryFileSystem::CutMode::kRandom: return RandomBytes(file, Random(seed_, ~node.number));
      case MemoryFileSystem::CutMode::kDropUnsynced: break;
    }
    return DurableBytes(file);
  }

  const MemoryFileSystem::CutMode mode_;
  const std::uint64_t seed_;
  std::unordered_map<const MemoryFile*, std::shared_ptr<MemoryFile>> files_;
};

}  // namespace

void MemoryFile::Append(std::string_view data) {
  if (!data.empty()) {
    unsynced.push_back({bytes.size(), bytes.size() + data.size()});
    bytes.append(data);
  }
}

void MemoryFile::Truncate() {
  if (!replaced) {
    replaced = DurableBytes(*this);
  }
  bytes.clear();
  synced = 0;
  reserved = 0;
  unsynced.clear();
  lost.clear();
}

void MemoryFile::Sync() {
  synced = bytes.size();
  replaced.reset();
  unsynced.clear();
}

void MemoryFile::FailSync() {
  if (bytes.size() > synced) {
    lost.push_back({synced, bytes.size()});
  }
}

void ApplyChange(const MemoryChange& change, MemoryEntries* entries) {
  if (!change.removed.empty()) {
    entries->erase(change.removed);
  }
  if (!change.set.empty()) {
    (*entries)[change.set] = change.node;
  }
}

void DoChange(MemoryDirectory* directory, MemoryChange change) {
  ApplyChange(change, &directory->entries);
  directory->pending.push_back(std::move(change));
}

void MemoryDirectory::Sync() {
  for (const MemoryChange& change : pending) {
    const auto other = change.peer.lock();
    if (other == nullptr) {
      continue;
    }
    auto& theirs = other->pending;
    const auto same = std::find_if(theirs.begin(), theirs.end(),
                                   [&](const MemoryChange& c) { return c.number == change.number; });
    if (same == theirs.end()) {
      continue;
    }
    // Durable now; what was pending for the name before it is overtaken.
    ApplyChange(*same, &other->durable_entries);
    const std::string name = same->set.empty() ? same->removed : same->set;
    const std::uint64_t number = change.number;
    std::erase_if(theirs, [&](const MemoryChange& c) {
      return c.number == number || (c.number < number && c.removed.empty() && c.set == name) ||
             (c.number < number && c.set.empty() && c.removed == name);
    });
  }
  durable_entries = entries;
  pending.clear();
}

std::shared_ptr<MemoryDirectory> CopyTree(const MemoryDirectory& root) { return TreeCopier().Copy(root); }

std::shared_ptr<MemoryDirectory> CutTree(const MemoryDirectory& root, MemoryFileSystem::CutMode mode,
                                         std::uint64_t seed) {
  return TreeCutter(mode, seed).Cut(root);
}

}  // namespace tsdb
