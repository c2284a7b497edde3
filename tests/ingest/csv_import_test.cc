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

ImportOptions Csv(std::vector<std::string> values = {"value"}, std::vector<std::string> labels = {}) {
  ImportOptions options;
  options.format = TextFormat::kCsv;
  options.source = "in.csv";
  options.csv.time_column = "time";
  options.csv.value_columns = std::move(values);
  options.csv.label_columns = std::move(labels);
  return options;
}

TEST(CsvImport, RefusesADecimalCommaInsteadOfMisreadingIt) {
  const Imported got = ImportText(Csv({"value"}, {"name"}), ReadData("decimal_comma.csv"));
  EXPECT_THAT(got.summary.errors,
              ElementsAre("in.csv:3: not a number: \"2,5\"", "in.csv:4: not a number: \"1.234,5\"",
                          "in.csv:5: not a number: \"1,234.5\""));
  EXPECT_THAT(got.content,
              ElementsAre(std::pair("value{name=\"loc2\"}", std::map<Timestamp, std::uint64_t>{{5000, Bits(2.5)}})));
  EXPECT_EQ(ImportText(Csv({"value"}, {"name"}), "time,name,value\n1,a,2,5\n").summary.rejected, 1u);
}

TEST(CsvImport, NamesMetricsByOptionColumnAndLabelColumn) {
  const std::string text = "time,host,cpu,mem,__name__\n1,a,1,2,\n2,b,,4,x\n";
  const Imported plain = ImportText(Csv({"cpu", "mem"}, {"host"}), text);
  EXPECT_EQ(plain.content.size(), 3u);
  EXPECT_EQ(plain.content.count("cpu{host=\"a\"}"), 1u);
  EXPECT_EQ(plain.content.count("mem{host=\"b\"}"), 1u);
  ImportOptions options = Csv({"cpu", "mem"}, {"host", "__name__"});
  options.metric = "sys";
  const Imported named = ImportText(options, text);
  EXPECT_EQ(named.content.count("sys_cpu{host=\"a\"}"), 1u);
  EXPECT_EQ(named.content.count("x_mem{host=\"b\"}"), 1u);
  options.csv.value_columns = {"cpu"};
  EXPECT_EQ(ImportText(options, text).content.count("sys{host=\"a\"}"), 1u);
}

TEST(CsvImport, ReadsQuotedCellsWithCommasLineEndsAndQuotes) {
  const Imported got = ImportText(Csv({"value"}, {"n"}),
                                  "\xef\xbb\xbf\"time\",\"n\",value\r\n1,\"a,b\",1\r\n\"2\",\"l1\r\nl2\","
                                  "\"2\"\r\n\r\n3,\"say \"\"hi\"\"\",3\r\n4,it\"s,4\n5,,5\n 6 , x, 6 ");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  std::vector<std::string> names;
  for (const auto& [key, labels] : got.labels) {
    names.emplace_back(labels.Get("n"));
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("a,b", "l1\r\nl2", "say \"hi\"", "it\"s", "", " x"));
  EXPECT_EQ(got.summary.lines, 9u);
}

TEST(CsvImport, NamesTheLineBehindARecordOfSeveralLines) {
  const Imported got = ImportText(Csv({"value"}, {"n"}), "time,n,value\n1,\"a\nb\nc\",1\n2,x,bad\n");
  EXPECT_THAT(got.summary.errors, ElementsAre("in.csv:5: not a number: \"bad\""));
}

TEST(CsvImport, AnUnclosedQuoteCostsOnlyItsOwnLine) {
  const Imported got = ImportText(Csv({"value"}, {"n"}), "time,n,value\n1,\"open,1\n2,x,2\n3,\"a\"b,3\n4,x,4\n");
  EXPECT_THAT(got.summary.errors, ElementsAre(HasSubstr("in.csv:2: "), HasSubstr("in.csv:4: ")));
  EXPECT_EQ(got.content.at("value{n=\"x\"}").size(), 2u);
}

