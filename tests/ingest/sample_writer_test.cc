// What all importers share: batches, refs, refused samples, stopping.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ingest/memory_sink.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImportOptions Options(std::size_t batch_samples) {
  ImportOptions options;
  options.format = TextFormat::kInflux;
  options.unit = TimeUnit::kMilliseconds;
  options.has_unit = true;
  options.batch_samples = batch_samples;
  options.source = "a.lp";
  return options;
}

Status FeedAll(Importer& importer, std::string_view text) {
  TSDB_RETURN_IF_ERROR(importer.Feed(text));
  return importer.Finish();
}

TEST(SampleWriter, NamesASeriesByLabelsOnceAndByRefAfterwards) {
  MemorySink sink;
  auto importer = *Importer::Create(Options(2), sink.AsSink());
  ASSERT_TRUE(FeedAll(*importer, "m,h=a x=1,y=2 1\nm,h=a x=3,y=4 2\nm,h=a y=5,x=6 3\n").ok());
  EXPECT_EQ(sink.batches, 3u);
  EXPECT_EQ(sink.samples_by_labels, 2u);
  EXPECT_EQ(sink.samples_by_ref, 4u);
  EXPECT_EQ(importer->summary().new_series, 2u);
}

TEST(SampleWriter, ResolvesADroppedSeriesAgainAndStoresItsSamples) {
  MemorySink sink;
  auto importer = *Importer::Create(Options(2), sink.AsSink());
  ASSERT_TRUE(importer->Feed("m x=1,y=1 1\n").ok());
  sink.Drop("m_x");
  ASSERT_TRUE(FeedAll(*importer, "m x=2,y=2 2\nm x=3,y=3 3\n").ok());
  EXPECT_EQ(importer->summary().rejected, 0u);
  EXPECT_EQ(importer->summary().stored, 6u);
  EXPECT_THAT(sink.content().at("m_x"), ElementsAre(std::pair(2, Bits(2)), std::pair(3, Bits(3))));
  EXPECT_EQ(importer->summary().new_series, 3u);
}

TEST(SampleWriter, NamesTheLineOfARefusedSample) {
  MemorySink sink;
  sink.refused_times = {2, 4};
  auto importer = *Importer::Create(Options(100), sink.AsSink());
  ASSERT_TRUE(FeedAll(*importer, "m x=1 1\n\nm x=2,y=2 2\nm x=3 3\nm x=4 4").ok());
  EXPECT_THAT(importer->summary().errors,
              ElementsAre("a.lp:3: time too far ahead", "a.lp:3: time too far ahead", "a.lp:5: time too far ahead"));
  const ImportSummary& s = importer->summary();
  EXPECT_EQ(s.read, 5u);
  EXPECT_EQ(s.read, s.stored + s.replaced + s.ignored + s.rejected);
}

TEST(SampleWriter, CountsReplacedSamplesApartFromNewOnes) {
  MemorySink sink;
  auto importer = *Importer::Create(Options(100), sink.AsSink());
  ASSERT_TRUE(FeedAll(*importer, "m x=1 1\nm x=2 1\nm x=3 2\n").ok());
  EXPECT_EQ(importer->summary().read, 3u);
  EXPECT_EQ(importer->summary().stored, 2u);
  EXPECT_EQ(importer->summary().replaced, 1u);
}

TEST(SampleWriter, KeepsTheFirstTwentyErrorsAndCountsAll) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "bad" + std::to_string(i) + "\n";
  }
  const Imported got = ImportText(Options(10), text);
  EXPECT_EQ(got.summary.errors.size(), 20u);
  EXPECT_EQ(got.summary.rejected, 30u);
  EXPECT_THAT(got.summary.errors.back(), HasSubstr("a.lp:20: "));
}

TEST(SampleWriter, StopsAtTheFirstBadLineWithWhatStoodBeforeItStored) {
  ImportOptions options = Options(100);
  options.stop_on_error = true;
  const Imported got = ImportText(options, "m x=1 1\nm x=2 2\nbad\nm x=3 3\n");
  EXPECT_EQ(got.status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(got.status.message()), HasSubstr("a.lp:3: no fields"));
  EXPECT_THAT(got.content.at("m_x"), ElementsAre(std::pair(1, Bits(1)), std::pair(2, Bits(2))));
}

TEST(SampleWriter, StopsAtTheFirstRefusedSample) {
  ImportOptions options = Options(1);
  options.stop_on_error = true;
  MemorySink sink;
  sink.refused_times = {2};
  auto importer = *Importer::Create(options, sink.AsSink());
  const Status status = importer->Feed("m x=1 1\nm x=2 2\nm x=3 3\n");
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "a.lp:2: time too far ahead");
  EXPECT_THAT(sink.content().at("m_x"), ElementsAre(std::pair(1, Bits(1))));
}

TEST(SampleWriter, EndsWithTheSinksErrorAndStaysEnded) {
  MemorySink sink;
  auto importer = *Importer::Create(Options(1), sink.AsSink());
  ASSERT_TRUE(importer->Feed("m x=1 1\n").ok());
  sink.failure = Status::NoSpace("disk full");
  const Status status = importer->Feed("m x=2 2\nm x=3 3\n");
  EXPECT_EQ(status.code(), StatusCode::kNoSpace);
  EXPECT_EQ(status.message(), "a.lp:2: disk full");
  sink.failure = {};
  EXPECT_EQ(importer->Feed("m x=4 4\n").code(), StatusCode::kNoSpace);
  EXPECT_EQ(importer->Finish().code(), StatusCode::kNoSpace);
  EXPECT_EQ(sink.content().at("m_x").size(), 1u);
}

TEST(SampleWriter, FlushSendsWhatWasGathered) {
  MemorySink sink;
  auto importer = *Importer::Create(Options(1000), sink.AsSink());
  ASSERT_TRUE(importer->Feed("m x=1 1\nm x=2 ").ok());
  EXPECT_EQ(sink.batches, 0u);
  ASSERT_TRUE(importer->Flush().ok());
  EXPECT_EQ(sink.content().at("m_x").size(), 1u);
  ASSERT_TRUE(FeedAll(*importer, "2\n").ok());
  EXPECT_EQ(sink.content().at("m_x").size(), 2u);
}

TEST(SampleWriter, RefusesALineThatIsFarTooLongAndGoesOn) {
  const std::string text = "m x=1 1\n" + std::string(17u << 20, 'a') + "\nm x=2 2\n";
  const Imported whole = ImportText(Options(10), text);
  const Imported pieces = ImportText(Options(10), text, 100'000);
  EXPECT_THAT(whole.summary.errors, ElementsAre("a.lp:2: line longer than 16 MiB"));
  EXPECT_EQ(whole.summary.errors, pieces.summary.errors);
  EXPECT_EQ(whole.content, pieces.content);
  EXPECT_EQ(whole.content.at("m_x").size(), 2u);
  EXPECT_EQ(pieces.summary.lines, 3u);
}

TEST(SampleWriter, ShowsOffendingTextShortAndWithoutControlCharacters) {
  const Imported got = ImportText(Options(10), "m x=\x1b[31m\xff" + std::string(500, 'y') + " 1\n");
  ASSERT_EQ(got.summary.errors.size(), 1u);
  EXPECT_THAT(got.summary.errors[0], HasSubstr("\"\\x1b[31m\\xffyyy"));
  EXPECT_LT(got.summary.errors[0].size(), 120u);
}

}  // namespace
}  // namespace tsdb::ingest_test
