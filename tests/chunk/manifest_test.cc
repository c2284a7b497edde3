#include "chunk/manifest.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "chunk/file_dump.h"
#include "chunk/manifest_codec.h"
#include "chunk/manifest_log.h"
#include "tests/chunk/damage.h"

namespace tsdb::chunk {
namespace {

constexpr MemoryFileSystem::CutMode kCutModes[] = {MemoryFileSystem::CutMode::kDropUnsynced,
                                                   MemoryFileSystem::CutMode::kKeepUnsynced,
                                                   MemoryFileSystem::CutMode::kRandom};

ManifestState InitialState() {
  ManifestState state;
  state.store_high = 0x1122334455667788;
  state.store_low = 99;
  state.settings.unit = TimeUnit::kNanoseconds;
  state.settings.durability = Durability::kAlways;
  state.settings.duplicates = DuplicatePolicy::kMax;
  state.settings.retention = -5;
  state.settings.bytes_max = 1ull << 40;
  return state;
}

ChunkFileMeta MakeChunkFile(std::uint64_t number) {
  ChunkFileMeta meta;
  meta.number = number;
  meta.bytes = 1000 + number;
  meta.first_commit = {number * 10};
  meta.last_commit = {number * 10 + 9};
  meta.first_time = kTimestampMin;
  meta.last_time = static_cast<Timestamp>(number);
  meta.series = 3;
  meta.chunks = 4;
  meta.samples = 5;
  meta.level = static_cast<std::uint32_t>(number % 3);
  return meta;
}

ManifestEdit MakeEdit(std::uint64_t number) {
  ManifestEdit edit;
  edit.added_chunk_files = {MakeChunkFile(2 * number)};
  edit.added_catalogue_files = {{2 * number + 1, 77, {number}, {number + 5}, 12}};
  edit.flushed_commit = {number * 10 + 9};
  edit.last_commit = {number * 10 + 12};
  edit.next_series_id = number * 100;
  edit.last_segment = number;
  edit.last_wall_nanos = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(number);
  return edit;
}

/// States as bytes: equal bytes are equal states.
std::string Bytes(const ManifestState& state) { return EncodeState(state); }

std::string LoadBytes(FileSystem& fs) {
  const auto state = Manifest::Load(fs, "db");
  return state.ok() ? Bytes(*state) : state.status().ToString();
}

/// The state after the first `count` edits.
std::string StateAfter(std::uint64_t count) {
  ManifestState state = InitialState();
  for (std::uint64_t i = 1; i <= count; ++i) {
    EXPECT_TRUE(ApplyEdit(MakeEdit(i), &state).ok());
  }
  return Bytes(state);
}

std::unique_ptr<Manifest> CreateWithEdits(FileSystem& fs, std::uint64_t edits) {
  auto manifest = Manifest::Create(fs, "db", InitialState());
  EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
  for (std::uint64_t i = 1; i <= edits; ++i) {
    const Status status = (*manifest)->Append(MakeEdit(i));
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  return *std::move(manifest);
}

TEST(Manifest, KeepsItsStateOverOpenAndLoad) {
  MemoryFileSystem fs;
  {
    const auto manifest = CreateWithEdits(fs, 3);
    EXPECT_EQ(Bytes(manifest->state()), StateAfter(3));
    EXPECT_EQ(manifest->file_name(), "manifest/000001");
  }
  EXPECT_EQ(LoadBytes(fs), StateAfter(3));
  std::vector<std::string> notes;
  auto manifest = Manifest::Open(fs, "db", &notes);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ((*manifest)->file_name(), "manifest/000001") << "a clean manifest is continued";
  ASSERT_TRUE((*manifest)->Append(MakeEdit(4)).ok());
  EXPECT_EQ(LoadBytes(fs), StateAfter(4));
  const ManifestState state = *Manifest::Load(fs, "db");
  EXPECT_EQ(state.settings.retention, -5);
  EXPECT_EQ(state.settings.duplicates, DuplicatePolicy::kMax);
  EXPECT_EQ(state.chunk_files[1], MakeChunkFile(4));
}

TEST(Manifest, IsNotFoundWhereThereIsNoDatabaseAndNotCreatedOverOne) {
  MemoryFileSystem fs;
  EXPECT_EQ(Manifest::Load(fs, "db").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Manifest::Open(fs, "db", nullptr).status().code(), StatusCode::kNotFound);
  CreateWithEdits(fs, 0);
  EXPECT_EQ(Manifest::Create(fs, "db", InitialState()).status().code(), StatusCode::kAlreadyExists);
}

TEST(Manifest, PositionsOnlyGoForwardAndZerosLeaveThem) {
  ManifestState state = InitialState();
  ASSERT_TRUE(ApplyEdit(MakeEdit(5), &state).ok());
  const std::string before = Bytes(state);
  ManifestEdit edit;
  edit.flushed_commit = {3};
  edit.next_file_number = 2;
  edit.last_wall_nanos = 7;
  ASSERT_TRUE(ApplyEdit(edit, &state).ok());
  ASSERT_TRUE(ApplyEdit({}, &state).ok());
  EXPECT_EQ(Bytes(state), before);
  EXPECT_EQ(state.next_file_number, 12u) << "the numbers of added files are taken";
}

TEST(Manifest, RefusesAnEditThatDoesNotFitAndKeepsItsState) {
  MemoryFileSystem fs;
  const auto manifest = CreateWithEdits(fs, 2);
  ManifestEdit twice;
  twice.removed_chunk_files = {2};
  twice.added_chunk_files = {MakeChunkFile(4)};
  ManifestEdit missing;
  missing.removed_catalogue_files = {4};
  EXPECT_EQ(manifest->Append(twice).code(), StatusCode::kCorruption);
  EXPECT_EQ(manifest->Append(missing).code(), StatusCode::kCorruption);
  EXPECT_EQ(Bytes(manifest->state()), StateAfter(2));
  EXPECT_EQ(LoadBytes(fs), StateAfter(2));
}

TEST(Manifest, AnEditMayReplaceFiles) {
  MemoryFileSystem fs;
  const auto manifest = CreateWithEdits(fs, 3);
  ManifestEdit merge;
  merge.removed_chunk_files = {2, 4, 6};
  merge.added_chunk_files = {MakeChunkFile(9), MakeChunkFile(8)};
  ASSERT_TRUE(manifest->Append(merge).ok());
  const ManifestState state = *Manifest::Load(fs, "db");
  ASSERT_EQ(state.chunk_files.size(), 2u);
  EXPECT_EQ(state.chunk_files[0].number, 8u);
  EXPECT_EQ(state.chunk_files[1].number, 9u);
  EXPECT_EQ(state.next_file_number, 10u);
}

TEST(Manifest, IsWrittenAnewWhenItGrowsPastItsBound) {
  MemoryFileSystem fs;
  auto manifest = CreateWithEdits(fs, 0);
  ManifestState expected = InitialState();
  std::uint64_t largest = 0;
  for (std::uint64_t i = 1; i <= 4000; ++i) {
    ManifestEdit edit;
    for (std::uint64_t n = 0; n < 20; ++n) {
      edit.added_chunk_files.push_back(MakeChunkFile(i * 20 + n));
      if (i > 1) {
        edit.removed_chunk_files.push_back((i - 1) * 20 + n);
      }
    }
    ASSERT_TRUE(manifest->Append(edit).ok());
    ASSERT_TRUE(ApplyEdit(edit, &expected).ok());
    largest = std::max(largest, *fs.FileSize("db/" + manifest->file_name()));
  }
  EXPECT_NE(manifest->file_name(), "manifest/000001");
  EXPECT_LT(largest, (1u << 20) + 10'000);
  EXPECT_EQ(fs.List("db/manifest")->size(), 1u) << "old ones are removed";
  EXPECT_EQ(LoadBytes(fs), Bytes(expected));
}

TEST(Manifest, ATornTailIsCutOffNotedAndNotAppendedTo) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 2);
  const std::string path = "db/manifest/000001";
  std::string frame;
  AppendFrame(EncodeEdit(MakeEdit(3)), 1, fs.ReadWhole(path)->size(), &frame);
  const std::string good = *fs.ReadWhole(path);
  for (std::size_t length = 1; length < frame.size(); ++length) {
    fs.WriteWhole(path, good + frame.substr(0, length));
    EXPECT_EQ(LoadBytes(fs), StateAfter(2)) << length;
  }
  std::vector<std::string> notes;
  auto manifest = Manifest::Open(fs, "db", &notes);
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ((*manifest)->file_name(), "manifest/000002");
  ASSERT_TRUE((*manifest)->Append(MakeEdit(3)).ok());
  EXPECT_EQ(LoadBytes(fs), StateAfter(3));
  EXPECT_FALSE(*fs.Exists(path));
}

TEST(Manifest, AnEditThatWasWrittenButNotSealedCountsAndIsMadeDurableByOpen) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 2);
  const std::string path = "db/manifest/000001";
  std::string file = *fs.ReadWhole(path);
  AppendFrame(EncodeEdit(MakeEdit(3)), 1, file.size(), &file);
  fs.WriteWhole(path, file);
  std::vector<std::string> notes;
  auto manifest = Manifest::Open(fs, "db", &notes);
  ASSERT_TRUE(manifest.ok());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(Bytes((*manifest)->state()), StateAfter(3));
  EXPECT_EQ((*manifest)->file_name(), "manifest/000002");
}

