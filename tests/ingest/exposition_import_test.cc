#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ingest/memory_sink.h"
#include "tests/ingest/test_data.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImportOptions Format(TextFormat format) {
  ImportOptions options;
  options.format = format;
  options.source = "scrape";
  options.now = [] { return Timestamp{777}; };
  return options;
}
ImportOptions Prometheus() { return Format(TextFormat::kPrometheus); }
ImportOptions OpenMetrics() { return Format(TextFormat::kOpenMetrics); }

TEST(PrometheusImport, ReadsEveryNumberSpellingAndSpacingOfTheFormat) {
  const Imported got = ImportText(Prometheus(), ReadData("numbers_accepted.prom"));
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_EQ(got.summary.stored, 20u);
  const double inf = std::numeric_limits<double>::infinity();
  const double values[] = {1, 5, -0.0, 100000, 100000, 20, 0.5, NAN, NAN, inf, -inf, inf, inf, -inf, 15, 16, 17};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const auto& samples = got.content.at("acc{i=\"" + std::to_string(i + 1) + "\"}");
    ASSERT_EQ(samples.size(), 1u);
    EXPECT_EQ(samples.begin()->first, 1700000000001 + static_cast<Timestamp>(i));
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(std::bit_cast<double>(samples.begin()->second)));
    } else {
      EXPECT_EQ(samples.begin()->second, Bits(values[i])) << i + 1;
    }
  }
  EXPECT_THAT(got.content.at("acc{i=\"18\"}"), ElementsAre(std::pair(-1, Bits(18))));
  EXPECT_THAT(got.content.at("acc"),
              ElementsAre(std::pair(1700000000019, Bits(19)), std::pair(1700000000020, Bits(20))));
}

TEST(PrometheusImport, RefusesEachMalformedLineAndStoresNothingOfIt) {
  const std::string text = ReadData("numbers_refused.prom");
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end + 1 - at);
    at = end + 1;
    ++lines;
    const Imported got = ImportText(Prometheus(), line);
    EXPECT_EQ(got.summary.rejected, 1u) << line;
    EXPECT_TRUE(got.content.empty()) << line;
    ASSERT_EQ(got.summary.errors.size(), 1u);
    EXPECT_THAT(got.summary.errors[0], ::testing::StartsWith("scrape:1: "));
  }
  EXPECT_EQ(lines, 17u);
  EXPECT_EQ(ImportText(Prometheus(), text).summary.rejected, 17u);
}

TEST(PrometheusImport, RefusesMoreMalformedLines) {
  for (const char* line : {"a{b=\"c\"",
                           "a{b=\"c\" 1",
                           "a{b=\"c\"}",
                           "a{b=c} 1",
                           "a{=\"c\"} 1",
                           "a{b} 1",
                           "a{,} 1",
                           "a{b=\"c\",,d=\"e\"} 1",
                           "a{b=\"c\"}} 1",
                           "{b=\"c\"} 1",
                           "{} 1",
                           "a-b 1",
                           "a.b 1",
                           "a 1e",
                           "a infinit",
                           "a +NaN",
                           "a --1",
                           "a NaN:1",
                           "a 1i",
                           "a \"1\"",
                           "a{b=\"c\",b=\"c\"} 1",
                           "a{__name__=\"b\"} 1",
                           "a{\"x\",\"y\"} 1",
                           "a 1 9223372036854775808",
                           "a 1 1e3",
                           "a{b=\"\xff\"} 1",
                           "größe 1",
                           "a 1 # {b=\"c\"} 1"}) {
    const Imported got = ImportText(Prometheus(), std::string(line) + "\nok 1 1\n");
    EXPECT_EQ(got.summary.rejected, 1u) << line;
    EXPECT_EQ(got.content.size(), 1u) << line;
  }
}

TEST(PrometheusImport, AcceptsBlanksAtTheEndOfALine) {
  const Imported got = ImportText(Prometheus(), "tail{i=\"1\"} 1 \ntail{i=\"2\"} 2 1700000000002 \t\r\n");
  EXPECT_EQ(got.summary.rejected, 0u);
  EXPECT_THAT(got.content.at("tail{i=\"1\"}"), ElementsAre(std::pair(777, Bits(1))));
  EXPECT_THAT(got.content.at("tail{i=\"2\"}"), ElementsAre(std::pair(1700000000002, Bits(2))));
}

