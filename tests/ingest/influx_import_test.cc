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

ImportOptions Influx(TimeUnit unit = TimeUnit::kMilliseconds) {
  ImportOptions options;
  options.format = TextFormat::kInflux;
  options.unit = unit;
  options.has_unit = true;
  options.source = "points.lp";
  options.now = [] { return Timestamp{777}; };
  return options;
}

TEST(InfluxImport, UndoesEscapesWhereTheyHaveAMeaningAndKeepsQuotesInTags) {
  const Imported got = ImportText(Influx(TimeUnit::kNanoseconds), ReadData("escapes.lp"));
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.summary.errors, ElementsAre());
  const auto expect = [&](Labels labels, double value, Timestamp time) {
    const auto found = got.content.find(labels.CanonicalKey());
    ASSERT_NE(found, got.content.end()) << labels.CanonicalKey();
    EXPECT_EQ(got.labels.at(labels.CanonicalKey()), labels);
    EXPECT_THAT(found->second, ElementsAre(std::pair(time, Bits(value))));
  };
  EXPECT_EQ(got.content.size(), 6u);
  for (const auto& [field, value] : {std::pair("value", 1.0), std::pair("my field,x", 2.0), std::pair("k=v", 3.0)}) {
    expect({{"__name__", std::string("room temp,east_") + field}, {"site", "line 1,bay=2"}, {"op=er", "a=b"}}, value,
           1700000000000);
  }
  expect({{"__name__", "a=b_v"}, {"t", "1"}}, 4, 1700000001000);
  expect({{"__name__", "m_v"}, {"t", "\"q q\""}}, 5, 1700000002000);
  expect({{"__name__", "m_größe"}, {"städt", "Zürich ☃"}}, 6, 1700000003000);
}

TEST(InfluxImport, TakesEachNumberTypeWithinItsLimitsAndRefusesTheRestByLine) {
  const Imported got = ImportText(Influx(), ReadData("number_types.lp"));
  ASSERT_TRUE(got.status.ok());
  const double values[] = {1, 1, -1, 0, 42, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1000, 1000, 1, 0.5, 0.693, 7, -0.0, 5e-324,
                           std::numeric_limits<double>::max(), 1e19, -9223372036854775808.0};
  EXPECT_EQ(got.content.size(), std::size(values));
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const std::string key = "ok" + std::string(i < 9 ? "0" : "") + std::to_string(i + 1) + "_v";
    ASSERT_EQ(got.content.count(key), 1u) << key;
    EXPECT_THAT(got.content.at(key), ElementsAre(std::pair(static_cast<Timestamp>(i + 1), Bits(values[i])))) << key;
  }
  EXPECT_EQ(got.summary.stored, 26u);
  EXPECT_EQ(got.summary.rejected, 22u);
  EXPECT_EQ(got.summary.read, 48u);
  ASSERT_EQ(got.summary.errors.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_THAT(got.summary.errors[i], ::testing::StartsWith("points.lp:" + std::to_string(27 + i) + ": "));
  }
  EXPECT_THAT(got.summary.errors[0], HasSubstr("integer out of range: \"9223372036854775808i\""));
  EXPECT_THAT(got.summary.errors[14], HasSubstr("too large"));
}

TEST(InfluxImport, RefusesEachMalformedNumberOnALineOfItsOwn) {
  for (const char* text :
       {"9223372036854775808i", "-9223372036854775809i", "18446744073709551616u", "-1u", "-0u", "1.0i", "1e3i", "tRUE",
        "+1", "+1i", "NaN", "nan", "Inf", "-inf", "infinity", "0x10", "0x1p3", "1_000", "1e400", "-1e400",
        "1.7976931348623159e308", "", "-", ".", "-.", "1.5.2", "--1", "1e", "1e+", "e5", "1,5", "i", "u", "-i", "1ii",
        "1f", "1d", "1\t", "1;", "yes", "truee", "1i2", "١"}) {
    const Imported got = ImportText(Influx(), "m v=" + std::string(text) + " 1\nm v=8 2\n");
    EXPECT_EQ(got.summary.rejected, 1u) << text;
    EXPECT_EQ(got.summary.stored, 1u) << text;
  }
}

