#include "base/series_definition.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/base/random_text.h"

namespace tsdb {
namespace {

// A series created by labels with every part, and its bytes as docs/format/definition.md gives them.
SeriesDefinition Example() {
  SeriesDefinition definition;
  definition.id = SeriesId{7};
  definition.labels = {{"__name__", "cpu"}, {"host", "a"}};
  definition.settings.has_duplicates = true;
  definition.settings.duplicates = DuplicatePolicy::kMax;
  return definition;
}
const std::string kExampleBytes =
    std::string("\x07\x00\x02\x08__name__\x03" "cpu" "\x04host\x01" "a" "\x01\x01\x01\x04", 27);

bool Decode(std::string_view bytes, SeriesDefinition* definition) {
  ByteReader reader(bytes);
  const bool decoded = DecodeDefinition(&reader, definition);
  EXPECT_EQ(decoded, reader.ok());
  return decoded && reader.empty();
}

TEST(SeriesDefinition, BytesAreThoseOfTheFormatDescription) {
  std::string bytes;
  EncodeDefinition(Example(), &bytes);
  EXPECT_EQ(bytes, kExampleBytes);
  SeriesDefinition decoded;
  ASSERT_TRUE(Decode(kExampleBytes, &decoded));
  EXPECT_EQ(decoded, Example());
  EXPECT_EQ(decoded.ShownKey(), "cpu{host=\"a\"}");
}

TEST(SeriesDefinition, LeavesTheCommitToTheContainer) {
  SeriesDefinition decoded;
  decoded.commit = CommitNumber{99};
  ASSERT_TRUE(Decode(kExampleBytes, &decoded));
  EXPECT_EQ(decoded.commit, CommitNumber{99});
}

TEST(SeriesDefinition, OfADroppedSeriesThatIsToComeBackAllIsKept) {
  SeriesDefinition dropped = Example();
  dropped.dropped = true;
  std::string bytes;
  EncodeDefinition(dropped, &bytes);
  SeriesDefinition decoded;
  decoded.commit = dropped.commit;
  ASSERT_TRUE(Decode(bytes, &decoded));
  EXPECT_EQ(decoded, dropped);
}

TEST(SeriesDefinition, OfADroppedSeriesOnlyTheIdIsKept) {
  SeriesDefinition dropped;
  dropped.id = SeriesId{7};
  dropped.dropped = true;
  std::string bytes;
  EncodeDefinition(dropped, &bytes);
  EXPECT_EQ(bytes, std::string("\x07\x02\x00", 3));
  SeriesDefinition decoded;
  ASSERT_TRUE(Decode(bytes, &decoded));
  EXPECT_TRUE(decoded.dropped);
  EXPECT_EQ(decoded.id, SeriesId{7});
  EXPECT_TRUE(decoded.labels.empty());
}

TEST(SeriesDefinition, SkipsUnknownOptionalFieldsAndRefusesUnknownRequiredOnes) {
  const std::string head("\x07\x00\x00", 3);  // id, flags, no labels
  SeriesDefinition decoded;
  EXPECT_TRUE(Decode(head + std::string("\x02\x02\x03" "abc" "\x03\x01\x14", 9), &decoded));
  EXPECT_EQ(decoded.settings.retention, 10);
  EXPECT_FALSE(Decode(head + std::string("\x01\x05\x03" "abc", 6), &decoded));
}

TEST(SeriesDefinition, RefusesBytesThatAreNotOne) {
  const struct {
    std::string_view why;
    std::string bytes;
  } rows[] = {
      {"id 0", std::string("\x00\x00\x00\x00", 4)},
      {"unknown flag", std::string("\x07\x04\x00\x00", 4)},
      {"empty key", std::string("\x07\x01\x00\x00\x00", 5)},
      {"key beyond the limit", std::string("\x07\x01\x81\x80\x04") + std::string(65'537, 'k') + std::string(2, '\0')},
      {"more labels than bytes", std::string("\x07\x00\xff\xff\xff\xff\x0f\x00", 8)},
      {"empty label name", std::string("\x07\x00\x01\x00\x01x\x00", 7)},
      {"empty label value", std::string("\x07\x00\x01\x01x\x00\x00", 7)},
      {"labels out of order", std::string("\x07\x00\x02\x01" "b\x01x\x01" "a\x01x\x00", 12)},
      {"label given twice", std::string("\x07\x00\x02\x01" "a\x01x\x01" "a\x01x\x00", 12)},
      {"field given twice", std::string("\x07\x00\x00\x02\x01\x01\x04\x01\x01\x04", 10)},
      {"no such policy", std::string("\x07\x00\x00\x01\x01\x01\x06", 7)},
      {"policy of two bytes", std::string("\x07\x00\x00\x01\x01\x02\x01\x01", 8)},
      {"retention with a byte too many", std::string("\x07\x00\x00\x01\x03\x02\x14\x00", 8)},
      {"more fields than bytes", std::string("\x07\x00\x00\xff\xff\xff\xff\x0f", 8)},
  };
  for (const auto& row : rows) {
    SeriesDefinition decoded = Example();
    EXPECT_FALSE(Decode(row.bytes, &decoded)) << row.why;
    EXPECT_EQ(decoded, Example()) << row.why << ": a failed read must not leave half a definition";
  }
}

TEST(SeriesDefinition, RefusesEveryCut) {
  for (std::size_t n = 0; n < kExampleBytes.size(); ++n) {
    SeriesDefinition decoded;
    EXPECT_FALSE(Decode(kExampleBytes.substr(0, n), &decoded)) << n;
  }
}

SeriesDefinition RandomDefinition(std::mt19937_64& random) {
  SeriesDefinition definition;
  definition.id = SeriesId{1 + (random() >> random() % 64)};
  definition.dropped = random() % 8 == 0;
  if (definition.dropped) {
    return definition;
  }
  definition.created_by_key = random() % 2 == 0;
  if (definition.created_by_key) {
    definition.key = RandomText(random, 300);
  }
  std::vector<Label> pairs;
  for (std::uint64_t n = random() % 6; n > 0; --n) {
    pairs.push_back({RandomText(random, 10) + std::to_string(n), RandomText(random, 200)});
  }
  definition.labels = *Labels::FromPairs(pairs);
  definition.settings.has_duplicates = random() % 2 == 0;
  if (definition.settings.has_duplicates) {
    definition.settings.duplicates = static_cast<DuplicatePolicy>(random() % 6);
  }
  definition.settings.retention = random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random()) >> random() % 64;
  return definition;
}

TEST(SeriesDefinition, RandomOnesSurviveAndDamageIsNeverReadBeyondTheEnd) {
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5'000; ++i) {
    const SeriesDefinition definition = RandomDefinition(random);
    std::string bytes;
    EncodeDefinition(definition, &bytes);
    SeriesDefinition decoded;
    ASSERT_TRUE(Decode(bytes, &decoded));
    ASSERT_EQ(decoded, definition);
    bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    bytes.resize(random() % (bytes.size() + 1));
    if (SeriesDefinition damaged; Decode(bytes, &damaged)) {  // what still decodes must encode to what it says
      std::string again;
      EncodeDefinition(damaged, &again);
      SeriesDefinition second;
      ASSERT_TRUE(Decode(again, &second));
      ASSERT_EQ(second, damaged);
    }
  }
}

}  // namespace
}  // namespace tsdb
