#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "tsdb/ingest.h"

namespace tsdb {
namespace {

using ::testing::HasSubstr;

class InputStreamTest : public ::testing::Test {
 protected:
  InputStreamTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "input_stream_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    for (int i = 0; i < 60'000; ++i) {
      text_ += "m,h=" + std::to_string(i * 7919 % 1000) + " v=" + std::to_string(i) + "\n";
    }
  }
  ~InputStreamTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& bytes) {
    const std::string path = directory_ + "/in";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string Gzip(const std::string& text) {
    z_stream z = {};
    EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&z, text.size()) + 64, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
  }
  static std::string Zstd(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
  }
  struct Read {
    Status status;
    std::string text;
    std::uint64_t consumed = 0;
    std::uint64_t total = 0;
  };
  static Read ReadAll(const std::string& path) {
    Read out;
    auto stream = InputStream::Open(path);
    if (!stream.ok()) {
      out.status = stream.status();
      return out;
    }
    while (true) {
      auto piece = (*stream)->Next();
      out.consumed = (*stream)->consumed();
      out.total = (*stream)->total();
      if (!piece.ok()) {
        out.status = piece.status();
        return out;
      }
      if (piece->empty()) {
        return out;
      }
      out.text += *piece;
    }
  }

  std::string directory_;
  std::string text_;
};

TEST_F(InputStreamTest, ReadsPlainGzipAndZstdByTheirFirstBytes) {
  for (const std::string& bytes : {text_, Gzip(text_), Zstd(text_)}) {
    const Read got = ReadAll(Write(bytes));
    EXPECT_TRUE(got.status.ok()) << got.status.ToString();
    EXPECT_EQ(got.text, text_);
    EXPECT_EQ(got.consumed, bytes.size());
    EXPECT_EQ(got.total, bytes.size());
  }
}

TEST_F(InputStreamTest, ReadsSeveralMembersAndFramesInOneFile) {
  EXPECT_EQ(ReadAll(Write(Gzip(text_) + Gzip("") + Gzip("tail"))).text, text_ + "tail");
  EXPECT_EQ(ReadAll(Write(Gzip(text_) + std::string(512, '\0'))).text, text_);
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(ReadAll(Write(skippable + Zstd(text_) + skippable + Zstd("tail"))).text, text_ + "tail");
}

TEST_F(InputStreamTest, ReadsEmptyAndTinyFiles) {
  for (const char* text : {"", "a", "ab", "abc"}) {
    const Read got = ReadAll(Write(text));
    EXPECT_TRUE(got.status.ok());
    EXPECT_EQ(got.text, text);
  }
  EXPECT_EQ(ReadAll(Write(Gzip(""))).text, "");
  EXPECT_EQ(ReadAll(Write(Zstd(""))).text, "");
}

TEST_F(InputStreamTest, ReportsACutOffFileWithItsOffsetAfterGivingWhatWasWhole) {
  for (const std::string& bytes : {Gzip(text_), Zstd(text_)}) {
    for (const std::size_t left :
         {bytes.size() - 1, bytes.size() - 5, bytes.size() / 2, std::size_t{12}, std::size_t{5}}) {
      const std::string path = Write(bytes.substr(0, left));
      const Read got = ReadAll(path);
      EXPECT_EQ(got.status.code(), StatusCode::kCorruption) << left;
      EXPECT_THAT(std::string(got.status.message()), HasSubstr(path + "@" + std::to_string(left) + ": "));
      EXPECT_THAT(std::string(got.status.message()), HasSubstr("cut off"));
      EXPECT_TRUE(text_.starts_with(got.text));
    }
  }
}

TEST_F(InputStreamTest, ReportsDamage) {
  for (std::string bytes : {Gzip(text_), Zstd(text_)}) {
    for (std::size_t i = 0; i < 40; ++i) {
      bytes[bytes.size() / 2 + i] = static_cast<char>(i * 37);
    }
    const Read got = ReadAll(Write(bytes));
    EXPECT_TRUE(got.status.code() == StatusCode::kCorruption || got.text != text_);
  }
  std::string checksum = Gzip(text_);
  checksum[checksum.size() - 8] ^= 1;
  EXPECT_EQ(ReadAll(Write(checksum)).status.code(), StatusCode::kCorruption);
  EXPECT_EQ(ReadAll(Write(Gzip(text_) + "garbage")).status.code(), StatusCode::kCorruption);
  EXPECT_EQ(ReadAll(Write(Zstd(text_) + "garbage")).status.code(), StatusCode::kCorruption);
}

TEST_F(InputStreamTest, NamesAFileThatCannotBeRead) {
  const Status missing = ReadAll(directory_ + "/none").status;
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(directory_ + "/none"));
  const Status directory = ReadAll(directory_).status;
  EXPECT_EQ(directory.code(), StatusCode::kIoError);
}

TEST_F(InputStreamTest, ReadsStandardInput) {
  const std::string path = Write(Gzip(text_));
  const int saved = ::dup(STDIN_FILENO);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  ::dup2(::fileno(file), STDIN_FILENO);
  const Read got = ReadAll("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  std::fclose(file);
  EXPECT_EQ(got.text, text_);
}

TEST_F(InputStreamTest, ReadsAPipeThatGivesAFewBytesAtATime) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  ASSERT_EQ(::write(ends[1], "ab", 2), 2);
  ASSERT_EQ(::write(ends[1], "cdef", 4), 4);
  ::close(ends[1]);
  const Read got = ReadAll(path);
  ::close(ends[0]);
  EXPECT_EQ(got.text, "abcdef");
  EXPECT_EQ(got.total, 0u);
}

}  // namespace
}  // namespace tsdb
