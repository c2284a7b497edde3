// Each sync and each checksum check can be left out (base/safeguard.h), and something here fails without it.
#include "base/safeguard.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "tests/crash/byte_flips.h"
#include "tests/crash/walk.h"
#include "wal/replay.h"

namespace tsdb::engine {
namespace {

using CutMode = MemoryFileSystem::CutMode;
/// What goes wrong, or nothing.
using Scenario = std::string (*)();

std::string PowerCuts() {
  std::uint64_t operations = 0;
  return WalkPowerCuts(6, /*manifest_fails=*/false, &operations);
}

std::string PowerCutsAroundANewManifest() {
  std::uint64_t operations = 0;
  return WalkPowerCuts(6, /*manifest_fails=*/true, &operations);
}

/// The entry of the database's folder in the folder above is durable once it is created.
std::string CreateAndCut() {
  MemoryFileSystem fs;
  if (auto manifest = chunk::Manifest::Create(fs, "/db", {}); !manifest.ok()) {
    return manifest.status().ToString();
  }
  const auto after = fs.AfterPowerCut(CutMode::kDropUnsynced);
  const auto state = chunk::Manifest::Load(*after, "/db");
  return state.ok() ? "" : state.status().ToString();
}

/// An open that writes the manifest anew is killed at each operation; what the next one appends is durable.
std::string BuildOnAManifestWhoseWriterWasKilled() {
  MemoryFileSystem created;
  if (auto manifest = chunk::Manifest::Create(created, "/db", {}); !manifest.ok()) {
    return manifest.status().ToString();
  }
  // Without its seal it may not be appended to.
  const std::string bytes = *created.ReadWhole("/db/manifest/000001");
  created.WriteWhole("/db/manifest/000001", bytes.substr(0, bytes.size() - 8));
  for (std::uint64_t stop = 1; stop < 20; ++stop) {
    const auto fs = created.Clone();
    fs->StopAt(stop);
    static_cast<void>(chunk::Manifest::Open(*fs, "/db", nullptr));
    fs->StopAt(0);
    auto manifest = chunk::Manifest::Open(*fs, "/db", nullptr);
    chunk::ManifestEdit edit;
    edit.last_commit = {77};
    const Status status = manifest.ok() ? (*manifest)->Append(edit) : manifest.status();
    if (!status.ok()) {
      return status.ToString();
    }
    const auto after = fs->AfterPowerCut(CutMode::kDropUnsynced);
    const auto state = chunk::Manifest::Load(*after, "/db");
    if (!state.ok() || state->last_commit != edit.last_commit) {
      return "the edit is lost";
    }
  }
  return "";
}

/// Someone removed the empty folder of chunk files; a flush makes it again.
std::string FlushIntoANewFolder() {
  MemoryFileSystem fs;
  FakeClock clock;
  auto db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
  if (!db.ok() || !fs.RemoveAll("/db/chunks").ok() || !fs.SyncDirectory("/db").ok()) {
    return "preparation failed";
  }
  const auto ref = (*db)->CreateSeries(Series("m"));
  if (!ref.ok() || !Put(**db, *ref, 1, 1).ok()) {
    return "preparation failed";
  }
  if (Status status = (*db)->Flush(); !status.ok()) {
    return status.ToString();
  }
  const Contents expected = ReadAll(**db);
  const auto after = fs.AfterPowerCut(CutMode::kDropUnsynced);
  db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(after.get(), &clock));
  const auto found = db.ok() ? TryReadAll(**db) : Result<Contents>(db.status());
  return !found.ok() ? found.status().ToString() : Difference(*found, expected);
}

/// Remembers the highest commit.
class LastCommit final : public wal::ReplayVisitor {
 public:
  Status OnCommit(CommitNumber commit, std::int64_t) override {
    last = commit;
    return Status::Ok();
  }
  Status OnDefinition(const SeriesDefinition&) override { return Status::Ok(); }
  Status OnPuts(std::span<const wal::Put>) override { return Status::Ok(); }

  CommitNumber last;
};

Status WriteOne(wal::Log& log, Durability durability) {
  wal::RecordBuilder builder;
  const std::vector<wal::Put> puts = {{{1}, 1, 1}};
  builder.AddPuts(puts);
  wal::LogRecord record;
  record.payload = builder.payload();
  return log.Enqueue(&record, durability, log.epoch()) ? log.Write(&record) : Status::Internal("refused");
}

/// Commit 3 failed with all its bytes in the first segment; the second segment's header makes it void. Both segments
/// are removed, with the power cut `stop` operations later: the second must not go first.
std::string RemoveSegmentsOfAVoidCommit(std::uint64_t stop) {
  MemoryFileSystem fs;
  FakeClock clock;
  wal::LogOptions options;
  options.sync_interval_ms = 0;
  auto log = wal::Log::Open(fs, clock, "/wal", options);
  if (!log.ok() || !WriteOne(**log, Durability::kNone).ok() || !WriteOne(**log, Durability::kNone).ok()) {
    return "preparation failed";
  }
  fs.SetFault([](std::uint64_t, std::string_view operation, const std::string&) {
    return operation == "Sync" || operation == "OpenWritable" ? Status::IoError("told to fail") : Status::Ok();
  });
  const bool failed = !WriteOne(**log, Durability::kAlways).ok();
  fs.SetFault(nullptr);
  if (!failed || !(*log)->SyncNow().ok()) {
    return "preparation failed";
  }
  fs.StopAt(fs.operations() + stop);
  (void)(*log)->RemoveThrough({2}, true);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto after = fs.AfterPowerCut(CutMode::kRandom, seed);
    wal::ReplayOptions replay;
    replay.after = {2};
    replay.synced = {2};
    LastCommit visitor;
    const auto report = wal::Replay(*after, "/wal", replay, visitor);
    if (!report.ok()) {
      return report.status().ToString();
    }
    if (visitor.last.value != 0) {
      return "commit " + std::to_string(visitor.last.value) + " failed and came back";
    }
  }
  return "";
}

