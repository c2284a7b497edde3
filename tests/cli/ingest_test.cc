// ingest through the program: inputs, reports, errors, signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class CliIngest : public CliTest {};

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "m,h=a v=" + std::to_string(i) + " " + std::to_string(1000 + i) + "\n";
  }
  return text;
}

TEST_F(CliIngest, ReadsPlainGzipZstdAndStandardInput) {
  const std::string text = Lines(1000);
  const std::map<std::string, std::vector<std::string>> runs = {
      {"plain", {"ingest", "--unit", "ms", File("a.lp", text)}},
      {"gzip", {"ingest", "--unit", "ms", File("a.lp.gz", Gzip(text))}},
      {"zstd", {"ingest", "--unit", "ms", File("a.lp.zst", Zstd(text))}},
      {"dash", {"ingest", "--unit", "ms", "-"}},
      {"nothing", {"ingest", "--unit", "ms"}},
  };
  for (auto [name, args] : runs) {
    args.insert(args.begin(), {"--db", Path(name)});
    const bool from_stdin = name == "dash" || name == "nothing";
    EXPECT_EQ(RunProgram(TSDB_CLI_PATH, args, {from_stdin ? text : "", {}}).exit_code, 0) << name;
    const CliResult rows =
        RunProgram(TSDB_CLI_PATH, {"--db", Path(name), "query", "{}", "--aggregate", "count,sum", "--output", "csv"});
    EXPECT_EQ(rows.out, "key,time,count,sum\n\"m_v{h=\"\"a\"\"}\",1000,1000,499500\n") << name;
  }
}

TEST_F(CliIngest, TheJsonReportHasExactlyTheseKeys) {
  const CliResult result = CliOk({"ingest", "--json", "--unit", "ms", "-"}, {Lines(10), {}});
  const Json report = Json::parse(result.out);
  std::set<std::string> keys;
  for (const auto& [key, value] : report.items()) {
    keys.insert(key);
  }
  EXPECT_EQ(keys, (std::set<std::string>{"read", "stored", "replaced", "rejected", "rounded", "series", "new_series",
                                         "seconds", "samples_per_second", "bytes_on_disk", "errors"}));
  EXPECT_EQ(report["read"], 10);
  EXPECT_EQ(report["stored"], 10);
  EXPECT_EQ(report["series"], 1);
  EXPECT_EQ(report["new_series"], 1);
  EXPECT_GT(report["seconds"], 0);
  EXPECT_GT(report["bytes_on_disk"], 0);
  EXPECT_EQ(report["errors"], Json::array());
  EXPECT_THAT(result.err, HasSubstr("10 samples read: 10 stored, 0 replaced, 0 rejected"));
}

TEST_F(CliIngest, BadLinesAreNamedSkippedAndCounted) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "m v=" + std::to_string(i) + " " + std::to_string(i) + "\nbad line " + std::to_string(i) + "\n";
  }
  const std::string file = File("some.lp", text);
  const CliResult result = Cli({"ingest", "--format", "influx", "--unit", "ms", "--json", file});
  EXPECT_EQ(result.exit_code, 3);
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["read"], 60);
  EXPECT_EQ(report["stored"], 30);
  EXPECT_EQ(report["rejected"], 30);
  ASSERT_EQ(report["errors"].size(), 20u);
  EXPECT_THAT(report["errors"][0].get<std::string>(), StartsWith(file + ":2: "));
  EXPECT_THAT(result.err, HasSubstr(file + ":2: "));
  EXPECT_THAT(result.err, HasSubstr(file + ":40: "));
  EXPECT_THAT(result.err, Not(HasSubstr(file + ":42: ")));
  EXPECT_THAT(result.err, HasSubstr("30 samples or lines rejected"));
}

