#include "cli/text/row_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace tsdb::cli {
namespace {

struct Series {
  SeriesInfo info;
  std::vector<std::vector<Sample>> batches;
};

Series MakeSeries(const Labels& labels, std::vector<std::vector<Sample>> batches) {
  Series series;
  series.info.labels = labels;
  series.info.key = labels.CanonicalKey();
  series.batches = std::move(batches);
  return series;
}

/// Everything a writer makes of raw series. With several columns the value of column i is value + i.
std::string Write(RowFormat format, const RowLayout& layout, const std::vector<Series>& all) {
  const std::unique_ptr<RowWriter> writer = RowWriter::Create(format, layout);
  const std::size_t columns = std::max<std::size_t>(layout.columns.size(), 1);
  std::string out;
  writer->Begin(&out);
  for (const Series& series : all) {
    writer->BeginSeries(series.info, &out);
    for (const auto& samples : series.batches) {
      std::vector<Timestamp> times;
      std::vector<std::vector<double>> values(columns);
      for (const Sample& sample : samples) {
        times.push_back(sample.time);
        for (std::size_t c = 0; c < columns; ++c) {
          values[c].push_back(sample.value + static_cast<double>(c));
        }
      }
      ColumnBatch batch;
      batch.times = times;
      batch.columns.assign(values.begin(), values.end());
      writer->Rows(batch, &out);
    }
    writer->EndSeries(&out);
  }
  writer->End(&out);
  return out;
}

const Series& CpuSeries() {
  static const Series series = MakeSeries({{"__name__", "cpu"}, {"host", "a,\"b\""}}, {{{1000, 1.5}}, {{2000, -20}}});
  return series;
}

TEST(RowWriter, CsvHasOneHeaderAndQuotedKeys) {
  EXPECT_EQ(Write(RowFormat::kCsv, {}, {CpuSeries(), CpuSeries()}),
            "key,time,value\n"
            "\"cpu{host=\"\"a,\\\"\"b\\\"\"\"\"}\",1000,1.5\n\"cpu{host=\"\"a,\\\"\"b\\\"\"\"\"}\",2000,-20\n"
            "\"cpu{host=\"\"a,\\\"\"b\\\"\"\"\"}\",1000,1.5\n\"cpu{host=\"\"a,\\\"\"b\\\"\"\"\"}\",2000,-20\n");
}

TEST(RowWriter, CsvOfNothingIsItsHeader) {
  RowLayout layout;
  layout.columns = {"avg", "std.p"};
  EXPECT_EQ(Write(RowFormat::kCsv, layout, {}), "key,time,avg,std.p\n");
}

TEST(RowWriter, JsonLinesAreOneObjectASeries) {
  EXPECT_EQ(Write(RowFormat::kJsonLines, {}, {CpuSeries()}),
            "{\"key\":\"cpu{host=\\\"a,\\\\\\\"b\\\\\\\"\\\"}\","
            "\"labels\":{\"__name__\":\"cpu\",\"host\":\"a,\\\"b\\\"\"},"
            "\"samples\":[[1000,1.5],[2000,-20]]}\n");
}

TEST(RowWriter, JsonOfSeveralColumnsNamesThem) {
  RowLayout layout;
  layout.columns = {"min", "max"};
  const Series m = MakeSeries({{"__name__", "m"}}, {{{0, 1}, {60, std::numeric_limits<double>::infinity()}}});
  EXPECT_EQ(Write(RowFormat::kJson, layout, {m, m}),
            "[\n{\"key\":\"m\",\"labels\":{\"__name__\":\"m\"},\"columns\":[\"min\",\"max\"],"
            "\"samples\":[[0,1,2],[60,\"+Inf\",\"+Inf\"]]},\n"
            "{\"key\":\"m\",\"labels\":{\"__name__\":\"m\"},\"columns\":[\"min\",\"max\"],"
            "\"samples\":[[0,1,2],[60,\"+Inf\",\"+Inf\"]]}\n]\n");
}

TEST(RowWriter, JsonOfNothingIsAnEmptyArray) { EXPECT_EQ(Write(RowFormat::kJson, {}, {}), "[]\n"); }

TEST(RowWriter, TableAlignsValuesUnderTheirTitles) {
  RowLayout layout;
  layout.unit = TimeUnit::kSeconds;
  layout.columns = {"avg", "count"};
  const Series m = MakeSeries({{"__name__", "m"}}, {{{0, 1.25}, {60, 1000}}});
  EXPECT_EQ(Write(RowFormat::kTable, layout, {m, m}),
            "m\n"
            "  time                   avg  count\n"
            "  1970-01-01T00:00:00Z  1.25   2.25\n"
            "  1970-01-01T00:01:00Z  1000   1001\n"
            "\n"
            "m\n"
            "  time                   avg  count\n"
            "  1970-01-01T00:00:00Z  1.25   2.25\n"
            "  1970-01-01T00:01:00Z  1000   1001\n");
}

TEST(RowWriter, TableWidthsGrowFromBatchToBatch) {
  RowLayout layout;
  layout.unit = TimeUnit::kSeconds;
  const Series m = MakeSeries({{"__name__", "m"}}, {{{0, 1}}, {{1, 123456789}}, {{2, 1}}});
  EXPECT_EQ(Write(RowFormat::kTable, layout, {m}),
            "m\n"
            "  time                  value\n"
            "  1970-01-01T00:00:00Z      1\n"
            "  1970-01-01T00:00:01Z  123456789\n"
            "  1970-01-01T00:00:02Z          1\n");
}

TEST(RowWriter, TableShowsKeysThatCannotMoveTheCursor) {
  const Series m = MakeSeries({{"__name__", "m"}, {"h", "\x1b[2J"}}, {});
  EXPECT_EQ(Write(RowFormat::kTable, {}, {m}), "m{h=\"\\x1b[2J\"}\n");
}

TEST(RowWriter, FormatsHaveNames) {
  EXPECT_EQ(*ParseRowFormat("jsonl"), RowFormat::kJsonLines);
  EXPECT_FALSE(ParseRowFormat("xml").ok());
}

}  // namespace
}  // namespace tsdb::cli
