#include "cli/text/escape.h"

#include <gtest/gtest.h>

namespace tsdb::cli {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

std::string Csv(std::string_view text) {
  std::string out;
  AppendCsvField(text, &out);
  return out;
}

TEST(Escape, JsonEscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(Json("plain Zürich ☃ 😀"), "\"plain Zürich ☃ 😀\"");
  EXPECT_EQ(Json("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(Json(std::string_view("\n\r\t\0\x1f\x7f", 6)), "\"\\n\\r\\t\\u0000\\u001f\\u007f\"");
  EXPECT_EQ(Json(""), "\"\"");
}

TEST(Escape, JsonOfBytesOutsideUtf8StaysValid) {
  EXPECT_EQ(Json("\xff"), "\"\\\\xff\"");
  EXPECT_EQ(Json("a\x80z"), "\"a\\\\x80z\"");
  EXPECT_EQ(Json("\xc3"), "\"\\\\xc3\"");                    // cut off
  EXPECT_EQ(Json("\xc0\xaf"), "\"\\\\xc0\\\\xaf\"");          // overlong
  EXPECT_EQ(Json("\xed\xa0\x80"), "\"\\\\xed\\\\xa0\\\\x80\"");  // a surrogate
  EXPECT_EQ(Json("\xf4\x90\x80\x80"), "\"\\\\xf4\\\\x90\\\\x80\\\\x80\"");  // above U+10FFFF
}

TEST(Escape, Utf8LengthsFollowTheStandard) {
  EXPECT_EQ(Utf8SequenceLength("a", 0), 1u);
  EXPECT_EQ(Utf8SequenceLength("ü", 0), 2u);
  EXPECT_EQ(Utf8SequenceLength("ü", 1), 0u);
  EXPECT_EQ(Utf8SequenceLength("☃", 0), 3u);
  EXPECT_EQ(Utf8SequenceLength("😀", 0), 4u);
  EXPECT_EQ(Utf8SequenceLength("\xe0\x9f\xbf", 0), 0u);
  EXPECT_EQ(Utf8SequenceLength("\xf0\x8f\xbf\xbf", 0), 0u);
  EXPECT_EQ(Utf8SequenceLength("\xf5\x80\x80\x80", 0), 0u);
}

TEST(Escape, CsvQuotesOnlyWhereNeeded) {
  EXPECT_EQ(Csv("plain"), "plain");
  EXPECT_EQ(Csv("a,b"), "\"a,b\"");
  EXPECT_EQ(Csv("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(Csv("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(Csv("cr\r"), "\"cr\r\"");
}

TEST(Escape, PrintableTextCannotReachTheTerminal) {
  EXPECT_EQ(Printable("Zürich ☃"), "Zürich ☃");
  EXPECT_EQ(Printable("\x1b[2J\n\t\x7f"), "\\x1b[2J\\n\\t\\x7f");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");  // the one-character form of ESC [
  EXPECT_EQ(Printable("\xff"), "\\xff");
}

TEST(Escape, WidthCountsCodePoints) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("Zürich"), 6u);
}

}  // namespace
}  // namespace tsdb::cli