TEST(PrometheusImport, UndoesExactlyThreeEscapesInLabelValues) {
  const Imported got = ImportText(Prometheus(), ReadData("label_escapes.prom"));
  EXPECT_EQ(got.summary.stored, 10u);
  const std::pair<const char*, const char*> want[] = {
      {"quote", "\"bar\""}, {"drive", "F:\\"}, {"nl", "l1\nl2"},         {"bsn", "a\\nb"}, {"lt", "<a&b>"},
      {"punct", "{},= #"},  {"bs3", "\\\\\""}, {"uni", "Größe ☃ 日本"}, {"tab", "a\tb"},  {"cr", "a\rb"}};
  for (const auto& [k, v] : want) {
    const Labels labels{{"__name__", "esc"}, {"k", k}, {"v", v}, {"z", "end"}};
    EXPECT_EQ(got.content.count(labels.CanonicalKey()), 1u) << k;
  }
  const Imported other = ImportText(Prometheus(), R"(m{v="a\tb\x"} 1)");
  EXPECT_EQ(other.labels.begin()->second, (Labels{{"__name__", "m"}, {"v", R"(a\tb\x)"}}));
}

TEST(PrometheusImport, AnEmptyLabelIsNoLabel) {
  const Imported got = ImportText(Prometheus(), "up{id=\"c\",m=\"x\"} 1 1\nup{id=\"c\",env=\"\",m=\"x\"} 2 2\n");
  EXPECT_EQ(got.content.size(), 1u);
  EXPECT_EQ(got.summary.new_series, 1u);
}

TEST(PrometheusImport, ReadsQuotedNames) {
  const Imported got = ImportText(Prometheus(), "{\"room temp\",\"städt\"=\"x\",ok=\"y\"} 1 1\n{\"plain\"} 2 2\n");
  EXPECT_EQ(got.summary.rejected, 0u);
  EXPECT_EQ(got.labels.size(), 2u);
  EXPECT_EQ(got.content.count(Labels{{"__name__", "room temp"}, {"städt", "x"}, {"ok", "y"}}.CanonicalKey()), 1u);
  EXPECT_EQ(got.content.count("plain"), 1u);
}

TEST(PrometheusImport, CountsRoundedIntegersAndKeepsTimesInMilliseconds) {
  ImportOptions options = Prometheus();
  options.database_unit = TimeUnit::kSeconds;
  const Imported got = ImportText(options, "a 9007199254740993 -1\na 9007199254740992 1999\n");
  EXPECT_EQ(got.summary.rounded, 1u);
  EXPECT_THAT(got.content.at("a"),
              ElementsAre(std::pair(-1, Bits(9007199254740992.0)), std::pair(1, Bits(9007199254740992.0))));
}

TEST(OpenMetricsImport, StoresUnorderedAndRepeatedSamplesWithTheLastOneWinning) {
  const Imported got = ImportText(OpenMetrics(), ReadData("repeated.om"));
  EXPECT_EQ(got.summary.read, 9u);
  EXPECT_EQ(got.summary.stored, 6u);
  EXPECT_EQ(got.summary.replaced, 3u);
  EXPECT_THAT(got.content.at("r{host=\"h1\"}"),
              ElementsAre(std::pair(1686096001000, Bits(1)), std::pair(1686096002000, Bits(2)),
                          std::pair(1686096003000, Bits(3)), std::pair(1686096035177, Bits(13))));
  EXPECT_THAT(got.content.at("r{host=\"h2\"}"),
              ElementsAre(std::pair(1686096000000, Bits(9)), std::pair(1686096001000, Bits(10))));
}

