// selftest as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;

class Selftest : public CliTest {};

TEST_F(Selftest, KillsDamagesSaysWhatItDidAndLeavesNothing) {
  const std::string dir = Path("scratch");
  const CliResult result = CliOk({"selftest", "--dir", dir, "--rounds", "4", "--seed", "7"});
  EXPECT_THAT(result.out, HasSubstr("seed 7"));
  EXPECT_THAT(result.out, HasSubstr("4 kills: "));
  EXPECT_THAT(result.out, HasSubstr("8 damaged copies: "));
  EXPECT_THAT(result.out, HasSubstr("a synced write takes "));
  EXPECT_THAT(result.out, HasSubstr("everything acknowledged was there"));
  EXPECT_TRUE(std::filesystem::is_empty(dir));
  EXPECT_FALSE(std::filesystem::exists(Db())) << "it works on a folder of its own";
}

TEST_F(Selftest, RefusesNoRoundsAndAFolderItCannotMake) {
  EXPECT_EQ(Cli({"selftest", "--rounds", "0"}).exit_code, 2);
  const CliResult result = Cli({"selftest", "--dir", File("file", "x")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("--dir"));
}

}  // namespace
}  // namespace tsdb::cli_test