std::string RemoveSegmentsOfAVoidCommitAtEachOperation() {
  for (std::uint64_t stop = 1; stop <= 5; ++stop) {
    if (std::string wrong = RemoveSegmentsOfAVoidCommit(stop); !wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

struct Safeguard {
  const char* name;
  Scenario scenario;
};

constexpr Safeguard kSafeguards[] = {
    {"atomic-file/bytes", PowerCuts},
    {"atomic-file/folder", PowerCutsAroundANewManifest},
    {"catalogue/block", FlipEveryByteOfACatalogue},
    {"catalogue/bytes", PowerCuts},
    {"catalogue/header", FlipEveryByteOfACatalogue},
    {"chunk-file/block", FlipEveryByteOfAChunkFile},
    {"chunk-file/bytes", PowerCuts},
    {"chunk-file/footer", FlipEveryByteOfAChunkFile},
    {"chunk-file/header", FlipEveryByteOfAChunkFile},
    {"chunk-file/index", FlipEveryByteOfAChunkFile},
    {"chunk-file/times", FlipEveryByteOfAChunkFile},
    {"chunk-file/values", FlipEveryByteOfAChunkFile},
    {"create/database", PowerCuts},
    {"create/parent", CreateAndCut},
    {"current/line", FlipEveryByteOfCurrent},
    {"manifest/edit", PowerCuts},
    {"manifest/frame", FlipEveryByteOfAManifest},
    {"manifest/header", FlipEveryByteOfAManifest},
    {"manifest/new-bytes", PowerCuts},
    {"manifest/new-folder", PowerCuts},
    {"output/folders", PowerCuts},
    {"output/new-folder", FlushIntoANewFolder},
    {"wal/folder-entry", PowerCuts},
    {"wal/frame-header", FlipEveryByteOfASegment},
    {"wal/frames", PowerCuts},
    {"wal/new-bytes", PowerCuts},
    {"wal/new-folder", PowerCuts},
    {"wal/open-bytes", WalkKills},
    {"wal/open-folder", WalkKills},
    {"wal/payload", FlipEveryByteOfASegment},
    {"wal/removed", RemoveSegmentsOfAVoidCommitAtEachOperation},
    {"wal/removed-last", PowerCuts},
    {"wal/segment-header", FlipEveryByteOfASegment},
};

class SafeguardTest : public testing::TestWithParam<Safeguard> {};

TEST_P(SafeguardTest, SomethingFailsWithoutIt) {
#if defined(NDEBUG)
  GTEST_SKIP() << "safeguards cannot be switched off in this build";
#else
  SwitchSafeguardOff(GetParam().name);
  const std::string wrong = GetParam().scenario();
  SwitchSafeguardOff(nullptr);
  EXPECT_NE(wrong, "") << GetParam().name << " is left out and nothing sees it";
  RecordProperty("seen_as", wrong);
#endif
}

INSTANTIATE_TEST_SUITE_P(Each, SafeguardTest, testing::ValuesIn(kSafeguards), [](const auto& row) {
  std::string name = row.param.name;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
});

// Without one left out none of the scenarios finds anything; those of the crash walk and of the byte flips are tests of
// their own.
TEST(Safeguards, WithAllOfThemNothingFails) {
  EXPECT_EQ(CreateAndCut(), "");
  EXPECT_EQ(BuildOnAManifestWhoseWriterWasKilled(), "");
  EXPECT_EQ(FlushIntoANewFolder(), "");
  EXPECT_EQ(RemoveSegmentsOfAVoidCommitAtEachOperation(), "");
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

const std::filesystem::path kRoot = std::filesystem::path(TSDB_TEST_SOURCE_DIR).parent_path();

std::set<std::string> NamesIn(const std::string& text, const char* pattern) {
  std::set<std::string> names;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it) {
    names.insert((*it)[1]);
  }
  return names;
}

std::set<std::string> Listed() {
  std::set<std::string> names;
  for (const Safeguard& safeguard : kSafeguards) {
    names.insert(safeguard.name);
  }
  return names;
}

TEST(Safeguards, TheListHereTheCodeAndTheDocumentAgree) {
  std::set<std::string> in_code;
  for (const char* folder : {"base", "chunk", "wal", "compaction"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".cc" || name.starts_with("memory_") || name == "posix_file_system.cc") {
        continue;
      }
      const std::string text = ReadText(entry.path());
      in_code.merge(NamesIn(text, "TSDB_(?:SYNC|MISMATCH)\\(\\s*\"([^\"]+)\""));
      // A sync of a file or folder without a name is one that no test can leave out.
      const std::regex unnamed("(?:->|\\.)(?:SyncDirectory|Sync)\\(");
      const std::regex named("TSDB_SYNC\\(\\s*\"[^\"]+\",\\s*[a-z_]+(?:->|\\.)(?:SyncDirectory|Sync)\\(");
      const auto count = [&](const std::regex& regex) {
        return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator());
      };
      const std::ptrdiff_t own = name == "log.cc" ? 1 : 0;  // LogWriter::Sync, no call of a file
      EXPECT_EQ(count(unnamed) - own, count(named)) << entry.path() << ": a sync without TSDB_SYNC";
    }
  }
  EXPECT_EQ(in_code, Listed());
  const std::string document = ReadText(kRoot / "docs" / "reliability.md");
  EXPECT_EQ(NamesIn(document, "\\n\\| `([a-z-]+/[a-z-]+)` \\|"), Listed());
}

}  // namespace
}  // namespace tsdb::engine