TEST(Manifest, EveryFlippedByteIsReportedOrWithoutEffect) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 3);
  const std::string expected = StateAfter(3);
  int reported = 0;
  for (const std::string path : {"db/manifest/000001", "db/CURRENT"}) {
    ForEachFlippedByte(fs, path, [&](const std::string& what) {
      const auto state = Manifest::Load(fs, "db");
      if (state.ok()) {
        EXPECT_EQ(Bytes(*state), expected) << what;
      } else {
        ++reported;
        EXPECT_EQ(state.status().code(), StatusCode::kCorruption) << what;
        EXPECT_NE(state.status().message().find(path), std::string::npos) << state.status().ToString();
      }
    });
  }
  // All but the seals (of the state and of each edit), which only say that the frame before them is whole.
  const std::size_t bytes = fs.ReadWhole("db/manifest/000001")->size() + fs.ReadWhole("db/CURRENT")->size();
  EXPECT_EQ(static_cast<std::size_t>(reported), 2 * (bytes - 4 * kFrameHeaderBytes));
}

// A seal is not synced: a power cut may keep the edit behind it and lose the seal.
TEST(Manifest, ALostSealBetweenEditsCostsNothingAndIsNoted) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 2);
  const std::string path = "db/manifest/000001";
  const std::string good = *fs.ReadWhole(path);
  std::string last_edit;
  AppendFrame(EncodeEdit(MakeEdit(2)), 1, 0, &last_edit);
  const std::size_t seal = good.size() - kFrameHeaderBytes - last_edit.size() - kFrameHeaderBytes;
  std::string bytes = good;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(seal), kFrameHeaderBytes, '\0');
  ASSERT_NE(bytes, good);
  fs.WriteWhole(path, bytes);
  EXPECT_EQ(LoadBytes(fs), StateAfter(2));
  std::vector<std::string> notes;
  auto manifest = Manifest::Open(fs, "db", &notes);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("manifest/000001@" + std::to_string(seal)), std::string::npos) << notes[0];
  ASSERT_TRUE((*manifest)->Append(MakeEdit(3)).ok());
  EXPECT_EQ(LoadBytes(fs), StateAfter(3));
}