TEST(OpenMetricsImport, ConvertsSecondsExactlyRoundingDown) {
  const struct {
    const char* text;
    TimeUnit unit;
    Timestamp want;
  } rows[] = {
      {"1686096035.177", TimeUnit::kMilliseconds, 1686096035177},
      {"0.001", TimeUnit::kMilliseconds, 1},
      {"0.0009999", TimeUnit::kMilliseconds, 0},
      {"-0.0001", TimeUnit::kMilliseconds, -1},
      {"-1.5", TimeUnit::kMilliseconds, -1500},
      {"-1.5", TimeUnit::kSeconds, -2},
      {"1.7e9", TimeUnit::kMilliseconds, 1700000000000},
      {"1.7000000001e+9", TimeUnit::kMilliseconds, 1700000000100},
      {"1.", TimeUnit::kMilliseconds, 1000},
      {".5", TimeUnit::kMilliseconds, 500},
      {"9223372036.854775807", TimeUnit::kNanoseconds, 9223372036854775807},
      {"-9223372036.854775807", TimeUnit::kNanoseconds, -9223372036854775807},
      {"1e-400", TimeUnit::kMilliseconds, 0},
      {"0e999999999999", TimeUnit::kMilliseconds, 0},
      {"00000000000000000000001", TimeUnit::kMilliseconds, 1000},
  };
  for (const auto& row : rows) {
    ImportOptions options = OpenMetrics();
    options.database_unit = row.unit;
    const Imported got = ImportText(options, std::string("a 1 ") + row.text + "\n# EOF\n");
    ASSERT_EQ(got.content.count("a"), 1u) << row.text;
    EXPECT_EQ(got.content.at("a").begin()->first, row.want) << row.text;
  }
  for (const char* text : {"9223372036.854775808", "-9223372036.854775808", "1e30", "1e999999999999999999", "1e", "NaN",
                           "+1", "1.2.3", "0x1", "1e+-3", "-", "."}) {
    ImportOptions options = OpenMetrics();
    options.database_unit = TimeUnit::kNanoseconds;
    EXPECT_EQ(ImportText(options, std::string("a 1 ") + text + "\n# EOF\n").summary.rejected, 1u) << text;
  }
}

TEST(OpenMetricsImport, AcceptsExemplarsAndCreationTimesWithoutStoringThem) {
  const Imported got = ImportText(OpenMetrics(),
                                  "# TYPE foo histogram\n# UNIT foo seconds\n# HELP foo text\n"
                                  "foo_bucket{le=\"1\"} 5 1.5 # {trace_id=\"a}b\"} 0.5 1.4\n"
                                  "foo_bucket{le=\"+Inf\"} 6 # {} 7\n"
                                  "foo_created 1.2\nfoo_created{a=\"b\"} 1.2\n"
                                  "# TYPE bar gauge\nbar_created 3 4\n# EOF\n");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_EQ(got.summary.stored, 3u);
  EXPECT_EQ(got.summary.ignored, 4u);
  EXPECT_EQ(got.summary.read, 7u);
  EXPECT_EQ(got.content.count("bar_created"), 1u);
  EXPECT_EQ(got.content.count("foo_created"), 0u);
}

TEST(OpenMetricsImport, RefusesMalformedExemplars) {
  for (const char* exemplar :
       {"#", "# {", "# {a=b} 1", "# {a=\"b\"}", "# {a=\"b\"} x", "# {a=\"b\"} 1 x", "# {a=\"b\"} 1 2 3"}) {
    const Imported got = ImportText(OpenMetrics(), std::string("a_total 1 ") + exemplar + "\n# EOF\n");
    EXPECT_EQ(got.summary.rejected, 1u) << exemplar;
    EXPECT_TRUE(got.content.empty());
  }
}

TEST(OpenMetricsImport, ReportsAMissingEndMarkAndTextBehindIt) {
  EXPECT_THAT(ImportText(OpenMetrics(), "a 1 1\n").summary.errors, ElementsAre(HasSubstr("scrape:2: no '# EOF'")));
  const Imported got = ImportText(OpenMetrics(), "a 1 1\n# EOF\n\na 2 2\n");
  EXPECT_THAT(got.summary.errors, ElementsAre(HasSubstr("scrape:4: text after '# EOF': \"a 2 2\"")));
  EXPECT_EQ(got.content.at("a").size(), 1u);
}

TEST(OpenMetricsImport, KeepsNamesWithTheirSuffixes) {
  const Imported got = ImportText(OpenMetrics(), "# TYPE c counter\nc_total 1 1\n# EOF\n");
  EXPECT_EQ(got.content.count("c_total"), 1u);
}

TEST(ExpositionImport, GivesTheSameWhereverThePiecesAreCut) {
  EXPECT_EQ(DifferenceBetweenSplits(Prometheus(), ReadData("numbers_accepted.prom")), "");
  EXPECT_EQ(DifferenceBetweenSplits(Prometheus(), ReadData("numbers_refused.prom")), "");
  EXPECT_EQ(DifferenceBetweenSplits(OpenMetrics(), ReadData("repeated.om") + "a 1"), "");
}

}  // namespace
}  // namespace tsdb::ingest_test
