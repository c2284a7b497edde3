// What one database exports in any format, another one takes in with the same samples, bit for bit: over the recorded
// data beside the source tree ($TSDB_DATA_DIR, by default ../shared/data) and over made-up data of every kind of bits.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "tests/engine/engine_test_util.h"
#include "tsdb/ingest.h"

namespace tsdb::engine {
namespace {

constexpr TextFormat kFormats[] = {TextFormat::kInflux, TextFormat::kOpenMetrics, TextFormat::kCsv,
                                   TextFormat::kJsonLines};
/// Samples taken from each file, so that the suite stays quick.
constexpr std::uint64_t kSamplesPerFile = 60'000;

struct Instance {
  MemoryFileSystem fs;
  FakeClock clock{4'000'000'000'000'000'000};
  std::unique_ptr<Database> db;

  Instance() {
    auto opened = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    EXPECT_TRUE(opened.ok());
    db = std::move(*opened);
  }
};

ImportSummary Import(Database& db, const ImportOptions& options, std::string_view text) {
  auto importer = Importer::Create(options, [&](const WriteBatch& batch) { return db.Append(batch); });
  EXPECT_TRUE(importer.ok()) << importer.status().ToString();
  EXPECT_TRUE((*importer)->Feed(text).ok());
  EXPECT_TRUE((*importer)->Finish().ok());
  return (*importer)->summary();
}

std::string Export(Database& db, TextFormat format) {
  std::string text;
  auto exporter = Exporter::Create(format, db.unit());
  EXPECT_TRUE(exporter.ok());
  (*exporter)->Begin(&text);
  auto result = db.Query({});
  EXPECT_TRUE(result.ok());
  ColumnBatch batch;
  while ((*result)->NextSeries()) {
    const Status begun = (*exporter)->BeginSeries((*result)->series(), &text);
    EXPECT_TRUE(begun.ok()) << begun.ToString();
    while ((*result)->NextBatch(&batch)) {
      (*exporter)->Samples(batch.times, batch.columns[0], &text);
    }
    (*exporter)->EndSeries(&text);
  }
  (*exporter)->End(&text);
  return text;
}

/// Line protocol has no NaN and no infinities: what it cannot carry is left out on the other side as well.
Contents WithoutSpecials(Contents contents) {
  for (auto& [key, samples] : contents) {
    std::erase_if(samples, [](const auto& sample) { return !std::isfinite(std::bit_cast<double>(sample.second)); });
  }
  std::erase_if(contents, [](const auto& series) { return series.second.empty(); });
  return contents;
}

void CheckEveryFormat(Database& db) {
  const Contents expected = ReadAll(db);
  for (const TextFormat format : kFormats) {
    SCOPED_TRACE(std::string(TextFormatName(format)));
    const std::string text = Export(db, format);
    Instance other;
    ImportOptions options;
    options.format = format;
    const ImportSummary summary = Import(*other.db, options, text);
    EXPECT_EQ(summary.rejected, 0u) << (summary.errors.empty() ? "" : summary.errors[0]);
    const Contents found = ReadAll(*other.db);
    ASSERT_TRUE(found == (format == TextFormat::kInflux ? WithoutSpecials(expected) : expected));
    // A second time round changes nothing, not even the text (where a line is a sample).
    if (format == TextFormat::kOpenMetrics || format == TextFormat::kCsv) {
      EXPECT_TRUE(Export(*other.db, format) == text);
    }
  }
}

TEST(ExportRoundTrip, RecordedDataComesBackBitForBit) {
  const char* named = std::getenv("TSDB_DATA_DIR");
  const std::filesystem::path folder =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(TSDB_TEST_SOURCE_DIR).parent_path().parent_path() / "shared" / "data";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "no data in " << folder << "; set TSDB_DATA_DIR";
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".csv.gz")) {
      continue;
    }
    SCOPED_TRACE(entry.path().filename().string());
    auto input = InputStream::Open(entry.path().string());
    ASSERT_TRUE(input.ok()) << input.status().ToString();
    Instance instance;
    ImportOptions options;
    options.format = TextFormat::kCsv;
    options.metric = "m";
    options.csv.time_column = "timestamp_ms";
    options.csv.value_columns = {"value"};
    std::string text;
    for (std::string_view piece = *(*input)->Next(); !piece.empty(); piece = *(*input)->Next()) {
      text += piece;
      if (text.size() > kSamplesPerFile * 60) {
        text.resize(text.rfind('\n') + 1);
        break;
      }
    }
    if (text.starts_with("series,")) {
      options.csv.label_columns = {"series"};
    }
    const ImportSummary summary = Import(*instance.db, options, text);
    ASSERT_EQ(summary.rejected, 0u) << (summary.errors.empty() ? "" : summary.errors[0]);
    ASSERT_GT(summary.stored, 1000u);
    TSDB_ASSERT_OK(instance.db->Flush());
    ASSERT_NO_FATAL_FAILURE(CheckEveryFormat(*instance.db));
    ++files;
  }
  EXPECT_GT(files, 0u);
}

TEST(ExportRoundTrip, AnyBitsOfAValueComeBack) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Instance instance;
    WriteBatch batch;
    for (int series = 0; series < 5; ++series) {
      const auto local = batch.AddLabels(*Labels::FromPairs(
          {{"__name__", "odd_bits"}, {"text", "a \"q\", b=" + std::to_string(series)}, {"größe", "x\\y"}}));
      for (int i = 0; i < 400; ++i) {
        const std::uint64_t bits =
            i % 3 == 0 ? random() : std::bit_cast<std::uint64_t>(static_cast<double>(random() % 100'000) / 1000);
        batch.Add(local, 1'700'000'000'000 + i * 250 + static_cast<Timestamp>(random() % 100),
                  std::bit_cast<double>(bits));
      }
    }
    ASSERT_TRUE(instance.db->Append(batch).ok());
    ASSERT_NO_FATAL_FAILURE(CheckEveryFormat(*instance.db));
  }
}

}  // namespace
}  // namespace tsdb::engine