TEST(Manifest, ATruncatedFileGivesAnEarlierStateOrCorruption) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 3);
  ForEachTruncation(fs, "db/manifest/000001", [&](std::size_t length) {
    const auto state = Manifest::Load(fs, "db");
    if (!state.ok()) {
      EXPECT_EQ(state.status().code(), StatusCode::kCorruption);
      return;
    }
    const std::string bytes = Bytes(*state);
    EXPECT_TRUE(bytes == StateAfter(0) || bytes == StateAfter(1) || bytes == StateAfter(2) || bytes == StateAfter(3))
        << length;
  });
  ForEachTruncation(fs, "db/CURRENT", [&](std::size_t length) {
    EXPECT_EQ(Manifest::Load(fs, "db").status().code(), StatusCode::kCorruption) << length;
  });
}

TEST(Manifest, UnknownOptionalFieldsAreSkippedAndRequiredOnesAreNot) {
  std::string record = EncodeEdit(MakeEdit(1));
  PutVarint(&record, 60 << 1);
  PutLengthPrefixed(&record, "of later days");
  ManifestRecord decoded;
  ASSERT_TRUE(DecodeRecord(record, &decoded).ok());
  EXPECT_EQ(decoded.edit.flushed_commit.value, 19u);
  PutVarint(&record, 61 << 1 | 1);
  PutLengthPrefixed(&record, "must be understood");
  EXPECT_EQ(DecodeRecord(record, &decoded).code(), StatusCode::kNotSupported);
}

TEST(Manifest, EditsRoundTrip) {
  ManifestEdit edit = MakeEdit(3);
  edit.removed_chunk_files = {1, 2, UINT64_MAX};
  edit.removed_catalogue_files = {5};
  edit.next_file_number = 1ull << 63;
  edit.last_wall_nanos = -1;
  ManifestRecord record;
  ASSERT_TRUE(DecodeRecord(EncodeEdit(edit), &record).ok());
  EXPECT_EQ(EncodeEdit(record.edit), EncodeEdit(edit));
  EXPECT_EQ(record.edit.added_chunk_files, edit.added_chunk_files);
  EXPECT_EQ(record.edit.removed_chunk_files, edit.removed_chunk_files);
  EXPECT_EQ(record.edit.last_wall_nanos, -1);
}