TEST(InfluxImport, RoundsUnderflowToZeroWithItsSign) {
  const Imported got = ImportText(Influx(), "m a=1e-400,b=-1e-400,c=0.0000001e-320,d=-2e-324 1");
  EXPECT_EQ(got.summary.rejected, 0u);
  EXPECT_EQ(got.content.at("m_a").at(1), Bits(0.0));
  EXPECT_EQ(got.content.at("m_b").at(1), Bits(-0.0));
  EXPECT_EQ(got.content.at("m_c").at(1), Bits(0.0));
  EXPECT_EQ(got.content.at("m_d").at(1), Bits(-0.0));
}

TEST(InfluxImport, ReadsByteOrderMarkWindowsLineEndsCommentsAndLinesWithoutTime) {
  ImportOptions options = Influx();
  Timestamp clock = 100;
  options.now = [&clock] { return clock++; };
  const Imported got = ImportText(options, ReadData("windows_line_ends.lp"));
  EXPECT_EQ(got.summary.rejected, 0u);
  EXPECT_EQ(got.summary.lines, 11u);
  ASSERT_EQ(got.content.size(), 1u);
  EXPECT_EQ(got.labels.begin()->second, (Labels{{"__name__", "m_v"}, {"h", "a"}}));
  EXPECT_THAT(got.content.begin()->second,
              ElementsAre(std::pair(100, Bits(4)), std::pair(101, Bits(6)), std::pair(1000, Bits(1)),
                          std::pair(2000, Bits(2)), std::pair(3000, Bits(3)), std::pair(5000, Bits(5))));
}

TEST(InfluxImport, AsksTheClockOncePerLine) {
  ImportOptions options = Influx();
  Timestamp clock = 100;
  options.now = [&clock] { return clock++; };
  const Imported got = ImportText(options, "m a=1,b=2\nm a=3,b=4\n");
  EXPECT_THAT(got.content.at("m_a"), ElementsAre(std::pair(100, Bits(1)), std::pair(101, Bits(3))));
  EXPECT_THAT(got.content.at("m_b"), ElementsAre(std::pair(100, Bits(2)), std::pair(101, Bits(4))));
}

TEST(InfluxImport, ConvertsTimesByTheNamedUnitRoundingDown) {
  const struct {
    TimeUnit unit;
    const char* text;
    Timestamp want;
  } rows[] = {
      {TimeUnit::kSeconds, "1558025088", 1558025088000},
      {TimeUnit::kMilliseconds, "1558025088636", 1558025088636},
      {TimeUnit::kMicroseconds, "1558025088636123", 1558025088636},
      {TimeUnit::kNanoseconds, "1558025088636123456", 1558025088636},
      {TimeUnit::kNanoseconds, "1558025088636", 1558025},
      {TimeUnit::kNanoseconds, "-1", -1},
      {TimeUnit::kNanoseconds, "-1000000", -1},
      {TimeUnit::kNanoseconds, "-1000001", -2},
      {TimeUnit::kSeconds, "9223372036854775", 9223372036854775000},
      {TimeUnit::kNanoseconds, "-9223372036854775808", -9223372036855},
  };
  for (const auto& row : rows) {
    const Imported got = ImportText(Influx(row.unit), std::string("u v=1 ") + row.text);
    ASSERT_EQ(got.content.count("u_v"), 1u) << row.text;
    EXPECT_EQ(got.content.at("u_v").begin()->first, row.want) << row.text;
  }
}

TEST(InfluxImport, RefusesTimesThatDoNotFitInsteadOfWrapping) {
  for (const char* text : {"9223372036854775807", "-9223372036854775808", "9223372036854776", "9223372036854775808",
                           "99999999999999999999999", "1.5", "1e3", "+1", "0x1", "12a", "now", "-", "1 2"}) {
    const Imported got = ImportText(Influx(TimeUnit::kSeconds), std::string("u v=1 ") + text);
    EXPECT_TRUE(got.content.empty()) << text;
    EXPECT_EQ(got.summary.rejected, 1u) << text;
  }
  // The one time that stands for "now" in a write is no time of a sample.
  EXPECT_EQ(ImportText(Influx(), "u v=1 -9223372036854775808").summary.rejected, 1u);
}

