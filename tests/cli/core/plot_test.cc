// Charts: what stands in the terminal, character by character.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

#include "cli/plot/canvas.h"
#include "cli/plot/chart.h"
#include "cli/plot/legend.h"
#include "cli/plot/line.h"
#include "cli/plot/names.h"
#include "cli/plot/terminal.h"

namespace tsdb::cli {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Line MakeLine(const std::vector<Sample>& samples, std::uint64_t gap_after = 0) {
  Line line(gap_after);
  for (const Sample& sample : samples) {
    line.Add(sample.time, sample.value);
  }
  line.Reverse();
  return line;
}

std::string Draw(const ChartData& data, const ChartStyle& style) {
  std::string text;
  AppendChart(data, style, &text);
  return "\n" + text;
}

ChartStyle Small(bool ascii) { return {.width = 40, .height = 6, .color = false, .ascii = ascii}; }

ChartData OneLine(const std::vector<Sample>& samples, std::uint64_t gap_after = 0) {
  ChartData data;
  data.title = "cpu{host=\"a\"}";
  data.lines.push_back({"", MakeLine(samples, gap_after)});
  return data;
}

std::vector<Sample> Ramp() {
  std::vector<Sample> samples;
  for (int i = 0; i <= 60; ++i) {
    samples.push_back({i * 10'000, i * 1.5});
  }
  return samples;
}

std::vector<Sample> Sine(double phase) {
  std::vector<Sample> samples;
  for (int i = 0; i <= 120; ++i) {
    samples.push_back({1'700'000'000'000 + i * 60'000, 50 + 45 * std::sin(i / 12.0 + phase)});
  }
  return samples;
}

TEST(Chart, ASingleLineHasItsNameAsTitle) {
  const ChartData data =
      OneLine(Ramp());
  EXPECT_EQ(Draw(data, Small(false)), R"(
cpu{host="a"}
100 ┤                                ⢀⣀⡠
    │                          ⣀⡠⠤⠔⠒⠉⠁
    │                   ⢀⣀⠤⠤⠒⠊⠉
 50 ┤            ⢀⣀⡠⠤⠒⠒⠉⠁
    │      ⢀⣀⠤⠒⠒⠉⠁
  0 ┤⣀⠤⠤⠒⠊⠉⠁
    └┬────────────────┬────────────────┬
     00:00            00:05        00:10
     1970-01-01                      UTC
━  min 0  max 90  last 90  samples 61
)");
}

TEST(Chart, AsciiHasMarksAndPlainFrames) {
  const ChartData data =
      OneLine(Ramp());
  EXPECT_EQ(Draw(data, Small(true)), R"(
cpu{host="a"}
100 +
    |                           ********
    |                   ********
 50 +            ********
    |    ********
  0 +****
    ++----------------+----------------+
     00:00            00:05        00:10
     1970-01-01                      UTC
*  min 0  max 90  last 90  samples 61
)");
}

TEST(Chart, NanAndInfinityAreGaps) {
  const ChartData data =
      OneLine({{0, 1}, {10'000, 2}, {20'000, kNan}, {30'000, 2}, {40'000, kInf}, {50'000, 1}, {60'000, 1.5}});
  EXPECT_EQ(Draw(data, Small(false)), R"(
cpu{host="a"}
2.0 ┤     ⡰⠁          ⠈
    │    ⡰⠁
    │   ⡰⠁
1.5 ┤  ⡰⠁                             ⡠⠊
    │ ⡰⠁                            ⡠⠊
1.0 ┤⡰⠁                           ⡠⠊
    └┬────────────────┬────────────────┬
     00:00:00         00:00:30  00:01:00
     1970-01-01                      UTC
━  min 1  max 2  last 1.5  samples 7
not drawn: 1 infinite value
)");
}

TEST(Chart, ASinglePointIsADotInTheMiddle) {
  const ChartData data =
      OneLine({{1'700'000'000'000, 42}});
  EXPECT_EQ(Draw(data, Small(false)), R"(
cpu{host="a"}
43 ┤
   │
   │
42 ┤                  ⠁
   │
41 ┤
   └──────┬────────────────┬────────────
          22:13:00         22:13:30
          2023-11-14                 UTC
━  min 42  max 42  last 42  samples 1
)");
}

TEST(Chart, AConstantLineIsInTheMiddle) {
  const ChartData data =
      OneLine({{0, 5}, {60'000, 5}, {120'000, 5}});
  EXPECT_EQ(Draw(data, Small(false)), R"(
cpu{host="a"}
5.1 ┤
    │
    │
5.0 ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
    │
4.9 ┤
    └┬────────────────┬────────────────┬
     00:00            00:01        00:02
     1970-01-01                      UTC
━  min 5  max 5  last 5  samples 3
)");
}

TEST(Chart, MissingBucketsAreNotConnected) {
  const ChartData data =
      OneLine({{0, 1}, {60'000, 2}, {180'000, 2}, {240'000, 1}}, 60'000);
  EXPECT_EQ(Draw(data, Small(true)), R"(
cpu{host="a"}
2.0 +         *                *
    |       **                  **
    |     **                      *
1.5 +   **                         **
    | **                             **
1.0 +*                                 *
    ++----------------+----------------+
     00:00            00:02        00:04
     1970-01-01                      UTC
*  min 1  max 2  last 1  samples 4
)");
}

TEST(Chart, HugeValuesHaveExponents) {
  const ChartData data =
      OneLine({{0, -1e308}, {60'000, 1e308}});
  EXPECT_EQ(Draw(data, Small(true)), R"(
cpu{host="a"}
 100e+306 +                          ***
          |                    ******
          |              ******
        0 +         *****
          |   ******
-100e+306 +***
          ++-------------+-------------+
           00:00:00      00:00:30
           1970-01-01                UTC
*  min -100e+306  max 100e+306  last 100e+306  samples 2
)");
}

TEST(Chart, SmallDifferencesCountFromABase) {
  const ChartData data =
      OneLine({{0, 1e9}, {60'000, 1e9 + 0.002}});
  EXPECT_EQ(Draw(data, Small(true)), R"(
cpu{host="a"}
values from 1000000000.000
+2m +                               ****
    |                        *******
    |                 *******
+1m +           ******
    |    *******
 +0 +****
    ++----------------+----------------+
     00:00:00         00:00:30  00:01:00
     1970-01-01                      UTC
*  min 1G  max 1G  last 1G  samples 2
)");
}

ChartData TwoHosts() {
  ChartData data;
  data.title = "cpu";
  data.lines.push_back({"host=\"a\"", MakeLine(Sine(0))});
  data.lines.push_back({"host=\"b\"", MakeLine(Sine(2))});
  return data;
}

TEST(Chart, WithoutColourSeveralLinesAreToldApartByMarks) {
  EXPECT_EQ(Draw(TwoHosts(), Small(false)), R"(
cpu
100 ┤+   ****          ++++   ****
    │+++**  ***      +++   +++*  ***
    │** ++    **    ++     **++     **
 50 ┤*   ++     **++     **    ++    **
    │      ++   +++*   ***      +++  +++
  0 ┤        ++++  *****          ++++
    └─────────────┬────────────────┬────
                  23:00            00:00
                  2023-11-14  2023-11-15
* host="a"  min 5.032  max    95  last 25.52  samples 121
+ host="b"  min     5  max 94.99  last 25.85  samples 121
)");
}

/// <0>, <1>: the colour of a line; <b>: bold; <>: the end of it.
std::string Paint(std::string text) {
  const std::pair<std::string, std::string> codes[] = {
      {"<0>", "\x1b[36m"}, {"<1>", "\x1b[33m"}, {"<b>", "\x1b[1m"}, {"<>", "\x1b[0m"}};
  for (const auto& [sign, code] : codes) {
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += code.size()) {
      text.replace(at, sign.size(), code);
    }
  }
  return text;
}

TEST(Chart, WithColourLinesAreDots) {
  ChartStyle style = Small(false);
  style.color = true;
  EXPECT_EQ(Draw(TwoHosts(), style), Paint(R"(
<b>cpu<>
100 ┤<1>⢤⡀<> <0>⣠⠴⠒⠢⢄⡀<>         <1>⣠⠴⠒⠢⣄<> <0>⢀⣠⠔⠒⠦⣄<>
    │ <1>⢑⢜<0>⠁<>    <0>⠑⡄<>      <1>⢠⠚<>    <1>⠈⢱⡎<>    <0>⠈⠣⡄<>
    │<0>⢠⠃<1>⠈⢣<>     <0>⠈⢣<>    <1>⡔⠁<>     <0>⡜⠁<1>⠘⢄<>     <0>⠘⣄<>
 50 ┤<0>⠁<>   <1>⠑⡄<>     <0>⠓⡄<1>⢀⠜<>     <0>⢠⠜<>    <1>⢣<>      <0>⢣<>
    │     <1>⠈⢢⡀<>    <1>⡸⢇<0>⡀<>   <0>⢀⡰⠃<>      <1>⠙⢄<>    <1>⢀⠕<>
  0 ┤       <1>⠉⠲⠤⠔⠋<>  <0>⠙⠢⠤⠔⠋<>          <1>⠑⠦⠤⠖⠋<>
    └─────────────┬────────────────┬────
                  23:00            00:00
                  2023-11-14  2023-11-15
<0>━<> host="a"  min 5.032  max    95  last 25.52  samples 121
<1>━<> host="b"  min     5  max 94.99  last 25.85  samples 121
)"));
}

TEST(Chart, NothingToDrawIsSaid) {
  EXPECT_EQ(Draw(OneLine({{1, kNan}}), Small(false)),
            "\ncpu{host=\"a\"}\nnothing to draw: no value is a finite number\n");
}

TEST(Chart, TheAxisShowsTheRangeThatWasAskedFor) {
  ChartData data = OneLine({{600'000, 1}, {660'000, 2}});
  data.range = {0, 1'200'000};
  const std::string text = Draw(data, Small(true));
  EXPECT_NE(text.find("00:00"), std::string::npos) << text;
  EXPECT_NE(text.find("00:20"), std::string::npos) << text;
}

TEST(Chart, EveryWidthIsKept) {
  for (std::size_t width = 0; width < 200; width += 7) {
    for (const double size : {1.0, 1e-300, 123456.789}) {
      const ChartData data = OneLine({{0, -size}, {90'000'000, size}});
      const std::string text = Draw(data, {.width = width, .height = width / 8, .color = false, .ascii = true});
      const std::string chart = text.substr(0, text.rfind("*  min"));
      for (std::size_t begin = 0, end = 0; (end = chart.find('\n', begin)) != std::string::npos; begin = end + 1) {
        EXPECT_LE(end - begin, std::max(width, kChartWidthMin)) << text;
      }
    }
  }
}

TEST(Line, FewSamplesAreKeptAsTheyAre) {
  const Line line = MakeLine({{1, 5}, {2, 3}, {4, kNan}, {5, 4}, {6, kInf}, {7, 9}});
  ASSERT_EQ(line.bins().size(), 4u);
  EXPECT_EQ(line.bins()[1].first.value, 3);
  EXPECT_FALSE(line.bins()[1].gap_before);
  EXPECT_TRUE(line.bins()[2].gap_before);
  EXPECT_TRUE(line.bins()[3].gap_before);
  EXPECT_EQ(line.samples(), 6u);
  EXPECT_EQ(line.infinities(), 1u);
  EXPECT_EQ(line.low(), 3);
  EXPECT_EQ(line.high(), 9);
}

TEST(Line, ManySamplesKeepTheirExtremesAndEnds) {
  Line line;
  for (int i = 0; i < 1'000'000; ++i) {
    line.Add(i, i == 777'777 ? 1e6 : i % 10);
  }
  EXPECT_LE(line.bins().size(), Line::kBinsMax);
  EXPECT_GT(line.bins().size(), Line::kBinsMax / 4);
  EXPECT_EQ(line.high(), 1e6);
  EXPECT_EQ(line.first_time(), 0);
  EXPECT_EQ(line.last().time, 999'999);
  double high = 0;
  for (const LineBin& bin : line.bins()) {
    high = std::max(high, bin.high.value);
    EXPECT_LE(bin.first.time, bin.last.time);
  }
  EXPECT_EQ(high, 1e6);
}

TEST(Line, FallingTimesDrawTheSame) {
  const std::vector<Sample> rising = {{1, 5}, {2, 3}, {4, kNan}, {5, 4}, {90, 9}};
  const std::vector<Sample> falling(rising.rbegin(), rising.rend());
  const Line a = MakeLine(rising, 50);
  const Line b = MakeLine(falling, 50);
  ASSERT_EQ(a.bins().size(), b.bins().size());
  for (std::size_t i = 0; i < a.bins().size(); ++i) {
    EXPECT_EQ(a.bins()[i].first.time, b.bins()[i].first.time);
    EXPECT_EQ(a.bins()[i].gap_before, b.bins()[i].gap_before) << i;
  }
}

TEST(Canvas, DrawsLinesInEveryDirectionWithinItsEdges) {
  Canvas canvas(3, 3, Glyphs::kMarks);
  canvas.Draw({0, 0}, {2, 2}, 0);
  canvas.Draw({2, 0}, {0, 2}, 1);
  canvas.Draw({-5, -5}, {-1, 9}, 2);
  std::string text;
  for (std::size_t row = 0; row < 3; ++row) {
    canvas.AppendRow(row, false, &text);
    text += '\n';
  }
  EXPECT_EQ(text, "* +\n +\n+ *\n");
}

TEST(Canvas, ACellHasTheColourOfTheLineDrawnLast) {
  Canvas canvas(2, 1, Glyphs::kBraille);
  canvas.Draw({0, 0}, {3, 0}, 0);
  canvas.Draw({2, 3}, {3, 3}, 1);
  std::string text;
  canvas.AppendRow(0, true, &text);
  EXPECT_EQ(text, "\x1b[36m⠉\x1b[33m⣉\x1b[0m");
}

TEST(Chart, AnyTimesAndValuesAreDrawnWithinTheWidth) {
  constexpr std::uint64_t kSeed = 20261130;
  std::mt19937_64 random(kSeed);
  const double values[] = {0, -0.0, 1, -1, 1e308, -1e308, 5e-324, -5e-324, 1e9, 1e9 + 1e-6, kNan, kInf, -kInf, 0.1};
  const TimeUnit units[] = {TimeUnit::kSeconds, TimeUnit::kMilliseconds, TimeUnit::kMicroseconds,
                            TimeUnit::kNanoseconds};
  for (int round = 0; round < 300; ++round) {
    ChartData data;
    data.title = "round " + std::to_string(round);
    data.unit = units[random() % std::size(units)];
    for (std::size_t line = random() % 4; line != std::size_t(-1); --line) {
      std::vector<Sample> samples;
      Timestamp time = static_cast<Timestamp>(random()) >> (random() % 64);
      for (std::size_t i = random() % 40; i != 0; --i) {
        const double any = std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 2000) - 1000);
        const double value = random() % 2 == 0 ? values[random() % std::size(values)] : any;
        samples.push_back({std::max(time, kTimestampMin), value});
        const Timestamp step = static_cast<Timestamp>(random() >> (1 + random() % 62));
        if (__builtin_add_overflow(time, step, &time)) {
          break;
        }
      }
      data.lines.push_back({"line", MakeLine(samples)});
    }
    const ChartStyle style{.width = random() % 120, .height = random() % 30, .color = false, .ascii = true};
    const std::string text = Draw(data, style);
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string row = text.substr(begin, end - begin);
      if (row.find("  min") == std::string::npos && row.find("values from") == std::string::npos &&
          row.find("nothing to draw") == std::string::npos && row.find("not drawn") == std::string::npos) {
        ASSERT_LE(row.size(), std::max(style.width, kChartWidthMin)) << "seed " << kSeed << text;
      }
    }
  }
}

SeriesInfo Info(std::vector<Label> labels) {
  SeriesInfo info;
  info.labels = Labels::FromPairs(std::move(labels)).value();
  info.key = info.labels.CanonicalKey();
  return info;
}

TEST(LineNames, WhatIsCommonGoesIntoTheTitle) {
  const SeriesInfo a = Info({{"__name__", "cpu"}, {"host", "a"}, {"mode", "user"}});
  const SeriesInfo b = Info({{"__name__", "cpu"}, {"host", "a"}, {"mode", "idle"}});
  const SeriesInfo c = Info({{"__name__", "mem"}});
  EXPECT_EQ(NameLines({a}).title, "cpu{host=\"a\",mode=\"user\"}");
  EXPECT_EQ(NameLines({a}).names, (std::vector<std::string>{""}));
  EXPECT_EQ(NameLines({a, b}).title, "cpu{host=\"a\"}");
  EXPECT_EQ(NameLines({a, b}).names, (std::vector<std::string>{"mode=\"user\"", "mode=\"idle\""}));
  EXPECT_EQ(NameLines({a, c}).title, "");
  EXPECT_EQ(NameLines({a, c}).names, (std::vector<std::string>{a.key, "mem"}));
  SeriesInfo by_key;
  by_key.key = "one\x1b";
  by_key.created_by_key = true;
  EXPECT_EQ(NameLines({a, by_key}).names, (std::vector<std::string>{a.key, "one\\x1b"}));
}

TEST(Legend, LongNamesAreShortened) {
  EXPECT_EQ(ShortenText("abcdef", 6, false), "abcdef");
  EXPECT_EQ(ShortenText("abcdefg", 6, false), "abcde…");
  EXPECT_EQ(ShortenText("äbcdefg", 6, true), "äbc...");
}

TEST(Terminal, SizeAndLocaleComeFromTheEnvironment) {
  ::setenv("COLUMNS", "123", 1);
  ::setenv("LINES", "tall", 1);
  EXPECT_EQ(GetTerminalSize(-1).columns, 123u);
  EXPECT_EQ(GetTerminalSize(-1).rows, 0u);
  ::unsetenv("COLUMNS");
  ::unsetenv("LINES");
  EXPECT_EQ(GetTerminalSize(-1).columns, 80u);
  ::setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_TRUE(LocaleIsUtf8());
  ::setenv("LC_ALL", "C", 1);
  ::setenv("LANG", "C.UTF-8", 1);
  EXPECT_FALSE(LocaleIsUtf8());
  ::unsetenv("LC_ALL");
  ::unsetenv("LC_CTYPE");
  EXPECT_TRUE(LocaleIsUtf8());
}

}  // namespace
}  // namespace tsdb::cli