TEST(Manifest, AfterAFailedAppendTheStateIsOldAndTheNextEditStartsANewFile) {
  for (const char* const operation : {"Append", "Sync"}) {
    SCOPED_TRACE(operation);
    MemoryFileSystem fs;
    const auto manifest = CreateWithEdits(fs, 1);
    bool failed = false;
    fs.SetFault([&](std::uint64_t, std::string_view name, const std::string& path) {
      if (name == operation && !failed) {
        failed = true;
        return Status::NoSpace(path + ": full");
      }
      return Status();
    });
    EXPECT_EQ(manifest->Append(MakeEdit(2)).code(), StatusCode::kNoSpace);
    EXPECT_TRUE(failed);
    EXPECT_EQ(Bytes(manifest->state()), StateAfter(1));
    ASSERT_TRUE(manifest->Append(MakeEdit(2)).ok());
    EXPECT_EQ(manifest->file_name(), "manifest/000002");
    EXPECT_EQ(LoadBytes(fs), StateAfter(2));
  }
}

TEST(Manifest, EveryFailingOperationLeavesTheOldOrTheNewState) {
  // The second edit goes through a rewrite (the tail is torn), so that all operations of both ways are met.
  for (std::uint64_t n = 1;; ++n) {
    MemoryFileSystem fs;
    CreateWithEdits(fs, 1);
    const std::string path = "db/manifest/000001";
    fs.WriteWhole(path, *fs.ReadWhole(path) + "torn");
    const std::uint64_t start = fs.operations();
    bool failed = false;
    fs.SetFault([&](std::uint64_t number, std::string_view, const std::string& at) {
      failed |= number == start + n;
      return number == start + n ? Status::IoError(at) : Status();
    });
    auto manifest = Manifest::Open(fs, "db", nullptr);
    const bool appended = manifest.ok() && (*manifest)->Append(MakeEdit(2)).ok();
    fs.SetFault({});
    const std::string loaded = LoadBytes(fs);
    EXPECT_TRUE(loaded == StateAfter(2) || (!appended && loaded == StateAfter(1))) << n << ": " << loaded;
    // It works again without the fault.
    auto again = Manifest::Open(fs, "db", nullptr);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    if (loaded == StateAfter(1)) {
      EXPECT_TRUE((*again)->Append(MakeEdit(2)).ok());
      EXPECT_EQ(LoadBytes(fs), StateAfter(2));
    }
    if (!failed) {
      EXPECT_TRUE(appended);
      EXPECT_GT(n, 8u);
      break;
    }
  }
}

/// Runs `work` with the power cut at each of its operations, and hands what is left to `check` with the number of edits
/// acknowledged.
void ForEachPowerCut(const std::function<void(MemoryFileSystem&)>& prepare,
                     const std::function<std::uint64_t(MemoryFileSystem&)>& work,
                     const std::function<void(MemoryFileSystem&, std::uint64_t acknowledged)>& check) {
  for (std::uint64_t n = 1;; ++n) {
    MemoryFileSystem fs;
    prepare(fs);
    const std::uint64_t start = fs.operations();
    fs.StopAt(start + n);
    const std::uint64_t acknowledged = work(fs);
    const bool finished = fs.operations() < start + n;
    for (const auto mode : kCutModes) {
      for (std::uint64_t seed = 1; seed <= (mode == MemoryFileSystem::CutMode::kRandom ? 20u : 1u); ++seed) {
        SCOPED_TRACE("operation " + std::to_string(n) + ", mode " + std::to_string(static_cast<int>(mode)) + ", seed " +
                     std::to_string(seed));
        const auto left = fs.AfterPowerCut(mode, seed);
        check(*left, acknowledged);
      }
    }
    if (finished) {
      break;
    }
  }
}

