// What users of such databases have tripped over, through the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// Labels and samples of every series, from `query {} --output jsonl`.
std::map<std::string, Json> AllSeries(const std::string& jsonl) {
  std::map<std::string, Json> series;
  for (std::size_t begin = 0; begin < jsonl.size();) {
    const std::size_t end = jsonl.find('\n', begin);
    const Json object = Json::parse(jsonl.substr(begin, end - begin));
    series[object["labels"].dump()] = object["samples"];
    begin = end + 1;
  }
  return series;
}

class CliCases : public CliTest {
 protected:
  Json Ingest(const std::string& content, std::vector<std::string> more, int exit_code = 0) {
    more.insert(more.begin(), {"ingest", "--json", File("input", content)});
    const CliResult result = Cli(std::move(more));
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return Json::parse(result.out);
  }
  std::map<std::string, Json> Series() { return AllSeries(CliOk({"query", "{}", "--output", "jsonl"}).out); }
};

TEST_F(CliCases, LineProtocolEscapesMakeSixSeries) {
  const Json report = Ingest(
      "room\\ temp\\,east,site=line\\ 1\\,bay\\=2,op\\=er=a\\=b value=1,my\\ field\\,x=2,k\\=v=3 1700000000000000000\n"
      "a=b,t=1 v=4 1700000001000000000\n"
      "m,t=\"q\\ q\" v=5 1700000002000000000\n"
      "m,städt=Zürich\\ ☃ größe=6 1700000003000000000\n",
      {"--format", "influx", "--unit", "ns"});
  EXPECT_EQ(report["stored"], 6);
  EXPECT_EQ(report["rejected"], 0);
  const Json east = {{"op=er", "a=b"}, {"site", "line 1,bay=2"}};
  const auto labels = [](Json base, const char* name) {
    base["__name__"] = name;
    return base.dump();
  };
  const std::map<std::string, Json> expected = {
      {labels(east, "room temp,east_value"), Json::parse("[[1700000000000,1]]")},
      {labels(east, "room temp,east_my field,x"), Json::parse("[[1700000000000,2]]")},
      {labels(east, "room temp,east_k=v"), Json::parse("[[1700000000000,3]]")},
      {labels({{"t", "1"}}, "a=b_v"), Json::parse("[[1700000001000,4]]")},
      {labels({{"t", "\"q q\""}}, "m_v"), Json::parse("[[1700000002000,5]]")},
      {labels({{"städt", "Zürich ☃"}}, "m_größe"), Json::parse("[[1700000003000,6]]")},
  };
  EXPECT_EQ(Series(), expected);
}

TEST_F(CliCases, LineEndsMarksAndCommentsOfWindowsFilesAreNotData) {
  const Json report = Ingest(
      "\xef\xbb\xbf# head\r\nm,h=a v=1 1000\r\n\r\n   \r\n  # indented comment\r\n#m,h=a v=9 9000\r\n"
      "   m,h=a v=2 2000   \r\nm,h=a  v=3  3000\r\nm,h=a v=4\r\nm,h=a v=6   \r\nm,h=a v=5 5000",
      {"--format", "influx", "--unit", "ms"});
  EXPECT_EQ(report["read"], 6);
  EXPECT_EQ(report["rejected"], 0);
  const auto series = Series();
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series.begin()->first, R"({"__name__":"m_v","h":"a"})");
  const Json& samples = series.begin()->second;
  ASSERT_GE(samples.size(), 5u);
  EXPECT_EQ(samples[0], Json::parse("[1000,1]"));
  EXPECT_EQ(samples[1], Json::parse("[2000,2]"));
  EXPECT_EQ(samples[2], Json::parse("[3000,3]"));
  EXPECT_EQ(samples[3], Json::parse("[5000,5]"));
  EXPECT_EQ(samples.back()[1], 6);  // written last; it may share its millisecond with 4
}

struct UnitCase {
  const char* unit;
  const char* line;
  std::int64_t expected_ms;
};

TEST_F(CliCases, TheUnitBelongsToTheCall) {
  const UnitCase cases[] = {
      {"s", "u,f=s v=1 1558025088\n", 1558025088000},
      {"ms", "u,f=ms v=2 1558025088636\n", 1558025088636},
      {"us", "u,f=us v=3 1558025088636123\n", 1558025088636},
      {"ns", "u,f=ns v=4 1558025088636123456\n", 1558025088636},
      {"ns", "u,f=wrong v=5 1558025088636\n", 1558025},
  };
  for (const UnitCase& c : cases) {
    Ingest(c.line, {"--format", "influx", "--unit", c.unit});
    const std::string name = std::string(c.line).substr(4, std::string(c.line).find(' ') - 4);
    EXPECT_THAT(Rows("u_v{f=\"" + name + "\"}"), HasSubstr("," + std::to_string(c.expected_ms) + ","));
  }
  const Json report = Ingest("u,f=over v=6 9223372036854775807\n", {"--format", "influx", "--unit", "s"}, 3);
  EXPECT_EQ(report["rejected"], 1);
  EXPECT_THAT(report["errors"][0].get<std::string>(), HasSubstr("input:1:"));
  EXPECT_EQ(Rows("u_v{f=\"over\"}"), "");
}

