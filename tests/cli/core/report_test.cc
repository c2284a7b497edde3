// What an import tells: the progress line, the summary, the JSON object; and tables and output they go to.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/text/escape.h"
#include "cli/text/id_set.h"
#include "cli/text/import_report.h"
#include "cli/text/output.h"
#include "cli/text/progress.h"
#include "cli/text/table.h"

namespace tsdb::cli {
namespace {

using ::testing::HasSubstr;

TEST(Progress, ShowsShareRateAndTimeLeftOfAFile) {
  ProgressState state;
  state.name = "points.lp";
  state.bytes_done = 50;
  state.bytes_total = 100;
  state.samples = 3'000'000;
  state.seconds = 2;
  state.input_seconds = 2;
  EXPECT_EQ(RenderProgress(state, 200),
            "points.lp  [############............]  50 %  3 M samples  1.5 M/s  2 s left");
}

TEST(Progress, ShowsBytesOfAStream) {
  ProgressState state;
  state.name = "standard input";
  state.bytes_done = 2048;
  state.samples = 10;
  EXPECT_EQ(RenderProgress(state, 200), "standard input  2.0 KiB  10 samples");
}

TEST(Progress, NeverExceedsTheWidthNorTheWholeFile) {
  ProgressState state;
  state.name = "Zürich-\x1b[2J-a-very-long-name-of-a-file.lp";
  state.bytes_done = 300;
  state.bytes_total = 100;  // a file that grew
  EXPECT_THAT(RenderProgress(state, 200), HasSubstr("100 %"));
  for (std::size_t width = 0; width < 60; ++width) {
    const std::string line = RenderProgress(state, width);
    EXPECT_LE(DisplayWidth(line), width);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
}

ImportSummary Summary(std::uint64_t stored, std::size_t errors) {
  ImportSummary summary;
  summary.read = stored + errors;
  summary.stored = stored;
  summary.rejected = errors;
  for (std::size_t i = 0; i < errors; ++i) {
    summary.errors.push_back("f:" + std::to_string(i) + ": \"bad\"");
  }
  return summary;
}

TEST(ImportReport, SumsInputsAndKeepsTheFirstTwentyErrors) {
  ImportReport report;
  report.Add(Summary(5, 15));
  report.Add(Summary(7, 15));
  EXPECT_EQ(report.sum.stored, 12u);
  EXPECT_EQ(report.sum.rejected, 30u);
  ASSERT_EQ(report.sum.errors.size(), 20u);
  EXPECT_EQ(report.sum.errors[15], "f:0: \"bad\"");
}

TEST(ImportReport, JsonHasTheKeysOfTheContractInOrder) {
  ImportReport report;
  report.Add(Summary(3, 1));
  report.sum.replaced = 2;
  report.sum.rounded = 1;
  report.sum.new_series = 1;
  report.series = 4;
  report.seconds = 0.5;
  report.bytes_on_disk = 99;
  std::string json;
  report.AppendJson(&json);
  EXPECT_EQ(json,
            "{\"read\":4,\"stored\":3,\"replaced\":2,\"rejected\":1,\"rounded\":1,\"series\":4,\"new_series\":1,"
            "\"seconds\":0.5,\"samples_per_second\":8,\"bytes_on_disk\":99,\"errors\":[\"f:0: \\\"bad\\\"\"]}\n");
}

TEST(ImportReport, PeopleHearOfRoundingAndIgnoredSamplesOnlyWhenThereAreAny) {
  ImportReport report;
  report.Add(Summary(3, 0));
  EXPECT_THAT(report.ForPeople(), ::testing::Not(HasSubstr("2^53")));
  EXPECT_THAT(report.ForPeople(), ::testing::Not(HasSubstr("without effect")));
  report.sum.rounded = 2;
  report.sum.ignored = 1;
  EXPECT_THAT(report.ForPeople(), HasSubstr("2 integers beyond 2^53 rounded"));
  EXPECT_THAT(report.ForPeople(), HasSubstr("1 without effect"));
}

TEST(IdSet, CountsDistinctIdsFarApart) {
  IdSet set;
  for (const std::uint64_t id : {1ull, 1ull, 65'535ull, 65'536ull, 1ull << 62, 1ull << 62}) {
    set.Insert(SeriesId{id});
  }
  EXPECT_EQ(set.size(), 4u);
}

TEST(Table, AlignsByCodePointsAndLeavesNoBlanksAtTheEnd) {
  Table table({"name", "count"}, {false, true});
  table.AddRow({"Zürich", "7"});
  table.AddRow({"a", "1,000"});
  std::string out;
  table.AppendTo(&out, false);
  EXPECT_EQ(out, "name    count\nZürich      7\na       1,000\n");
}

TEST(Output, TellsAReaderThatLeftFromAFullDevice) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  Output pipe(ends[1]);
  *pipe.buffer() = "x";
  EXPECT_FALSE(pipe.Flush());
  EXPECT_TRUE(pipe.reader_gone());
  EXPECT_TRUE(pipe.status().ok());
  ::close(ends[1]);

  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  Output device(full);
  *device.buffer() = std::string(100'000, 'x');
  EXPECT_FALSE(device.Drain());
  EXPECT_FALSE(device.reader_gone());
  EXPECT_EQ(device.status().code(), StatusCode::kIoError);
  ::close(full);
}

TEST(Output, KeepsSmallPiecesUntilEnoughGathered) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Output out(ends[1]);
  *out.buffer() += "hello";
  EXPECT_TRUE(out.Drain());
  EXPECT_EQ(out.buffer()->size(), 5u);
  EXPECT_TRUE(out.Flush());
  char text[16];
  EXPECT_EQ(::read(ends[0], text, sizeof text), 5);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace tsdb::cli
