// Two processes and one database: a second writer is refused, readers read beside the first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class CliBeside : public CliTest {
 protected:
  /// Returns when `ready` holds; fails the test after a while.
  static void WaitFor(const std::function<bool()>& ready) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!ready()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  /// The pid in the lock file; empty while nobody has written one.
  std::string Holder() const {
    std::ifstream file(Db() + "/LOCK");
    std::string pid;
    std::getline(file, pid);
    return pid;
  }
};

TEST_F(CliBeside, ReadersSeeWhatARunningIngestHasStored) {
  RunningCli writer({"--db", Db(), "ingest", "--unit", "ms", "-"});
  writer.Write("m,h=a v=1 1000\nm,h=a v=2 2000\nn,h=b v=3 3000\n");
  WaitFor([&] { return Cli({"query", "{}", "--output", "csv"}).out.find("3000") != std::string::npos; });
  const CliResult query = CliOk({"query", "m_v", "--output", "csv"});
  EXPECT_THAT(query.out, HasSubstr("1000"));
  EXPECT_THAT(query.err, HasSubstr("is used by process " + Holder() + ": reading beside it"));
  EXPECT_EQ(CliOk({"--read-only", "--quiet", "query", "m_v", "--output", "csv"}).out, query.out);
  EXPECT_THAT(CliOk({"series"}).out, HasSubstr("n_v"));
  EXPECT_THAT(CliOk({"labels"}).out, HasSubstr("h\n"));
  EXPECT_EQ(CliOk({"label-values", "h"}).out, "a\nb\n");
  EXPECT_EQ(Json::parse(CliOk({"info", "m_v{h=\"a\"}", "--json"}).out)["samples"], 2);
  EXPECT_EQ(Json::parse(CliOk({"stats", "--json"}).out)["samples"], 3);
  EXPECT_THAT(CliOk({"export", "--format", "influx"}).out, HasSubstr("m"));
  EXPECT_EQ(writer.Wait().exit_code, 0);
}

TEST_F(CliBeside, ASecondWriterIsToldWhoHoldsTheDatabase) {
  RunningCli writer({"--db", Db(), "ingest", "-"});
  writer.Write("m v=1 1000000000\n");
  WaitFor([&] { return !Holder().empty(); });
  const std::string pid = Holder();
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"ingest", File("more.lp", "m v=2 2000000000\n")}, {"flush"}}) {
    const CliResult second = Cli(args);
    EXPECT_EQ(second.exit_code, 1) << args[0];
    EXPECT_THAT(second.err, HasSubstr("process " + pid)) << args[0];
  }
  EXPECT_EQ(writer.Wait().exit_code, 0);
  CliOk({"flush"});
}

TEST_F(CliBeside, ALockLeftByAKilledProcessIsNoObstacle) {
  RunningCli writer({"--db", Db(), "ingest", "--unit", "ms", "-"});
  writer.Write("m v=1 1000\n");
  WaitFor([&] { return Cli({"query", "{}", "--output", "csv"}).out.find("1000") != std::string::npos; });
  writer.Signal(SIGKILL);
  EXPECT_EQ(writer.Wait().exit_code, 128 + SIGKILL);
  EXPECT_NE(Holder(), "");
  CliOk({"ingest", "--unit", "ms", "-"}, {"m v=2 2000\n", {}});
  EXPECT_EQ(Json::parse(CliOk({"stats", "--json"}).out)["samples"], 2);
}

TEST_F(CliBeside, ReadOnlyChangesNothingAndRefusesWhatWould) {
  CliOk({"ingest", "--unit", "ms", "-"}, {"m v=1 1000\n", {}});
  const auto listing = [&] {
    std::map<std::string, std::filesystem::file_time_type> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Db())) {
      found[entry.path().string()] = entry.last_write_time();
    }
    return found;
  };
  const auto before = listing();
  EXPECT_THAT(CliOk({"--read-only", "query", "m_v", "--output", "csv"}).out, HasSubstr("1000"));
  CliOk({"--read-only", "stats"});
  for (const char* command : {"flush", "init", "ingest"}) {
    const CliResult refused = Cli({"--read-only", command});
    EXPECT_EQ(refused.exit_code, 1) << command;
    EXPECT_THAT(refused.err, HasSubstr("leave --read-only out")) << command;
  }
  EXPECT_EQ(listing(), before);
  const CliResult missing = RunProgram(TSDB_CLI_PATH, {"--read-only", "--db", Path("nowhere"), "query", "m_v"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(Path("nowhere")));
}

}  // namespace
}  // namespace tsdb::cli_test
