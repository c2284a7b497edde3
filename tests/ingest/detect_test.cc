// Importer with TextFormat::kAuto.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/detecting_importer.h"
#include "tests/ingest/memory_sink.h"
#include "tests/ingest/test_data.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest_test {
namespace {

using ::testing::HasSubstr;

std::string Detected(const std::string& text) {
  const Result<TextFormat> format = ingest::DetectFormat(text, true, ImportOptions());
  return format.ok() ? std::string(TextFormatName(*format)) : std::string(format.status().message());
}

TEST(Detect, TellsEveryFormatByItsContent) {
  EXPECT_EQ(Detected(ReadData("escapes.lp")), "influx");
  EXPECT_EQ(Detected(ReadData("number_types.lp")), "influx");
  EXPECT_EQ(Detected(ReadData("repeated.om")), "openmetrics");
  EXPECT_EQ(Detected(ReadData("numbers_accepted.prom")), "prometheus");
  EXPECT_EQ(Detected(ReadData("label_escapes.prom")), "prometheus");
  EXPECT_EQ(Detected("series,time,value\n"), "csv");
  EXPECT_EQ(Detected("{\"labels\":{\"a\":\"b\"},\"t\":1,\"v\":1}\n"), "jsonl");
  EXPECT_EQ(Detected("{\"room temp\",a=\"b\"} 1\n"), "prometheus");
  EXPECT_EQ(Detected("# comment\n\nbad line\nm v=1\n"), "influx");
  EXPECT_EQ(Detected("a 1 1.5\n"), "openmetrics");
  EXPECT_EQ(Detected("# HELP x y\nm v=1\na 1\n"), "prometheus");
  EXPECT_EQ(Detected(""), "influx");
}

TEST(Detect, SaysWhichFormatToNameWhenItCannotTell) {
  EXPECT_THAT(Detected("time,name,value\n1,a,2\n"), HasSubstr("--format csv"));
  EXPECT_THAT(Detected("hello world\n"), HasSubstr("--format influx, prometheus, openmetrics, csv or jsonl"));
  const Imported got = ImportText(ImportOptions(), "hello\n");
  EXPECT_EQ(got.status.code(), StatusCode::kInvalidArgument);
}

TEST(Detect, DoesNotGuessBetweenFormatsWhoseTimesDiffer) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "metric{i=\"" + std::to_string(i) + "\"} 1 1700000000\n";
  }
  const Imported got = ImportText(ImportOptions(), text);
  EXPECT_EQ(got.status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(got.status.message()), HasSubstr("--format openmetrics"));
  EXPECT_TRUE(got.content.empty());
  // Without times there is nothing to mistake; and a text that is seen to its end has an end mark or not.
  std::string untimed;
  for (int i = 0; i < 20'000; ++i) {
    untimed += "metric{i=\"" + std::to_string(i) + "\"} 1\n";
  }
  EXPECT_EQ(ImportText(ImportOptions(), untimed).content.size(), 20'000u);
  EXPECT_EQ(ImportText(ImportOptions(), "a 1 1700000000\n# EOF\n").content.at("a").begin()->first, 1700000000000);
  EXPECT_EQ(ImportText(ImportOptions(), "a 1 1700000000\n").content.at("a").begin()->first, 1700000000);
}

TEST(Detect, TakesCsvWhenColumnsAreNamed) {
  ImportOptions options;
  options.csv.time_column = "time";
  options.csv.value_columns = {"v"};
  EXPECT_EQ(ImportText(options, "time,v\n1,2\n").content.count("v"), 1u);
}

TEST(Detect, GivesTheSameWhereverThePiecesAreCut) {
  EXPECT_EQ(DifferenceBetweenSplits(ImportOptions(), "\xef\xbb\xbf# c\n\nm,h=a x=1,y=2i 1000000\nbad\nm x=3 2000000"),
            "");
  EXPECT_EQ(DifferenceBetweenSplits(ImportOptions(), ReadData("repeated.om")), "");
  EXPECT_EQ(DifferenceBetweenSplits(ImportOptions(), "a{b=\"c\"} 1 1\nbad bad\na 2 2\n"), "");
  EXPECT_EQ(DifferenceBetweenSplits(ImportOptions(), "series,time,value\na,1,2\n"), "");
  EXPECT_EQ(DifferenceBetweenSplits(ImportOptions(), "hello\nworld,x\n"), "");
}

TEST(Detect, KnowsFormatsByName) {
  for (const char* name : {"auto", "influx", "prometheus", "openmetrics", "csv", "jsonl"}) {
    ASSERT_TRUE(ParseTextFormat(name).ok()) << name;
    EXPECT_EQ(TextFormatName(*ParseTextFormat(name)), name);
  }
  EXPECT_EQ(ParseTextFormat("xml").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tsdb::ingest_test