TEST(InfluxImport, TimesAreNanosecondsUnlessAUnitIsNamed) {
  ImportOptions options = Influx();
  options.has_unit = false;
  EXPECT_EQ(ImportText(options, "u v=1 1700000000000000000").content.at("u_v").begin()->first, 1700000000000);
}

TEST(InfluxImport, CountsIntegersThatNoDoubleHolds) {
  const Imported got = ImportText(
      Influx(),
      "n a=9007199254740991i,b=9007199254740993i,c=1702878157125929618i,d=9223372036854775807i,"
      "e=-9223372036854775808i,f=18446744073709551615u,g=9007199254740993,h=10000000000000000000,i=9007199254740994i "
      "1000\n");
  EXPECT_EQ(got.summary.rounded, 5u);
  EXPECT_EQ(got.content.at("n_a").at(1000), Bits(9007199254740991.0));
  EXPECT_EQ(got.content.at("n_b").at(1000), Bits(9007199254740992.0));
  EXPECT_EQ(got.content.at("n_c").at(1000), Bits(1702878157125929728.0));
  EXPECT_EQ(got.content.at("n_d").at(1000), Bits(9223372036854775808.0));
  EXPECT_EQ(got.content.at("n_e").at(1000), Bits(-9223372036854775808.0));
  EXPECT_EQ(got.content.at("n_f").at(1000), Bits(18446744073709551616.0));
}

TEST(InfluxImport, RefusesAWholeLineForOneBadFieldAndLeavesNoSeriesBehind) {
  const Imported got = ImportText(Influx(), "m,h=a x=1,y=oops,z=3 1\nm,h=a x=2 2\n");
  EXPECT_THAT(got.summary.errors, ElementsAre("points.lp:1: not a number: \"oops\""));
  EXPECT_EQ(got.content.size(), 1u);
  EXPECT_THAT(got.content.at("m_x{h=\"a\"}"), ElementsAre(std::pair(2, Bits(2))));
}

TEST(InfluxImport, StoresTheNumbersBesideAStringFieldAndReportsTheString) {
  const Imported got = ImportText(Influx(), "m,h=a s=\"a,b c=\\\"1\\\" \\\\\",x=1i 1\nm s=\"\",y=2 2");
  EXPECT_THAT(got.summary.errors, ElementsAre("points.lp:1: string fields are not stored: \"s\"",
                                              "points.lp:2: string fields are not stored: \"s\""));
  EXPECT_THAT(got.content, ElementsAre(std::pair("m_x{h=\"a\"}", std::map<Timestamp, std::uint64_t>{{1, Bits(1)}}),
                                       std::pair("m_y", std::map<Timestamp, std::uint64_t>{{2, Bits(2)}})));
  EXPECT_EQ(got.summary.read, 4u);
}

TEST(InfluxImport, FollowsAStringOverLineEnds) {
  const Imported got = ImportText(Influx(), "m s=\"one\ntwo \\\" v=9 9\n\",x=1 1\nm x=2 2\n");
  EXPECT_THAT(got.content,
              ElementsAre(std::pair("m_x", std::map<Timestamp, std::uint64_t>{{1, Bits(1)}, {2, Bits(2)}})));
  EXPECT_EQ(got.summary.lines, 4u);
}

TEST(InfluxImport, AnUnclosedQuoteCostsOnlyItsOwnLine) {
  const Imported got = ImportText(Influx(), "m x=1 1\nm s=\"open,x=2 2\nm x=3 3\nm s=\"closed\",x=4 4\nm x=5 5\n");
  EXPECT_THAT(got.summary.errors, ElementsAre(HasSubstr("points.lp:2: string without a closing quote"),
                                              HasSubstr("points.lp:4: string fields are not stored")));
  EXPECT_THAT(got.content.at("m_x"), ElementsAre(std::pair(1, Bits(1)), std::pair(3, Bits(3)), std::pair(4, Bits(4)),
                                                 std::pair(5, Bits(5))));
}

