// Each byte of a table is checked before RocksDB makes anything of it.
#include <gtest/gtest.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "index/sealed_tables.h"
#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

class SealedTables : public ::testing::Test {
 protected:
  SealedTables() {
    options_.env = SealingEnv();
    rocksdb::BlockBasedTableOptions table;
    table.format_version = 5;
    table.checksum = rocksdb::kXXH3;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.no_block_cache = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options_.compression = rocksdb::kNoCompression;
  }

  void WriteTable(std::size_t value_bytes) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    ASSERT_TRUE(writer.Open(path_).ok());
    std::mt19937_64 random(1);
    for (int i = 100; i < 200; ++i) {
      std::string value(value_bytes, '\0');
      for (char& byte : value) {
        byte = static_cast<char>(random());
      }
      ASSERT_TRUE(writer.Put(std::to_string(i), value).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }

  // OK when the table opens and all its entries can be read.
  rocksdb::Status ReadTable() const {
    rocksdb::SstFileReader reader(options_);
    if (rocksdb::Status status = reader.Open(path_); !status.ok()) {
      return status;
    }
    rocksdb::ReadOptions read;
    read.verify_checksums = true;
    const std::unique_ptr<rocksdb::Iterator> all(reader.NewIterator(read));
    int entries = 0;
    for (all->SeekToFirst(); all->Valid(); all->Next()) {
      ++entries;
    }
    EXPECT_TRUE(!all->status().ok() || entries == 100);
    return all->status();
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryDirectory folder_;
  const std::string path_ = folder_.path() + "/000001.sst";
  rocksdb::Options options_;
};

TEST_F(SealedTables, EveryByteOfATableThatIsOneTailIsChecked) {
  WriteTable(10);
  const std::string bytes = Bytes();
  ASSERT_TRUE(ReadTable().ok());
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(bytes[at] ^ (1 << bit))).flush();
      const rocksdb::Status status = ReadTable();
      ASSERT_TRUE(status.IsCorruption()) << at << " bit " << bit << ": " << status.ToString();
    }
    file.seekp(static_cast<std::streamoff>(at));
    file.put(bytes[at]).flush();
  }
  EXPECT_TRUE(ReadTable().ok());
}

TEST_F(SealedTables, EveryByteOfALongTableIsChecked) {
  WriteTable(500);
  const std::string bytes = Bytes();
  ASSERT_GT(bytes.size(), 48u << 10);
  ASSERT_TRUE(ReadTable().ok());
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  for (std::size_t at = 0; at < bytes.size(); at += at < (40u << 10) ? 29 : 1) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(bytes[at] ^ (1 << (at % 8)))).flush();
    const rocksdb::Status status = ReadTable();
    ASSERT_TRUE(status.IsCorruption()) << at << ": " << status.ToString();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(bytes[at]).flush();
  }
  EXPECT_TRUE(ReadTable().ok());
}

TEST_F(SealedTables, OneOfAnyOtherLengthIsDamaged) {
  WriteTable(10);
  const std::string bytes = Bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes.substr(0, length);
    ASSERT_FALSE(ReadTable().ok()) << length;
  }
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes << bytes.substr(bytes.size() - 28);
  EXPECT_FALSE(ReadTable().ok());
}

// What RocksDB does where files cannot be linked.
TEST_F(SealedTables, ACopyThroughTheEnvironmentIsSealedAgain) {
  WriteTable(500);
  const std::string bytes = Bytes();
  std::string table;
  ASSERT_TRUE(rocksdb::ReadFileToString(options_.env, path_, &table).ok());
  EXPECT_EQ(table, bytes.substr(0, bytes.size() - 28));
  std::uint64_t size = 0;
  ASSERT_TRUE(options_.env->GetFileSize(path_, &size).ok());
  EXPECT_EQ(size, table.size());
  ASSERT_TRUE(options_.env->DeleteFile(path_).ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(options_.env, table, path_, /*should_sync=*/true).ok());
  EXPECT_EQ(Bytes(), bytes);
  EXPECT_TRUE(ReadTable().ok());
}

}  // namespace
}  // namespace tsdb::index