TEST(Manifest, APowerCutWhileAppendingLeavesTheStateBeforeOrAfter) {
  ForEachPowerCut(
      [](MemoryFileSystem& fs) { CreateWithEdits(fs, 1); },
      [](MemoryFileSystem& fs) -> std::uint64_t {
        auto manifest = Manifest::Open(fs, "db", nullptr);
        if (!manifest.ok() || !(*manifest)->Append(MakeEdit(2)).ok()) {
          return 1;
        }
        return (*manifest)->Append(MakeEdit(3)).ok() ? 3 : 2;
      },
      [](MemoryFileSystem& fs, std::uint64_t acknowledged) {
        const std::string loaded = LoadBytes(fs);
        EXPECT_TRUE(loaded == StateAfter(acknowledged) || (acknowledged < 3 && loaded == StateAfter(acknowledged + 1)))
            << acknowledged << ": " << loaded;
        auto manifest = Manifest::Open(fs, "db", nullptr);
        ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
        EXPECT_EQ(Bytes((*manifest)->state()), loaded);
        // What was opened is durable, whatever it was before.
        const auto later = fs.AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced);
        EXPECT_EQ(LoadBytes(*later), loaded);
      });
}

TEST(Manifest, APowerCutWhileRewritingLeavesTheStateBeforeOrAfter) {
  ForEachPowerCut(
      [](MemoryFileSystem& fs) { CreateWithEdits(fs, 1); },
      [](MemoryFileSystem& fs) -> std::uint64_t {
        auto manifest = Manifest::Open(fs, "db", nullptr);
        if (!manifest.ok()) {
          return 1;
        }
        // The first sync fails; the next append starts a new file.
        fs.SetFault([](std::uint64_t, std::string_view name, const std::string& path) {
          return name == "Sync" ? Status::IoError(path) : Status();
        });
        EXPECT_FALSE((*manifest)->Append(MakeEdit(2)).ok());
        fs.SetFault({});
        return (*manifest)->Append(MakeEdit(2)).ok() ? 2 : 1;
      },
      [](MemoryFileSystem& fs, std::uint64_t acknowledged) {
        const std::string loaded = LoadBytes(fs);
        EXPECT_TRUE(loaded == StateAfter(2) || (acknowledged == 1 && loaded == StateAfter(1))) << loaded;
        auto manifest = Manifest::Open(fs, "db", nullptr);
        ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
        EXPECT_EQ(Bytes((*manifest)->state()), loaded);
      });
}

TEST(Manifest, APowerCutWhileCreatingLeavesNothingOrAnEmptyDatabase) {
  ForEachPowerCut([](MemoryFileSystem&) {},
                  [](MemoryFileSystem& fs) -> std::uint64_t {
                    return Manifest::Create(fs, "db", InitialState()).ok() ? 1 : 0;
                  },
                  [](MemoryFileSystem& fs, std::uint64_t created) {
                    const auto state = Manifest::Load(fs, "db");
                    if (state.ok()) {
                      EXPECT_EQ(Bytes(*state), StateAfter(0));
                      return;
                    }
                    EXPECT_EQ(created, 0u);
                    EXPECT_EQ(state.status().code(), StatusCode::kNotFound);
                    EXPECT_TRUE(Manifest::Create(fs, "db", InitialState()).ok());
                  });
}

TEST(Manifest, CurrentThatNamesAMissingManifestIsCorruption) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 1);
  ASSERT_TRUE(fs.RemoveFile("db/manifest/000001").ok());
  EXPECT_EQ(Manifest::Load(fs, "db").status().code(), StatusCode::kCorruption);
}

TEST(Manifest, AManifestUnderAnotherNumberIsCorruption) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 1);
  fs.WriteWhole("db/manifest/000002", *fs.ReadWhole("db/manifest/000001"));
  fs.WriteWhole("db/CURRENT", EncodeCurrent(2));
  EXPECT_EQ(Manifest::Load(fs, "db").status().code(), StatusCode::kCorruption);
}

TEST(Manifest, DumpShowsEveryEditAndTheTornTail) {
  MemoryFileSystem fs;
  CreateWithEdits(fs, 2);
  const std::string path = "db/manifest/000001";
  fs.WriteWhole(path, *fs.ReadWhole(path) + "torn");
  std::string text;
  ASSERT_TRUE(DumpManifestTo(fs, path, [&](std::string_view line) { text.append(line).append("\n"); }).ok());
  EXPECT_NE(text.find("store=11223344556677880000000000000063"), std::string::npos) << text;
  EXPECT_NE(text.find("+ chunk file number=4"), std::string::npos) << text;
  EXPECT_NE(text.find("flushed_commit=29"), std::string::npos) << text;
  EXPECT_NE(text.find("tail @"), std::string::npos) << text;
}

TEST(Manifest, NamesOfFilesSortAsTheirNumbers) {
  EXPECT_EQ(ChunkFileName(7), "chunks/000007.chunk");
  EXPECT_EQ(CatalogueFileName(3), "catalogue/000003.catalogue");
  EXPECT_EQ(ManifestFileName(1234567), "manifest/1234567");
}

}  // namespace
}  // namespace tsdb::chunk