TEST(InfluxImport, RefusesMalformedLines) {
  for (const char* text : {"m", "m ", "m,t=a", "m 1000", ",t=a v=1 1", " ,t=a v=1", "m, v=1", "m,t v=1", "m,t= v=1",
                           "m,=a v=1", "m,t=a=b v=1", "m,t=a,t=b v=1", "m,t=a,t=a v=1", "m v=1,", "m v=1,=2", "m =1",
                           "m v=1,, w=2", "m v 1", "m v=1, w=2 3", "m v=\"a\"b 1", "m,t=a\\ v=1 1"}) {
    const Imported got = ImportText(Influx(), text);
    EXPECT_EQ(got.summary.rejected, 1u) << text;
    EXPECT_TRUE(got.content.empty()) << text;
  }
}

TEST(InfluxImport, ABackslashBeforeAnythingElseIsItself) {
  const Imported got = ImportText(Influx(), R"(a\b,t\x=c:\\dir\n,u=\\\,x f\"g=1 1)");
  ASSERT_EQ(got.labels.size(), 1u);
  EXPECT_EQ(got.labels.begin()->second,
            (Labels{{"__name__", R"(a\b_f\"g)"}, {R"(t\x)", R"(c:\\dir\n)"}, {"u", R"(\\,x)"}}));
}

TEST(InfluxImport, ANameTagNamesTheMetric) {
  const Imported got = ImportText(Influx(), "up,__name__=up,job=x value=1 1\nup,__name__=up,job=x other=1 1\n");
  EXPECT_THAT(got.content, ElementsAre(std::pair("up{job=\"x\"}", std::map<Timestamp, std::uint64_t>{{1, Bits(1)}})));
  EXPECT_EQ(got.summary.rejected, 1u);
}

TEST(InfluxImport, AddsExtraLabelsWhereTheLineHasNone) {
  ImportOptions options = Influx();
  options.extra_labels = {{"dc", "fra"}, {"h", "extra"}};
  const Imported got = ImportText(options, "m,h=a v=1 1\nm v=2 2\n");
  EXPECT_EQ(got.content.count("m_v{dc=\"fra\",h=\"a\"}"), 1u);
  EXPECT_EQ(got.content.count("m_v{dc=\"fra\",h=\"extra\"}"), 1u);
}

TEST(InfluxImport, GivesTheSameWhereverThePiecesAreCut) {
  const std::string text =
      "\xef\xbb\xbf# c\r\nm,h=a\\ b x=1,y=2i 1\r\n\nbad\nm s=\"a\nb\",x=3 2\nm s=\"open 3\nm,h=a\\ b "
      "y=3i,x=-0.5,z=9007199254740993i 4\r\n m x=t 5 \nm x=1 6";
  EXPECT_EQ(DifferenceBetweenSplits(Influx(), text), "");
  EXPECT_EQ(DifferenceBetweenSplits(Influx(), ReadData("windows_line_ends.lp")), "");
}

TEST(InfluxImport, HandlesManyFieldsInAnyOrder) {
  std::string text;
  for (int line = 0; line < 50; ++line) {
    text += "m,h=a ";
    for (int i = 0; i < 40; ++i) {
      const int field = (i * 7 + line) % 40;
      text += (i == 0 ? "f" : ",f") + std::to_string(field) + "=" + std::to_string(field * 100 + line);
    }
    text += " " + std::to_string(line) + "\n";
  }
  const Imported got = ImportText(Influx(), text);
  ASSERT_EQ(got.content.size(), 40u);
  for (int field = 0; field < 40; ++field) {
    const auto& samples = got.content.at("m_f" + std::to_string(field) + "{h=\"a\"}");
    ASSERT_EQ(samples.size(), 50u);
    for (const auto& [time, bits] : samples) {
      EXPECT_EQ(bits, Bits(field * 100.0 + static_cast<double>(time)));
    }
  }
}

}  // namespace
}  // namespace tsdb::ingest_test
