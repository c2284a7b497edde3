// What only the operating system can show: errors of the kernel, other processes, blocks on disk.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace tsdb {
namespace {

class PosixFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = JoinPath(testing::TempDir(),
                     std::string("tsdb_posix_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    ASSERT_TRUE(fs_.RemoveAll(root_).ok());
    ASSERT_TRUE(fs_.CreateDirectories(root_).ok());
  }
  void TearDown() override { EXPECT_TRUE(fs_.RemoveAll(root_).ok()); }
  std::string Path(std::string_view name) const { return JoinPath(root_, name); }

  FileSystem& fs_ = PosixFileSystem();
  std::string root_;
};

TEST_F(PosixFileSystemTest, AFullDeviceIsNoSpace) {
  auto file = fs_.OpenWritable("/dev/full", OpenMode::kAppend);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const Status status = (*file)->Append("x");
  EXPECT_EQ(status.code(), StatusCode::kNoSpace) << status.ToString();
  EXPECT_EQ((*file)->size(), 0u);
}

TEST_F(PosixFileSystemTest, RunningOutOfHandlesIsToldApart) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit low = old;
  low.rlim_cur = 3;  // those of the process itself
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const Status status = fs_.OpenWritable(Path("f"), OpenMode::kCreate).status();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(status.code(), StatusCode::kTooManyOpenFiles) << status.ToString();
}

TEST_F(PosixFileSystemTest, AWriteThatTheSystemCutsShortIsRepeatedUntilItFails) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit low = old;
  low.rlim_cur = 1'000;
  auto file = *fs_.OpenWritable(Path("f"), OpenMode::kCreate);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status status = file->Append(std::string(1'500, 'x'));  // 1,000 are written, then EFBIG
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  ::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(status.code(), StatusCode::kIoError) << status.ToString();
  EXPECT_EQ(file->size(), 1'000u) << "size() tells what is in the file after a failed append";
  ASSERT_TRUE(file->Append("y").ok());
  EXPECT_EQ(*fs_.FileSize(Path("f")), 1'001u);
}

TEST_F(PosixFileSystemTest, ReservedBlocksAreGivenBackAlsoByALaterHandle) {
  const auto blocks = [&] {
    struct stat info {};
    EXPECT_EQ(::stat(Path("f").c_str(), &info), 0);
    return info.st_blocks;
  };
  auto file = *fs_.OpenWritable(Path("f"), OpenMode::kCreate);
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Reserve(1 << 20).ok());
  if (blocks() < (1 << 20) / 512) {
    GTEST_SKIP() << "this file system does not reserve";
  }
  file = nullptr;  // as after a crash: nothing is given back
  EXPECT_GE(blocks(), (1 << 20) / 512);
  file = *fs_.OpenWritable(Path("f"), OpenMode::kAppend);
  ASSERT_TRUE(file->ReleaseReserved().ok());
  EXPECT_LT(blocks(), 64);
  EXPECT_EQ(*ReadFile(fs_, Path("f")), "abc");
}

TEST_F(PosixFileSystemTest, HandlesAreNotInherited) {
  auto file = *fs_.OpenWritable(Path("f"), OpenMode::kCreate);
  auto lock = *fs_.Lock(Path("LOCK"));
  int inherited = 0;
  const auto descriptors = fs_.List("/proc/self/fd");
  ASSERT_TRUE(descriptors.ok());
  for (const DirectoryEntry& entry : *descriptors) {
    const int fd = std::stoi(entry.name);
    char target[4096] = {};
    const ssize_t n = ::readlink(("/proc/self/fd/" + entry.name).c_str(), target, sizeof(target) - 1);
    const bool ours = n > 0 && std::string_view(target, static_cast<std::size_t>(n)).starts_with(root_);
    inherited += ours && (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
  }
  EXPECT_EQ(inherited, 0);
}

TEST_F(PosixFileSystemTest, AnotherProcessIsNamedWhileItLivesAndNoObstacleAfterwards) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = fs_.Lock(Path("LOCK"));
    const char outcome = lock.ok() ? 'y' : 'n';
    static_cast<void>(!::write(ready[1], &outcome, 1));
    ::pause();
    ::_exit(0);
  }
  char outcome = 0;
  ASSERT_EQ(::read(ready[0], &outcome, 1), 1);
  ASSERT_EQ(outcome, 'y');
  const Status status = fs_.Lock(Path("LOCK")).status();
  EXPECT_EQ(status.code(), StatusCode::kBusy);
  EXPECT_NE(status.message().find("is used by process " + std::to_string(child) + ";"), std::string_view::npos)
      << status.ToString();
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs_.Lock(Path("LOCK")).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixFileSystemTest, TheLockFileHoldsOurPidAndNothingAfterRelease) {
  auto lock = *fs_.Lock(Path("LOCK"));
  EXPECT_EQ(*ReadFile(fs_, Path("LOCK")), std::to_string(::getpid()) + "\n");
  lock = nullptr;
  EXPECT_EQ(*ReadFile(fs_, Path("LOCK")), "");
}

TEST_F(PosixFileSystemTest, LinksToDirectoriesAreNotFollowedByATreeWalk) {
  ASSERT_EQ(::symlink(".", Path("loop").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", Path("dangling").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(fs_, Path("f"), "12345").ok());
  EXPECT_EQ(*TreeBytes(fs_, root_), 5u);
  EXPECT_EQ(fs_.List(root_)->size(), 3u);
}

TEST_F(PosixFileSystemTest, FreeBytesOfThisDiskIsANumber) {
  const auto free = fs_.FreeBytes(root_);
  ASSERT_TRUE(free.ok());
  EXPECT_GT(*free, 0u);
}

TEST_F(PosixFileSystemTest, FilesOfUnknownSizeAreReadToTheirEnd) {
  const auto data = ReadFile(fs_, "/proc/self/status");  // its size is told as 0
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_NE(data->find("VmRSS"), std::string::npos);
}

}  // namespace
}  // namespace tsdb