TEST(CsvImport, AnEmptyCellIsNoSample) {
  const Imported got = ImportText(Csv({"a", "b"}), "time,a,b\n1,,1\n2,2,\n3,,\n,,\n");
  EXPECT_EQ(got.summary.read, 2u);
  EXPECT_EQ(got.summary.rejected, 0u);
}

TEST(CsvImport, ReadsNumericTimesAndDatesButNoWords) {
  ImportOptions options = Csv();
  options.unit = TimeUnit::kSeconds;
  options.has_unit = true;
  const Imported got =
      ImportText(options, "time,value\n1700000000,1\n1700000000.5,2\n2023-11-14T22:13:21Z,3\n-1.5,4\n2023-11-14,5\n");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_THAT(got.content.at("value"), ElementsAre(std::pair(-1500, Bits(4)), std::pair(1699920000000, Bits(5)),
                                                   std::pair(1700000000000, Bits(1)), std::pair(1700000000500, Bits(2)),
                                                   std::pair(1700000001000, Bits(3))));
  for (const char* time : {"now", "now-1h", "-", "+", "+5", "1e9", "", "x", "2023-13-01T00:00:00Z",
                           "2023-11-14T22:13:20", "9223372036854775807", "99999999999999999999999", "2023-11-14 x"}) {
    EXPECT_EQ(ImportText(options, std::string("time,value\n") + time + ",1\n").summary.rejected, 1u) << time;
  }
}

TEST(CsvImport, ReadsColumnsByNumberWithoutAHeader) {
  ImportOptions options = Csv({"3", "4"}, {"2"});
  options.csv.time_column = "1";
  options.csv.no_header = true;
  options.metric = "m";
  const Imported got = ImportText(options, "1,a,10,20\n2,a,11\n");
  EXPECT_THAT(got.summary.errors, ElementsAre("in.csv:2: expected 4 cells, found 3"));
  EXPECT_EQ(got.content.count("m_3{2=\"a\"}") + got.content.count("m_3{\"2\"=\"a\"}"), 1u);
}

TEST(CsvImport, RefusesOptionsThatDoNotGoTogether) {
  ImportOptions options = Csv({"2"});
  options.csv.no_header = true;
  options.csv.time_column = "1";
  EXPECT_EQ(ImportText(options, "").status.code(), StatusCode::kInvalidArgument);  // no metric
  options.metric = "m";
  EXPECT_TRUE(ImportText(options, "1,2\n").status.ok());
  for (const char* column : {"0", "x", "-1", "1.5", ""}) {
    options.csv.time_column = column;
    EXPECT_EQ(ImportText(options, "").status.code(), StatusCode::kInvalidArgument) << column;
  }
}

TEST(CsvImport, EndsWhenTheHeaderLacksAColumn) {
  const Imported got = ImportText(Csv({"volts"}), "time,value\n1,2\n");
  EXPECT_EQ(got.status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(got.status.message()),
              HasSubstr("in.csv:1: no column \"volts\": the header has \"time\", \"value\""));
  EXPECT_EQ(ImportText(Csv({"value"}), "time,value,value\n").status.code(), StatusCode::kInvalidArgument);
}

TEST(CsvImport, DoesNotGuessColumnsThatWouldMergeSeries) {
  ImportOptions options;
  options.format = TextFormat::kCsv;
  EXPECT_EQ(ImportText(options, "time,name,value\n1,a,2\n").status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ImportText(options, "time,value\n1,2\n").content.count("value"), 1u);
  EXPECT_EQ(ImportText(options, "series,time,value\n\"m{a=\"\"b\"\"}\",1,2\n").content.count("m{a=\"b\"}"), 1u);
}

TEST(CsvImport, GivesTheSameWhereverThePiecesAreCut) {
  EXPECT_EQ(DifferenceBetweenSplits(
                Csv({"value"}, {"n"}),
                "\xef\xbb\xbftime,n,value\r\n1,\"a\r\n\"\"b\",1\r\n2,\"open,2\r\n3,x,bad\r\n4,\"y\"z\n\n5,x,5\r"),
            "");
}

}  // namespace
}  // namespace tsdb::ingest_test
