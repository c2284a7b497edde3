#include "tsdb/status.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tsdb/result.h"

namespace tsdb {
namespace {

TEST(Status, OkHasNoMessageAndPrintsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "ok");
  EXPECT_TRUE(Status(StatusCode::kOk, "ignored").ok());
}

TEST(Status, PrintsTheNameOfItsCodeBeforeTheMessage) {
  EXPECT_EQ(Status::Corruption("a@7: checksum mismatch").ToString(), "corruption: a@7: checksum mismatch");
  EXPECT_EQ(Status::IoError("disk").ToString(), "I/O error: disk");
}

TEST(Status, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::kInternal); ++code) {
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(StatusCode::kInternal) + 1);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(Status, ContextStandsBeforeTheMessageAndKeepsTheCode) {
  const Status status = Status::NoSpace("write").WithContext("wal/000001.log");
  EXPECT_EQ(status.code(), StatusCode::kNoSpace);
  EXPECT_EQ(status.message(), "wal/000001.log: write");
  EXPECT_TRUE(Status::Ok().WithContext("anything").ok());
}

TEST(Status, CopiesAreIndependentAndAssigningToItselfChangesNothing) {
  Status a = Status::Busy("first");
  Status b = a;
  a = Status::Closed("second");
  EXPECT_EQ(b.message(), "first");
  const Status& same = b;
  b = same;
  EXPECT_EQ(b.ToString(), "busy: first");
  b = Status();
  EXPECT_TRUE(b.ok());
}

Result<int> Half(int n) {
  if (n % 2 != 0) {
    return Status::InvalidArgument("odd");
  }
  return n / 2;
}
Result<int> Quarter(int n) {
  TSDB_ASSIGN_OR_RETURN(const int half, Half(n));
  return Half(half);
}

TEST(Result, CarriesEitherTheValueOrTheStatus) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_TRUE(Quarter(12).status().ok());
  EXPECT_FALSE(Quarter(6).ok());
  EXPECT_EQ(Quarter(5).status().message(), "odd");
}

}  // namespace
}  // namespace tsdb