TEST_F(CliCases, BucketsBeforeTheEpochRoundDown) {
  Ingest("b v=1 -101\nb v=1 -100\nb v=1 -1\nb v=1 0\nb v=1 99\nb v=1 100\n", {"--format", "influx", "--unit", "ms"});
  Ingest("h v=1 -1800000\nh v=2 -1\nh v=4 0\n", {"--format", "influx", "--unit", "ms"});
  const std::vector<std::string> counts = {"--from",      "-1000", "--to",     "1000",
                                           "--aggregate", "count", "--bucket", "100"};
  EXPECT_EQ(Rows("b_v", counts), "b_v,-200,1\nb_v,-100,2\nb_v,0,2\nb_v,100,1\n");
  std::vector<std::string> aligned = counts;
  aligned.insert(aligned.end(), {"--align", "30"});
  EXPECT_EQ(Rows("b_v", aligned), "b_v,-170,2\nb_v,-70,2\nb_v,30,2\n");
  EXPECT_EQ(Rows("h_v", {"--aggregate", "sum", "--bucket", "3600000"}), "h_v,-3600000,3\nh_v,0,4\n");
  EXPECT_EQ(Rows("h_v", {"--aggregate", "sum", "--bucket", "1d"}), "h_v,-86400000,3\nh_v,0,4\n");
}

TEST_F(CliCases, VariancesOfLargeAndOfConstantValuesAreStable) {
  Ingest(
      "c v=1.5990505637277868 1\nc v=1.5990505637277868 2\nc v=1.5990505637277868 3\n"
      "o v=1000000004 1\no v=1000000007 2\no v=1000000013 3\no v=1000000016 4\n"
      "d v=1783468800000 1\nd v=1783468800000 2\nd v=1783468800000 3\n",
      {"--format", "influx", "--unit", "ms"});
  const auto check = [&](const char* when) {
    const auto rows = [&](const char* metric) {
      return Rows(metric, {"--aggregate", "var.p,var.s,std.p,std.s", "--bucket", "1000"});
    };
    EXPECT_EQ(rows("c_v"), "c_v,0,0,0,0,0\n") << when;
    EXPECT_EQ(rows("d_v"), "d_v,0,0,0,0,0\n") << when;
    // Deviations -6 -3 3 6: 90 / 4 and 90 / 3.
    EXPECT_EQ(rows("o_v"), "o_v,0,22.5,30,4.743416490252569,5.477225575051661\n") << when;
  };
  check("in files");
  CliOk({"compact"});
  check("merged");
}

TEST_F(CliCases, IntegersBeyondTwoToThe53AreRoundedAndCounted) {
  const Json report = Ingest(
      "n a=9007199254740991i,b=9007199254740993i,c=1702878157125929618i,d=9223372036854775807i,"
      "e=-9223372036854775808i,f=18446744073709551615u 1000\n",
      {"--format", "influx", "--unit", "ms"});
  EXPECT_EQ(report["stored"], 6);
  EXPECT_EQ(report["rounded"], 4);  // a and e are exact
  const std::map<std::string, double> expected = {{"a", 9007199254740991.0},    {"b", 9007199254740992.0},
                                                  {"c", 1702878157125929728.0}, {"d", 9223372036854775808.0},
                                                  {"e", -9223372036854775808.0}, {"f", 18446744073709551616.0}};
  const auto first = Series();
  ASSERT_EQ(first.size(), expected.size());
  for (const auto& [field, value] : expected) {
    EXPECT_EQ(first.at("{\"__name__\":\"n_" + field + "\"}"), Json::array({Json::array({1000, value})})) << field;
  }
  for (const char* format : {"influx", "openmetrics", "csv", "jsonl"}) {
    const std::string text = CliOk({"export", "--format", format}).out;
    const std::string copy = Path(std::string("copy-") + format);
    const CliResult import = RunProgram(TSDB_CLI_PATH, {"--db", copy, "ingest", "--format", format, "-"}, {text, {}});
    ASSERT_EQ(import.exit_code, 0) << format << ": " << import.err << text;
    const CliResult again = RunProgram(TSDB_CLI_PATH, {"--db", copy, "query", "{}", "--output", "jsonl"});
    EXPECT_EQ(AllSeries(again.out), first) << format;
  }
}

TEST_F(CliCases, PointsOfOneTimeAreJoinedFieldByFieldAndTheLaterOneWins) {
  Ingest("m,h=a x=1,y=2 5\nm,h=a y=3,z=4 5\n", {"--format", "influx", "--unit", "ms"});
  for (int round = 0; round < 2; ++round) {
    std::map<std::string, Json> expected;
    for (const auto& [field, value] : {std::pair{"m_x", 1}, {"m_y", 3}, {"m_z", 4}}) {
      expected[Json({{"__name__", field}, {"h", "a"}}).dump()] = Json::array({Json::array({5, value})});
    }
    EXPECT_EQ(Series(), expected);
    CliOk({"compact"});
  }
}

