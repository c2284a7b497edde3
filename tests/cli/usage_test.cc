// Wrong usage, help, global options and what cannot be opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class CliUsage : public CliTest {};

TEST_F(CliUsage, WrongUsageExitsTwoWithOneLineThatPointsToHelp) {
  const std::vector<std::vector<std::string>> rows = {
      {},
      {"nonsense"},
      {"dump"},
      {"query"},
      {"query", ""},
      {"query", "{}", "--fill", "null"},
      {"query", "cpu{"},
      {"query", "{}", "--key", "k"},
      {"query", "{}", "--aggregate", "median"},
      {"query", "{}", "--aggregate", ""},
      {"query", "{}", "--aggregate", "avg,"},
      {"query", "{}", "--bucket", "5m"},
      {"query", "{}", "--align", "start"},
      {"query", "{}", "--limit", "-1"},
      {"query", "{}", "--output", "xml"},
      {"ingest", "--label", "novalue"},
      {"ingest", "--label", "=v"},
      {"ingest", "--unit", "m"},
      {"ingest", "--batch", "0"},
      {"ingest", "--on-error", "ignore"},
      {"ingest", "--format", "influx", "--csv-time", "t"},
      {"ingest", "-", "-"},
      {"label-values"},
      {"info"},
      {"export"},
      {"export", "--format", "prometheus"},
      {"init", "--unit", "days"},
      {"init", "--retention", "soon"},
      {"init", "--max-bytes", "lots"},
      {"create"},
      {"alter", "key"},
      {"rename", "key"},
      {"delete", "{}"},
      {"drop"},
      {"retention", "--match", "{}"},
      {"bench", "write", "--series", "0"},
  };
  for (const auto& args : rows) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(args);
    EXPECT_EQ(result.out, "") << ::testing::PrintToString(args);
    EXPECT_THAT(result.err, MatchesRegex("tsdb-cli: .*: see 'tsdb-cli.* --help'\n")) << ::testing::PrintToString(args);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(Db()));
}

TEST_F(CliUsage, AMistypedWordIsNamedWithWhatWasMeant) {
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"qery", "{}"}, "tsdb-cli: there is no command 'qery'; did you mean query?: see 'tsdb-cli --help'\n"},
      {{"ser"}, "tsdb-cli: there is no command 'ser'; did you mean series?: see 'tsdb-cli --help'\n"},
      {{"teapot"}, "tsdb-cli: there is no command 'teapot': see 'tsdb-cli --help'\n"},
      {{"query", "{}", "--form", "5"},
       "tsdb-cli: there is no option --form; did you mean --from?: see 'tsdb-cli query --help'\n"},
      {{"series", "--rad-only"},
       "tsdb-cli: there is no option --rad-only; did you mean --read-only?: see 'tsdb-cli series --help'\n"},
      {{"labels", "extra"}, "tsdb-cli: not understood: extra: see 'tsdb-cli labels --help'\n"},
      {{"dump"}, "tsdb-cli: a command is missing: wal, file, manifest: see 'tsdb-cli dump --help'\n"},
      {{"series", "--limit", "few"},
       "tsdb-cli: --limit: 'few' is not a whole number from 0 up: see 'tsdb-cli series --help'\n"},
      {{"query", "{}", "--top", "0"},
       "tsdb-cli: --top: '0' is not a whole number from 1 up: see 'tsdb-cli query --help'\n"},
  };
  for (const auto& [args, message] : rows) {
    EXPECT_EQ(Cli(args).err, message);
  }
}

TEST_F(CliUsage, BadTimesAndDurationsAreWrongUsage) {
  CliOk({"init"});
  const std::vector<std::vector<std::string>> rows = {
      {"--from", "yesterday"},
      {"--to", "2026-13-01"},
      {"--from", "2000", "--to", "1000"},
      {"--aggregate", "avg", "--bucket", "5 parsecs"},
      {"--aggregate", "avg", "--bucket", "0"},
      {"--aggregate", "avg", "--bucket", "-5"},
      {"--aggregate", "avg", "--bucket", "5m", "--align", "start"},
      {"--aggregate", "avg", "--bucket", "5m", "--align", "end"},
      {"--aggregate", "avg", "--bucket", "5m", "--align", "noon"},
  };
  for (std::vector<std::string> args : rows) {
    args.insert(args.begin(), {"query", "{}"});
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(args);
    EXPECT_THAT(result.err, MatchesRegex("tsdb-cli: --.*: see 'tsdb-cli query --help'\n"));
  }
}

