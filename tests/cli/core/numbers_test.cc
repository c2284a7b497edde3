#include "cli/text/numbers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace tsdb::cli {
namespace {

std::string Json(double value) {
  std::string out;
  AppendJsonNumber(value, &out);
  return out;
}

TEST(Numbers, JsonNumbersReadBackToTheSameDouble) {
  const double values[] = {0, 1.1, -0.25, 1e-7, 1e300, 5e-324, 1702878157125929728.0, 9007199254740993.0, 0.1 + 0.2};
  for (const double value : values) {
    EXPECT_EQ(std::strtod(Json(value).c_str(), nullptr), value) << Json(value);
  }
}

TEST(Numbers, JsonHasTextForWhatIsNoNumber) {
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()), "\"+Inf\"");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()), "\"-Inf\"");
}

TEST(Numbers, NegativeZeroKeepsItsSignForReadersThatTellIntegersApart) { EXPECT_EQ(Json(-0.0), "-0.0"); }

TEST(Numbers, IntegersAreWhole) {
  std::string out;
  AppendInteger(std::numeric_limits<std::int64_t>::min(), &out);
  EXPECT_EQ(out, "-9223372036854775808");
}

TEST(Numbers, CountsHaveThousands) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
}

TEST(Numbers, BytesHaveBinaryUnits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.0 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes((1ull << 20) - 1), "1.0 MiB");
  EXPECT_EQ(FormatBytes(~0ull), "16.0 EiB");
}

TEST(Numbers, MagnitudesHaveThreeDigits) {
  EXPECT_EQ(FormatMagnitude(0), "0");
  EXPECT_EQ(FormatMagnitude(950), "950");
  EXPECT_EQ(FormatMagnitude(999.7), "1 k");
  EXPECT_EQ(FormatMagnitude(3'214'000), "3.21 M");
}

TEST(Numbers, SecondsReadLikeSpeech) {
  EXPECT_EQ(FormatSeconds(0.0032), "3.2 ms");
  EXPECT_EQ(FormatSeconds(1.25), "1.25 s");
  EXPECT_EQ(FormatSeconds(725), "12m05s");
  EXPECT_EQ(FormatSeconds(7260), "2h01m");
}

}  // namespace
}  // namespace tsdb::cli