TEST_F(CliCases, UnorderedAndRepeatedSamplesOfAnExpositionAreKeptLastWins) {
  const std::string text =
      "# TYPE r gauge\nr{host=\"h1\"} 3 1686096003\nr{host=\"h2\"} 10 1686096001\nr{host=\"h1\"} 1 1686096001\n"
      "r{host=\"h1\"} 2 1686096002\nr{host=\"h2\"} 9 1686096000\nr{host=\"h1\"} 12 1686096035.177\n"
      "r{host=\"h1\"} 11 1686096035.177\nr{host=\"h1\"} 12 1686096035.177\nr{host=\"h1\"} 13 1686096035.177\n# EOF\n";
  Json report = Ingest(text, {"--format", "openmetrics"});
  EXPECT_EQ(report["read"], 9);
  EXPECT_EQ(report["stored"], 6);
  EXPECT_EQ(report["replaced"], 3);
  const auto first = Series();
  const std::map<std::string, Json> expected = {
      {R"({"__name__":"r","host":"h1"})",
       Json::parse("[[1686096001000,1],[1686096002000,2],[1686096003000,3],[1686096035177,13]]")},
      {R"({"__name__":"r","host":"h2"})", Json::parse("[[1686096000000,9],[1686096001000,10]]")}};
  EXPECT_EQ(first, expected);
  report = Ingest(text, {"--format", "openmetrics"});
  EXPECT_EQ(report["stored"], 0);
  EXPECT_EQ(report["replaced"], 9);
  EXPECT_EQ(Series(), expected);
}

/// A directory with a locale that writes decimal commas; empty when this machine cannot make one.
std::string GermanLocale(const std::string& dir) {
  const CliResult made = RunProgram("localedef", {"-i", "de_DE", "-f", "UTF-8", dir + "/de_DE.UTF-8"});
  return made.exit_code == 0 ? dir : "";
}

TEST_F(CliCases, ADecimalCommaLocaleChangesNothing) {
  const std::string lp = File("in.lp", "loc v=1.5 1000\nloc v=-0.25 2000\nloc v=1e-7 3000\nloc v=1234567.875 4000\n");
  const std::string csv = File("in.csv",
                               "time,name,value\n5000,loc2,2.5\n6000,loc2,\"2,5\"\n7000,loc2,\"1.234,5\"\n"
                               "8000,loc2,\"1,234.5\"\n");
  const std::string prom = File("in.prom", "loc3 3.75 1000\n");
  std::filesystem::create_directory(Path("loc"));
  const std::string locale = GermanLocale(Path("loc"));
  const auto run_all = [&](const std::string& db, const std::map<std::string, std::string>& env) {
    std::string all;
    const auto run = [&](std::vector<std::string> args, int exit_code) {
      args.insert(args.begin(), {"--db", Path(db)});
      const CliResult result = RunProgram(TSDB_CLI_PATH, args, {"", env});
      EXPECT_EQ(result.exit_code, exit_code) << result.err;
      all += result.out;
      return result.err;
    };
    run({"ingest", "--format", "influx", "--unit", "ms", lp}, 0);
    const std::string errors =
        run({"ingest", "--csv-time", "time", "--csv-value", "value", "--csv-labels", "name", "--metric", "m", csv}, 3);
    for (const char* line : {"in.csv:3:", "in.csv:4:", "in.csv:5:"}) {
      EXPECT_THAT(errors, HasSubstr(line));
    }
    run({"ingest", "--format", "prometheus", prom}, 0);
    for (const char* output : {"table", "csv", "json", "jsonl"}) {
      run({"query", "{}", "--output", output}, 0);
    }
    for (const char* format : {"influx", "openmetrics", "csv", "jsonl"}) {
      run({"export", "--format", format}, 0);
    }
    return all;
  };
  const std::string plain = run_all("c", {{"LC_ALL", "C"}});
  EXPECT_THAT(plain, HasSubstr("loc_v,1000,1.5\nloc_v,2000,-0.25\nloc_v,3000,1e-07\nloc_v,4000,1234567.875\n"));
  EXPECT_THAT(plain, HasSubstr(",5000,2.5\n"));
  EXPECT_THAT(plain, Not(HasSubstr(",6000,")));
  EXPECT_THAT(plain, HasSubstr("loc3,1000,3.75\n"));
  if (locale.empty()) {
    GTEST_SKIP() << "localedef cannot make de_DE.UTF-8 here";
  }
  EXPECT_EQ(run_all("de", {{"LC_ALL", "de_DE.UTF-8"}, {"LOCPATH", locale}}), plain);
}

}  // namespace
}  // namespace tsdb::cli_test