TEST_F(CliIngest, StopEndsAtTheFirstBadLineAndKeepsWhatCameBefore) {
  const CliResult result =
      Cli({"ingest", "--format", "influx", "--unit", "ms", "--on-error", "stop", "--json", "-"},
          {"m v=1 1\nbad\nm v=2 2\n", {}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(Json::parse(result.out)["rejected"], 1);
  EXPECT_THAT(result.err, HasSubstr("-:2: "));
  EXPECT_EQ(Rows("m_v"), "m_v,1,1\n");
}

TEST_F(CliIngest, SeveralFilesAreOneReport) {
  const CliResult result =
      CliOk({"ingest", "--unit", "ms", "--json", File("1.lp", "m v=1 1\n"), File("2.lp", "m v=2 2\n")});
  EXPECT_EQ(Json::parse(result.out)["stored"], 2);
  EXPECT_EQ(Json::parse(result.out)["series"], 1);
}

TEST_F(CliIngest, AMissingFileFailsBeforeAnythingIsCreated) {
  const CliResult result = Cli({"ingest", File("1.lp", "m v=1 1\n"), Path("none.lp")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("none.lp"));
  EXPECT_FALSE(std::filesystem::exists(Db()));
}

TEST_F(CliIngest, ACutOffCompressedFileFailsAndStoresOnlyWholeLines) {
  std::string lines;
  for (int i = 0; i < 200'000; ++i) {
    lines += "m v=" + std::to_string(i * 7919 % 100'003) + " " + std::to_string(i) + "\n";
  }
  std::string packed = Gzip(lines);
  packed.resize(packed.size() / 2);
  const CliResult result = Cli({"ingest", "--format", "influx", "--unit", "ms", "--json", File("cut.lp.gz", packed)});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cut.lp.gz"));
  const std::uint64_t stored = Json::parse(result.out)["stored"];
  EXPECT_GT(stored, 0u);
  EXPECT_EQ(Json::parse(result.out)["rejected"], 0);
  // The newest stored sample is whole: a line cut in half would carry another value or time.
  const std::int64_t last = static_cast<std::int64_t>(stored) - 1;
  EXPECT_EQ(Rows("m_v", {"--reverse", "--limit", "1"}),
            "m_v," + std::to_string(last) + "," + std::to_string(last * 7919 % 100'003) + "\n");
}

TEST_F(CliIngest, LabelsAreAddedToEverySeries) {
  CliOk({"ingest", "--unit", "ms", "--label", "job=n ode", "--label", "dc=a=b", "-"}, {"m,h=a v=1 1\n", {}});
  EXPECT_EQ(CliOk({"series", "--output", "jsonl"}).out,
            "{\"key\":\"m_v{dc=\\\"a=b\\\",h=\\\"a\\\",job=\\\"n ode\\\"}\",\"labels\":{\"__name__\":\"m_v\","
            "\"dc\":\"a=b\",\"h\":\"a\",\"job\":\"n ode\"}}\n");
}

TEST_F(CliIngest, DuplicatePoliciesHoldForOneRun) {
  struct Row {
    const char* policy;
    const char* expected;
    int exit_code;
  };
  const Row rows[] = {{"last", "2", 0}, {"first", "5", 0}, {"min", "2", 0},
                      {"max", "5", 0},  {"sum", "7", 0},   {"block", "5", 3}};
  for (const Row& row : rows) {
    const std::string line = std::string("m,p=") + row.policy;
    CliOk({"ingest", "--unit", "ms", "-"}, {line + " v=5 1\n", {}});
    const CliResult result = Cli({"ingest", "--unit", "ms", "--duplicates", row.policy, "-"}, {line + " v=2 1\n", {}});
    EXPECT_EQ(result.exit_code, row.exit_code) << row.policy << ": " << result.err;
    EXPECT_THAT(Rows(std::string("m_v{p=\"") + row.policy + "\"}"),
                EndsWith(std::string(",1,") + row.expected + "\n"));
  }
}

TEST_F(CliIngest, CsvColumnsBecomeMetricsAndLabels) {
  const std::string csv = "time,room,temp,hum\n1000,\"a,b\",1.5,40\n2000,\"a,b\",,41\n";
  CliOk({"ingest", "--csv-time", "time", "--csv-value", "temp,hum", "--csv-labels", "room", "--metric", "climate",
         File("c.csv", csv)});
  const std::string rows = Rows("{room=\"a,b\"}");
  EXPECT_THAT(rows, HasSubstr(",1000,1.5\n"));
  EXPECT_THAT(rows, HasSubstr(",1000,40\n"));
  EXPECT_THAT(rows, HasSubstr(",2000,41\n"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 3);
}

TEST_F(CliIngest, AnInterruptStoresWholeLinesAndReports) {
  RunningCli cli({"--db", Db(), "ingest", "--format", "influx", "--unit", "ms", "--json", "-"});
  cli.Write("m v=1 1\nm v=2 2\nm v=34");  // the last line is not whole
  // The samples arrive without waiting for a full batch: an idle stream is flushed. Only when they are there the signal
  // is sent.
  for (int i = 0; i < 1000 && Cli({"query", "m_v", "--output", "csv"}).out.find("m_v,2,2") == std::string::npos; ++i) {
    ::usleep(50'000);
  }
  cli.Signal(SIGINT);
  const CliResult result = cli.Wait(/*keep_input=*/true);
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(Json::parse(result.out)["stored"], 2);
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  EXPECT_EQ(Rows("m_v"), "m_v,1,1\nm_v,2,2\n");
}

TEST_F(CliIngest, ASecondWriterIsRefusedWithTheHolder) {
  RunningCli first({"--db", Db(), "ingest", "--format", "influx", "--unit", "ms", "-"});
  first.Write("m v=1 1\n");
  CliResult second;
  for (int i = 0; i < 200 && second.exit_code != 1; ++i) {
    ::usleep(50'000);
    second = Cli({"flush"});
    if (second.err.find("no database") != std::string::npos) {
      second.exit_code = -1;  // the first has not got that far yet
    }
  }
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, ::testing::ContainsRegex("tsdb-cli: .*[0-9]+"));
  EXPECT_EQ(std::count(second.err.begin(), second.err.end(), '\n'), 1);
  EXPECT_EQ(first.Wait().exit_code, 0);
  EXPECT_EQ(Rows("m_v"), "m_v,1,1\n");
}

}  // namespace
}  // namespace tsdb::cli_test
