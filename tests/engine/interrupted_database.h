// InterruptedDatabase: a database in memory with which something happens between the steps of a test: a flush, a kill,
// a clean close, a merge. What the test sees must be the same whatever it is.
#pragma once

#include <memory>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {

enum class Between { kNothing, kFlush, kKill, kClose, kCompact };

class InterruptedDatabase : public testing::Test {
 protected:
  void SetUp() override { Open(); }

  /// Opens it anew, without closing it first when it is open.
  void Open() {
    db_.reset();
    TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(&fs_, &clock_));
  }
  void CleanReopen() {
    TSDB_ASSERT_OK(db_->Close());
    Open();
  }
  void Happens(Between what) {
    switch (what) {
      case Between::kNothing:
        break;
      case Between::kFlush:
        TSDB_ASSERT_OK(db_->Flush());
        break;
      case Between::kKill:
        ASSERT_NO_FATAL_FAILURE(Open());
        break;
      case Between::kClose:
        ASSERT_NO_FATAL_FAILURE(CleanReopen());
        break;
      case Between::kCompact:
        ASSERT_TRUE(db_->Compact().ok());
        break;
    }
  }

  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
};

}  // namespace tsdb::engine