TEST_F(CliUsage, EveryHelpHasAnExampleAndExitsZero) {
  const std::vector<std::vector<std::string>> commands = {
      {},       {"init"},   {"ingest"}, {"query"},          {"series"},       {"labels"},           {"label-values"},
      {"info"}, {"export"}, {"stats"},  {"flush"},          {"verify"},       {"dump"},             {"dump", "wal"},
      {"create"}, {"alter"}, {"rename"}, {"delete"}, {"drop"}, {"undrop"}, {"retention"},
      {"dump", "file"},     {"dump", "manifest"},           {"bench"},        {"bench", "write"},   {"bench", "read"},
  };
  for (std::vector<std::string> args : commands) {
    std::string path = "tsdb-cli";
    for (const std::string& word : args) {
      path += " " + word;
    }
    args.push_back("--help");
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 0) << path;
    EXPECT_EQ(result.err, "") << path;
    EXPECT_THAT(result.out, HasSubstr("Usage: " + path)) << path;
    EXPECT_THAT(result.out, HasSubstr("Example")) << path;
    EXPECT_THAT(result.out, HasSubstr("\n  tsdb-cli ")) << path;
  }
  EXPECT_THAT(Cli({"--help"}).out, Not(HasSubstr("generate")));
}

TEST_F(CliUsage, VersionIsOneLine) {
  const CliResult result = CliOk({"--version"});
  EXPECT_THAT(result.out, MatchesRegex("tsdb-cli [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CliUsage, ReadingAMissingDatabaseFailsAndCreatesNothing) {
  const std::vector<std::vector<std::string>> rows = {
      {"query", "{}"}, {"series"}, {"labels"}, {"label-values", "host"},       {"info", "key"},
      {"stats"},       {"flush"},  {"verify"}, {"export", "--format", "influx"}};
  for (const auto& args : rows) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 1) << args[0];
    EXPECT_EQ(result.err, "tsdb-cli: no database at " + Db() + ": create it with 'tsdb-cli init' or ingest\n");
    EXPECT_EQ(result.out, "") << args[0];
  }
  EXPECT_FALSE(std::filesystem::exists(Db()));
}

TEST_F(CliUsage, TheDatabaseComesFromTheOptionThenTheEnvironment) {
  const auto run = [&](std::vector<std::string> args, const std::string& environment) {
    return RunProgram(TSDB_CLI_PATH, args, {"", {{"TSDB_DB", environment}}});
  };
  EXPECT_EQ(run({"init"}, Path("env")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("env")));
  EXPECT_EQ(run({"--db", Path("option"), "init"}, Path("env")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("option")));
  EXPECT_EQ(run({"init", "--db", Path("behind")}, Path("env")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("behind")));
}

TEST_F(CliUsage, InitRefusesADatabaseThatIsThere) {
  EXPECT_THAT(CliOk({"init", "--unit", "us", "--durability", "always"}).err, HasSubstr("unit us, durability always"));
  const CliResult again = Cli({"init"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("a database exists at " + Db()));
  const std::string stats = CliOk({"stats", "--json"}).out;
  EXPECT_THAT(stats, HasSubstr("\"unit\":\"us\""));
  EXPECT_THAT(stats, HasSubstr("\"durability\":\"always\""));
}

TEST_F(CliUsage, QuietSaysNothingOnSuccess) {
  EXPECT_EQ(CliOk({"--quiet", "init"}).err, "");
  EXPECT_EQ(CliOk({"--quiet", "ingest", "-"}, {"m v=1 1\n", {}}).err, "");
}

TEST_F(CliUsage, ColourOnlyWhenAskedForOrOnATerminal) {
  CliOk({"ingest", "-"}, {"m v=1 1\n", {}});
  EXPECT_THAT(CliOk({"query", "{}"}).out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(CliOk({"query", "{}", "--color", "always"}).out, HasSubstr("\x1b["));
  EXPECT_THAT(Cli({"--color", "always", "info", "nothing"}).err, HasSubstr("\x1b["));
  EXPECT_THAT(Cli({"info", "nothing"}).err, Not(HasSubstr("\x1b[")));
}

TEST_F(CliUsage, NamesOfCommandsMayBeNamesOfSeries) {
  CliOk({"ingest", "--format", "prometheus", "-"}, {"stats 1 1000\nquery{init=\"flush\"} 2 1000\n", {}});
  EXPECT_EQ(Rows("stats"), "stats,1000,1\n");
  EXPECT_THAT(CliOk({"info", "stats"}).out, HasSubstr("key"));
  EXPECT_EQ(CliOk({"label-values", "init"}).out, "flush\n");
  EXPECT_EQ(CliOk({"series", "query"}).out, "query{init=\"flush\"}\n");
}

}  // namespace
}  // namespace tsdb::cli_test
