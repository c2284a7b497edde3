// What both file systems promise: every test runs on the operating system's and on the one in memory.
#include "base/file_system.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/memory_file_system.h"

namespace tsdb {
namespace {

enum class Kind { kPosix, kMemory };

class FileSystemTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = info->name();
    for (char& c : name) {
      c = c == '/' ? '_' : c;
    }
    root_ = GetParam() == Kind::kPosix ? JoinPath(testing::TempDir(), "tsdb_fs_" + name) : "root";
    ASSERT_TRUE(fs().RemoveAll(root_).ok());
    ASSERT_TRUE(fs().CreateDirectories(root_).ok());
  }
  void TearDown() override { EXPECT_TRUE(fs().RemoveAll(root_).ok()); }

  FileSystem& fs() { return GetParam() == Kind::kPosix ? PosixFileSystem() : memory_; }
  std::string Path(std::string_view name) const { return JoinPath(root_, name); }
  void Write(const std::string& path, std::string_view data, OpenMode mode = OpenMode::kTruncate) {
    auto file = fs().OpenWritable(path, mode);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    ASSERT_TRUE((*file)->Append(data).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }
  std::string Read(const std::string& path) {
    auto data = ReadFile(fs(), path);
    return data.ok() ? *data : data.status().ToString();
  }

  std::string root_;

 private:
  MemoryFileSystem memory_;
};

TEST_P(FileSystemTest, CreateRefusesAnExistingFileTruncateEmptiesItAndAppendContinues) {
  const std::string path = Path("f");
  Write(path, "one", OpenMode::kCreate);
  EXPECT_EQ(fs().OpenWritable(path, OpenMode::kCreate).status().code(), StatusCode::kAlreadyExists);
  auto file = *fs().OpenWritable(path, OpenMode::kAppend);
  EXPECT_EQ(file->size(), 3u);
  ASSERT_TRUE(file->Append("two").ok());
  EXPECT_EQ(file->size(), 6u);
  EXPECT_EQ(Read(path), "onetwo");
  Write(path, "x", OpenMode::kTruncate);
  EXPECT_EQ(Read(path), "x");
  EXPECT_EQ(fs().OpenWritable(Path("missing"), OpenMode::kAppend).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(*fs().Exists(Path("missing")));
}

TEST_P(FileSystemTest, ErrorsNameThePath) {
  const std::string path = Path("missing");
  const std::vector<Status> statuses = {
      fs().OpenReadable(path).status(),  fs().RemoveFile(path),       fs().Rename(path, Path("x")),
      fs().FileSize(path).status(),      fs().List(path).status(),    fs().SyncDirectory(path),
      fs().FreeBytes(path).status(),     fs().OpenWritable(path + "/f", OpenMode::kCreate).status(),
  };
  for (const Status& status : statuses) {
    EXPECT_EQ(status.code(), StatusCode::kNotFound) << status.ToString();
    EXPECT_NE(status.message().find(path), std::string_view::npos) << status.ToString();
  }
}

TEST_P(FileSystemTest, ReadAtGivesFewerBytesOnlyAtTheEnd) {
  Write(Path("f"), "0123456789");
  auto file = *fs().OpenReadable(Path("f"));
  EXPECT_EQ(file->size(), 10u);
  EXPECT_EQ(file->path(), Path("f"));
  char buffer[16] = {};
  EXPECT_EQ(*file->ReadAt(3, 4, buffer), 4u);
  EXPECT_EQ(std::string_view(buffer, 4), "3456");
  EXPECT_EQ(*file->ReadAt(8, 16, buffer), 2u);
  EXPECT_EQ(*file->ReadAt(10, 1, buffer), 0u);
  EXPECT_EQ(*file->ReadAt(~0ull, 1, buffer), 0u);
  Write(Path("f"), "ab", OpenMode::kAppend);
  EXPECT_EQ(*file->ReadAt(10, 16, buffer), 2u) << "what was appended later can be read";
}

TEST_P(FileSystemTest, AnOpenFileStaysReadableAfterRemoveAndReplace) {
  Write(Path("a"), "old");
  Write(Path("b"), "new");
  auto a = *fs().OpenReadable(Path("a"));
  ASSERT_TRUE(fs().Rename(Path("b"), Path("a")).ok());
  EXPECT_EQ(Read(Path("a")), "new");
  EXPECT_FALSE(*fs().Exists(Path("b")));
  auto b = *fs().OpenReadable(Path("a"));
  ASSERT_TRUE(fs().RemoveFile(Path("a")).ok());
  char buffer[4] = {};
  EXPECT_EQ(*a->ReadAt(0, 4, buffer), 3u);
  EXPECT_EQ(std::string_view(buffer, 3), "old");
  EXPECT_EQ(*b->ReadAt(0, 4, buffer), 3u);
  EXPECT_EQ(std::string_view(buffer, 3), "new");
}

TEST_P(FileSystemTest, ListIsSortedAndTellsDirectoriesFromFiles) {
  ASSERT_TRUE(fs().CreateDirectories(Path("d/e/f")).ok());
  ASSERT_TRUE(fs().CreateDirectories(Path("d/e/f")).ok()) << "existing ones are fine";
  Write(Path("c"), "12345");
  Write(Path("a"), "");
  Write(Path("d/x"), "1234567");
  const auto entries = *fs().List(root_);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[1].name, "c");
  EXPECT_EQ(entries[1].bytes, 5u);
  EXPECT_FALSE(entries[1].is_directory);
  EXPECT_EQ(entries[2].name, "d");
  EXPECT_TRUE(entries[2].is_directory);
  EXPECT_EQ(entries[2].bytes, 0u);
  EXPECT_EQ(*fs().FileSize(Path("c")), 5u);
  EXPECT_EQ(*TreeBytes(fs(), root_), 12u);
  EXPECT_EQ(*TreeBytes(fs(), Path("missing")), 0u);
}

TEST_P(FileSystemTest, RemoveAllTakesATreeAndDoesNotMindThatThereIsNone) {
  ASSERT_TRUE(fs().CreateDirectories(Path("d/e")).ok());
  Write(Path("d/e/f"), "x");
  ASSERT_TRUE(fs().RemoveAll(Path("d")).ok());
  EXPECT_FALSE(*fs().Exists(Path("d")));
  EXPECT_TRUE(fs().RemoveAll(Path("d")).ok());
  EXPECT_TRUE(fs().RemoveAll(Path("no/such/parent")).ok());
}

TEST_P(FileSystemTest, FilesAndDirectoriesAreNotMistakenForOneAnother) {
  ASSERT_TRUE(fs().CreateDirectories(Path("d")).ok());
  Write(Path("f"), "x");
  EXPECT_EQ(fs().OpenReadable(Path("d")).status().code(), StatusCode::kIoError);
  EXPECT_EQ(fs().OpenWritable(Path("d"), OpenMode::kTruncate).status().code(), StatusCode::kIoError);
  EXPECT_EQ(fs().RemoveFile(Path("d")).code(), StatusCode::kIoError);
  EXPECT_EQ(fs().CreateDirectories(Path("f")).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(fs().List(Path("f")).status().code(), StatusCode::kIoError);
  EXPECT_EQ(fs().Rename(Path("f"), Path("d")).code(), StatusCode::kIoError);
  EXPECT_EQ(fs().OpenWritable(Path("f/x"), OpenMode::kCreate).status().code(), StatusCode::kIoError);
}

TEST_P(FileSystemTest, DirectoriesCanBeRenamed) {
  ASSERT_TRUE(fs().CreateDirectories(Path("d")).ok());
  Write(Path("d/f"), "x");
  ASSERT_TRUE(fs().Rename(Path("d"), Path("e")).ok());
  EXPECT_EQ(Read(Path("e/f")), "x");
  EXPECT_FALSE(*fs().Exists(Path("d")));
  EXPECT_TRUE(fs().Rename(Path("e"), Path("e")).ok());
}

TEST_P(FileSystemTest, ReservationDoesNotChangeTheSize) {
  auto file = *fs().OpenWritable(Path("f"), OpenMode::kCreate);
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Reserve(1 << 20).ok());
  ASSERT_TRUE(file->Reserve(10).ok()) << "less than there is";
  EXPECT_EQ(file->size(), 3u);
  EXPECT_EQ(*fs().FileSize(Path("f")), 3u);
  ASSERT_TRUE(file->Append("def").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->ReleaseReserved().ok());
  ASSERT_TRUE(file->ReleaseReserved().ok());
  ASSERT_TRUE(file->Append("ghi").ok());
  EXPECT_EQ(Read(Path("f")), "abcdefghi");
}

TEST_P(FileSystemTest, AClosedFileRefusesEverything) {
  auto file = *fs().OpenWritable(Path("f"), OpenMode::kCreate);
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(file->Close().ok()) << "closing again is fine";
  EXPECT_EQ(file->Append("x").code(), StatusCode::kClosed);
  EXPECT_EQ(file->Sync().code(), StatusCode::kClosed);
  EXPECT_EQ(file->Reserve(1).code(), StatusCode::kClosed);
  EXPECT_EQ(file->ReleaseReserved().code(), StatusCode::kClosed);
}

TEST_P(FileSystemTest, ASecondLockIsRefusedUntilTheFirstIsGone) {
  auto first = fs().Lock(Path("LOCK"));
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  const auto second = fs().Lock(Path("LOCK"));
  ASSERT_EQ(second.status().code(), StatusCode::kBusy);
  EXPECT_EQ(second.status().message(), Path("LOCK") + ": is used by process " + std::to_string(::getpid()) +
                                           "; close it or open read-only");
  EXPECT_TRUE(fs().Lock(Path("OTHER")).ok());
  *first = nullptr;
  EXPECT_TRUE(fs().Lock(Path("LOCK")).ok());
}

TEST_P(FileSystemTest, WriteFileAtomicallyReplacesAndLeavesNothingElse) {
  ASSERT_TRUE(WriteFileAtomically(fs(), Path("f"), "one").ok());
  ASSERT_TRUE(WriteFileAtomically(fs(), Path("f"), "two").ok());
  EXPECT_EQ(Read(Path("f")), "two");
  EXPECT_EQ(fs().List(root_)->size(), 1u);
  EXPECT_EQ(WriteFileAtomically(fs(), Path("no/f"), "x").code(), StatusCode::kNotFound);
}

TEST_P(FileSystemTest, ReadFileIsBounded) {
  Write(Path("f"), std::string(1'000, 'x'));
  EXPECT_EQ(ReadFile(fs(), Path("f"), 1'000)->size(), 1'000u);
  EXPECT_EQ(ReadFile(fs(), Path("f"), 999).status().code(), StatusCode::kResourceExhausted);
  Write(Path("empty"), "");
  EXPECT_EQ(*ReadFile(fs(), Path("empty"), 0), "");
}

TEST_P(FileSystemTest, ManyThreadsReadOneFile) {
  std::string data;
  for (int i = 0; i < 100'000; ++i) {
    data.push_back(static_cast<char>(i * 7));
  }
  Write(Path("f"), data);
  const auto file = *fs().OpenReadable(Path("f"));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      std::string buffer(1'000, '\0');
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t offset = (i * 7'919 + t * 104'729) % (data.size() - buffer.size());
        const auto got = file->ReadAt(offset, buffer.size(), buffer.data());
        wrong[t] += !got.ok() || *got != buffer.size() || data.compare(offset, buffer.size(), buffer) != 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

INSTANTIATE_TEST_SUITE_P(Both, FileSystemTest, testing::Values(Kind::kPosix, Kind::kMemory),
                         [](const auto& test) { return test.param == Kind::kPosix ? "Posix" : "Memory"; });

TEST(Paths, JoinAndParent) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(ParentPath("a/b"), "a");
  EXPECT_EQ(ParentPath("a"), ".");
  EXPECT_EQ(ParentPath("/a"), "/");
  EXPECT_EQ(ParentPath("/a//b/"), "/a");
  EXPECT_EQ(ParentPath("a/b/"), "a");
  EXPECT_EQ(ParentPath("/"), "/");
}

}  // namespace
}  // namespace tsdb
