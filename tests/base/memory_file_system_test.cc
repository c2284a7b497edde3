// Counting, stopping, faults, space and copies; what a power cut leaves is in power_cut_test.cc.
#include "base/memory_file_system.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tsdb {
namespace {

TEST(MemoryFileSystem, CountsOperationsThatChangeSomethingAndNoReads) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectories("d").ok());                      // 1
  auto file = *fs.OpenWritable("d/f", OpenMode::kCreate);           // 2
  ASSERT_TRUE(file->Append("x").ok());                              // 3
  ASSERT_TRUE(file->Sync().ok());                                   // 4
  ASSERT_TRUE(file->Reserve(100).ok());                             // 5
  ASSERT_TRUE(fs.Rename("d/f", "d/g").ok());                        // 6
  ASSERT_TRUE(fs.SyncDirectory("d").ok());                          // 7
  ASSERT_TRUE(fs.RemoveFile("d/g").ok());                           // 8
  ASSERT_TRUE(fs.RemoveAll("d").ok());                              // 9
  EXPECT_EQ(fs.operations(), 9u);
  ASSERT_FALSE(*fs.Exists("d"));
  ASSERT_TRUE(fs.List("").ok());
  const auto lock = fs.Lock("LOCK");
  ASSERT_TRUE(file->ReleaseReserved().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(fs.operations(), 9u);
}

TEST(MemoryFileSystem, FromTheStopOnEverythingFailsWithoutEffect) {
  MemoryFileSystem fs;
  auto file = *fs.OpenWritable("f", OpenMode::kCreate);  // 1
  ASSERT_TRUE(file->Append("abcd").ok());                // 2
  fs.StopAt(4);
  ASSERT_TRUE(file->Sync().ok());  // 3
  EXPECT_EQ(file->Append("12345678").code(), StatusCode::kIoError);
  EXPECT_EQ(*fs.ReadWhole("f"), "abcd1234") << "the append that meets the cut writes its first half";
  EXPECT_EQ(file->Append("9").code(), StatusCode::kIoError);
  EXPECT_EQ(file->Sync().code(), StatusCode::kIoError);
  EXPECT_EQ(file->Reserve(100).code(), StatusCode::kIoError);
  EXPECT_EQ(file->ReleaseReserved().code(), StatusCode::kIoError);
  EXPECT_EQ(fs.OpenWritable("g", OpenMode::kCreate).status().code(), StatusCode::kIoError);
  EXPECT_EQ(fs.Rename("f", "g").code(), StatusCode::kIoError);
  EXPECT_EQ(fs.RemoveFile("f").code(), StatusCode::kIoError);
  EXPECT_EQ(fs.RemoveAll("f").code(), StatusCode::kIoError);
  EXPECT_EQ(fs.CreateDirectories("d").code(), StatusCode::kIoError);
  EXPECT_EQ(fs.SyncDirectory("").code(), StatusCode::kIoError);
  EXPECT_EQ(fs.Lock("LOCK").status().code(), StatusCode::kIoError);
  EXPECT_EQ(*fs.ReadWhole("f"), "abcd1234");
  EXPECT_EQ(fs.List("")->size(), 1u);
  EXPECT_EQ(*fs.AfterPowerCut(MemoryFileSystem::CutMode::kKeepUnsynced)->ReadWhole("f"), "abcd1234");
}

TEST(MemoryFileSystem, AFaultBecomesTheOutcomeOfItsOperation) {
  MemoryFileSystem fs;
  std::vector<std::string> seen;
  fs.SetFault([&](std::uint64_t number, std::string_view operation, const std::string& path) {
    EXPECT_EQ(number, fs.operations()) << "the function may look at the file system";
    seen.push_back(std::string(operation) + " " + path);
    return number == 2 ? Status::NoSpace("injected") : Status::Ok();
  });
  auto file = *fs.OpenWritable("f", OpenMode::kCreate);
  EXPECT_EQ(file->Append("abc").code(), StatusCode::kNoSpace);
  EXPECT_EQ(file->size(), 0u);
  EXPECT_TRUE(file->Append("def").ok());
  ASSERT_TRUE(fs.Rename("f", "g").ok());
  const std::vector<std::string> expected = {"OpenWritable f", "Append f", "Append f", "Rename f"};
  EXPECT_EQ(seen, expected);
  fs.SetFault(nullptr);
  EXPECT_TRUE(file->Append("x").ok());
  EXPECT_EQ(*fs.ReadWhole("g"), "defx");
}

TEST(MemoryFileSystem, AFullDiskTakesWhatFitsAndSaysNoSpace) {
  MemoryFileSystem fs;
  auto file = *fs.OpenWritable("f", OpenMode::kCreate);
  fs.SetFreeBytes(5);
  EXPECT_TRUE(file->Append("abc").ok());
  EXPECT_EQ(*fs.FreeBytes(""), 2u);
  EXPECT_EQ(file->Append("defg").code(), StatusCode::kNoSpace);
  EXPECT_EQ(*fs.ReadWhole("f"), "abcde");
  EXPECT_EQ(file->size(), 5u);
  ASSERT_TRUE(fs.RemoveFile("f").ok());
  EXPECT_EQ(*fs.FreeBytes(""), 5u) << "removal gives space back";
}

