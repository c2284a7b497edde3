#include "chunk/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/memory_file_system.h"

namespace tsdb::chunk {
namespace {

struct File {
  std::string bytes;
  std::unique_ptr<RandomReadFile> file;
  ReadAhead reads;
};

std::unique_ptr<File> MakeFile(MemoryFileSystem& fs, const std::string& path, std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto made = std::make_unique<File>();
  for (std::size_t i = 0; i < size; ++i) {
    made->bytes.push_back(static_cast<char>(random()));
  }
  auto writable = fs.OpenWritable(path, OpenMode::kCreate);
  EXPECT_TRUE(writable.ok() && (*writable)->Append(made->bytes).ok() && (*writable)->Close().ok());
  made->file = fs.OpenReadable(path).value();
  return made;
}

TEST(ReadAhead, GivesTheBytesOfTheFileHoweverItIsRead) {
  MemoryFileSystem fs;
  std::vector<std::unique_ptr<File>> files;
  for (std::uint64_t i = 0; i < 20; ++i) {  // more than a thread has windows
    files.push_back(MakeFile(fs, "f" + std::to_string(i), 1000 + i * 17'000, i));
  }
  std::mt19937_64 random(1);
  std::vector<std::size_t> next(files.size());
  for (int i = 0; i < 50'000; ++i) {
    const std::size_t chosen = random() % files.size();
    File& file = *files[chosen];
    std::size_t& offset = next[chosen];
    if (random() % 8 == 0 || offset >= file.bytes.size()) {
      offset = random() % file.bytes.size();
    } else {
      offset = std::min(file.bytes.size() - 1, offset + random() % 300);
    }
    const std::size_t n = 1 + random() % std::min<std::size_t>(file.bytes.size() - offset, 700);
    std::string_view data;
    ASSERT_TRUE(file.reads.Read(*file.file, offset, n, &data).ok());
    ASSERT_EQ(data, std::string_view(file.bytes).substr(offset, n)) << chosen << " " << offset << " " << n;
    offset += n;
  }
}

TEST(ReadAhead, WhatIsForgottenIsReadAgain) {
  MemoryFileSystem fs;
  const auto file = MakeFile(fs, "f", 100, 1);
  std::string_view data;
  ASSERT_TRUE(file->reads.Read(*file->file, 10, 50, &data).ok());
  std::string other = file->bytes;
  other[20] = static_cast<char>(other[20] + 1);
  fs.WriteWhole("f", other);
  file->reads.Forget();
  ASSERT_TRUE(file->reads.Read(*file->file, 10, 50, &data).ok());
  EXPECT_EQ(data, std::string_view(other).substr(10, 50));
}

TEST(ReadAhead, BehindTheEndIsDamage) {
  MemoryFileSystem fs;
  const auto file = MakeFile(fs, "f", 100, 1);
  std::string_view data;
  EXPECT_EQ(file->reads.Read(*file->file, 90, 11, &data).code(), StatusCode::kCorruption);
  ASSERT_TRUE(file->reads.Read(*file->file, 80, 10, &data).ok());
  EXPECT_EQ(file->reads.Read(*file->file, 90, 11, &data).code(), StatusCode::kCorruption);
  ASSERT_TRUE(file->reads.Read(*file->file, 90, 10, &data).ok());
  EXPECT_EQ(data, std::string_view(file->bytes).substr(90));
}

TEST(ReadAhead, SeriesSideBySideCostFewReads) {
  class Counting final : public RandomReadFile {
   public:
    explicit Counting(RandomReadFile& under) : under_(under) {}
    Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const override {
      ++reads;
      return under_.ReadAt(offset, n, out);
    }
    std::uint64_t size() const override { return under_.size(); }
    const std::string& path() const override { return under_.path(); }
    mutable int reads = 0;

   private:
    RandomReadFile& under_;
  };
  MemoryFileSystem fs;
  const auto file = MakeFile(fs, "f", 1 << 20, 1);
  const Counting counting(*file->file);
  std::string_view data;
  for (std::uint64_t offset = 0; offset + 2000 < file->bytes.size(); offset += 3000) {
    ASSERT_TRUE(file->reads.Read(counting, offset, 2000, &data).ok());
    ASSERT_EQ(data, std::string_view(file->bytes).substr(offset, 2000));
  }
  EXPECT_LT(counting.reads, 25);
}

}  // namespace
}  // namespace tsdb::chunk