TEST(MemoryFileSystem, ReservedSpaceIsTakenOnceAndAppendsIntoItCannotFail) {
  MemoryFileSystem fs;
  auto file = *fs.OpenWritable("f", OpenMode::kCreate);
  fs.SetFreeBytes(10);
  EXPECT_EQ(file->Reserve(11).code(), StatusCode::kNoSpace);
  EXPECT_EQ(*fs.FreeBytes(""), 10u) << "a refused reservation takes nothing";
  ASSERT_TRUE(file->Reserve(8).ok());
  EXPECT_EQ(*fs.FreeBytes(""), 2u);
  fs.SetFreeBytes(0);
  EXPECT_TRUE(file->Append("12345").ok());
  ASSERT_TRUE(file->ReleaseReserved().ok());
  EXPECT_EQ(*fs.FreeBytes(""), 3u);
  EXPECT_TRUE(file->Append("678").ok());
  EXPECT_EQ(file->Append("9").code(), StatusCode::kNoSpace);
  ASSERT_TRUE(fs.OpenWritable("f", OpenMode::kTruncate).ok());
  EXPECT_EQ(*fs.FreeBytes(""), 8u) << "truncation gives space back";
}

TEST(MemoryFileSystem, ReplacingAFileGivesItsSpaceBack) {
  MemoryFileSystem fs;
  fs.SetFreeBytes(10);
  ASSERT_TRUE((*fs.OpenWritable("a", OpenMode::kCreate))->Append("1234").ok());
  ASSERT_TRUE((*fs.OpenWritable("b", OpenMode::kCreate))->Append("123").ok());
  ASSERT_TRUE(fs.Rename("b", "a").ok());
  EXPECT_EQ(*fs.FreeBytes(""), 7u);
  ASSERT_TRUE(fs.RemoveAll("a").ok());
  EXPECT_EQ(*fs.FreeBytes(""), 10u);
}

TEST(MemoryFileSystem, ACloneHasTheSameFilesAndTheSamePowerCuts) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectories("d/e").ok());
  for (int i = 0; i < 20; ++i) {
    auto file = *fs.OpenWritable("d/" + std::to_string(i), OpenMode::kCreate);
    ASSERT_TRUE(file->Append(std::string(3'000, 'x')).ok());
    if (i % 2 == 0) {
      ASSERT_TRUE(file->Sync().ok());
    }
    if (i == 10) {
      ASSERT_TRUE(fs.SyncDirectory("").ok());
      ASSERT_TRUE(fs.SyncDirectory("d").ok());
    }
  }
  ASSERT_TRUE(fs.Rename("d/3", "d/e/3").ok());
  const auto lock = fs.Lock("d/LOCK");
  const auto clone = fs.Clone();
  EXPECT_TRUE(clone->Lock("d/LOCK").ok()) << "no lock is held in a copy";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto a = fs.AfterPowerCut(MemoryFileSystem::CutMode::kRandom, seed);
    const auto b = fs.Clone()->AfterPowerCut(MemoryFileSystem::CutMode::kRandom, seed);
    for (int i = 0; i < 20; ++i) {
      for (const std::string& path : {"d/" + std::to_string(i), "d/e/" + std::to_string(i)}) {
        const auto x = a->ReadWhole(path);
        const auto y = b->ReadWhole(path);
        ASSERT_EQ(x.ok(), y.ok()) << path << " seed " << seed;
        if (x.ok()) {
          ASSERT_EQ(*x, *y) << path << " seed " << seed;
        }
      }
    }
  }
  ASSERT_TRUE(clone->RemoveAll("d").ok());
  EXPECT_TRUE(*fs.Exists("d/5")) << "the original does not see what is done to the copy";
}

TEST(MemoryFileSystem, WriteWholeMakesBytesAndEntriesDurable) {
  MemoryFileSystem fs;
  fs.WriteWhole("new/dir/f", "abc");
  EXPECT_EQ(*fs.AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced)->ReadWhole("new/dir/f"), "abc");
  const auto reader = *fs.OpenReadable("new/dir/f");
  fs.WriteWhole("new/dir/f", "abX");
  char buffer[3] = {};
  ASSERT_EQ(*reader->ReadAt(0, 3, buffer), 3u);
  EXPECT_EQ(std::string_view(buffer, 3), "abX") << "damage shows in files that are open";
  EXPECT_EQ(fs.operations(), 0u);
}

TEST(MemoryFileSystem, OpenFilesOutliveTheFileSystem) {
  auto fs = std::make_unique<MemoryFileSystem>();
  auto file = *fs->OpenWritable("f", OpenMode::kCreate);
  auto reader = *fs->OpenReadable("f");
  auto lock = *fs->Lock("LOCK");
  fs = nullptr;
  ASSERT_TRUE(file->Append("abc").ok());
  char buffer[3] = {};
  EXPECT_EQ(*reader->ReadAt(0, 3, buffer), 3u);
}

TEST(MemoryFileSystem, DirectoriesMoveOnlyWithinTheirParent) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectories("a/b").ok());
  EXPECT_EQ(fs.Rename("a", "a/b/c").code(), StatusCode::kNotSupported);
  EXPECT_EQ(fs.Rename("a/b", "b").code(), StatusCode::kNotSupported);
}

}  // namespace
}  // namespace tsdb
