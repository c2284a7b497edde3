// Export, import: the same series and the same 64 bits, in every format, for random and for nasty content.
#include <algorithm>
#include <array>
#include <cmath>
#include <clocale>
#include <locale>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ingest/memory_sink.h"
#include "tests/ingest/test_data.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest_test {
namespace {

using ::testing::HasSubstr;

constexpr std::array kFormats = {TextFormat::kInflux, TextFormat::kOpenMetrics, TextFormat::kCsv,
                                 TextFormat::kJsonLines};

struct Exported {
  std::string text;
  ExportSummary summary;
};

Exported ExportAll(TextFormat format, TimeUnit unit, const Content& content,
                   const std::map<std::string, Labels>& labels) {
  Exported out;
  auto exporter = *Exporter::Create(format, unit);
  exporter->Begin(&out.text);
  for (const auto& [key, samples] : content) {
    SeriesInfo info;
    info.key = key;
    info.labels = labels.at(key);
    std::vector<Timestamp> times;
    std::vector<double> values;
    for (const auto& [time, bits] : samples) {
      times.push_back(time);
      values.push_back(std::bit_cast<double>(bits));
    }
    if (exporter->BeginSeries(info, &out.text).ok()) {
      const std::size_t half = times.size() / 2;
      exporter->Samples(std::span(times).first(half), std::span(values).first(half), &out.text);
      exporter->Samples(std::span(times).subspan(half), std::span(values).subspan(half), &out.text);
      exporter->EndSeries(&out.text);
    }
  }
  exporter->End(&out.text);
  out.summary = exporter->summary();
  return out;
}

ImportOptions OptionsFor(TextFormat format, TimeUnit unit) {
  ImportOptions options;
  options.format = format;
  options.database_unit = unit;
  return options;
}

class RandomContent {
 public:
  RandomContent(std::uint32_t seed, bool utf8) : random_(seed), utf8_(utf8) {}

  std::string Text(bool empty_allowed) {
    static const std::vector<std::string> parts = {"a",   "_",           "Z9",   " ",    ",",
                                                   "=",   "\\",          "\"",   "{",    "}",
                                                   "#",   "\t",          "\r",   "\n",   "ü",
                                                   "☃",   "'",           "__",   ":",    "-",
                                                   ".",   "<",           "\x7f", "\x01", std::string(1, '\0'),
                                                   "\\n", "\xef\xbb\xbf"};
    std::string out;
    const std::size_t n = random_() % 6 + (empty_allowed ? 0 : 1);
    for (std::size_t i = 0; i < n; ++i) {
      out += parts[random_() % parts.size()];
      if (!utf8_ && random_() % 8 == 0) {
        out += static_cast<char>(0x80 + random_() % 0x80);
      }
    }
    return out;
  }
  Labels Set() {
    std::vector<Label> pairs = {{"__name__", Text(false)}};
    const std::size_t n = random_() % 4;
    for (std::size_t i = 0; i < n; ++i) {
      pairs.push_back({Text(false) + std::to_string(i), Text(false)});
    }
    return *Labels::FromPairs(pairs);
  }
  std::uint64_t Value() {
    switch (random_() % 6) {
      case 0:
        return (std::uint64_t{random_()} << 32) | random_();  // any pattern: subnormals, NaN payloads, infinities
      case 1:
        return Bits(static_cast<double>(random_() % 1000));
      case 2:
        return Bits(static_cast<double>(random_() % 100000) / 100);
      case 3:
        return Bits(std::ldexp(1.0 + random_() % 1000, static_cast<int>(random_() % 70)));
      case 4: {
        static constexpr std::uint64_t special[] = {0x8000000000000000, 0,
                                                    0x7ff8000000000000, 0x7ff8000000000001,
                                                    0x7ff0000000000002, 0x7ff0000000000000,
                                                    0xfff0000000000000, 0xfff8000000000000,
                                                    0x7ff0000000000001, 1};
        return special[random_() % std::size(special)];
      }
      default:
        return Bits(-static_cast<double>(random_()) / 3);
    }
  }
  Timestamp Time() {
    switch (random_() % 4) {
      case 0:
        return static_cast<Timestamp>(random_()) - 2'000'000'000;
      case 1:
        return -static_cast<Timestamp>(random_() % 10);
      case 2:
        return std::max(kTimestampMin, static_cast<Timestamp>((std::uint64_t{random_()} << 32) | random_()));
      default:
        return 1'700'000'000'000 + static_cast<Timestamp>(random_() % 100'000);
    }
  }

 private:
  std::mt19937 random_;
  const bool utf8_;
};

/// Import of an export equals what was exported, leaving out what the exporter said it skipped.
void CheckRoundTrip(TextFormat format, TimeUnit unit, const Content& content,
                    const std::map<std::string, Labels>& labels) {
  const Exported exported = ExportAll(format, unit, content, labels);
  const Imported imported = ImportText(OptionsFor(format, unit), exported.text);
  ASSERT_TRUE(imported.status.ok()) << imported.status.ToString();
  EXPECT_EQ(imported.summary.rejected, 0u) << (imported.summary.errors.empty() ? "" : imported.summary.errors[0]);
  EXPECT_EQ(imported.summary.rounded, 0u);
  EXPECT_EQ(imported.summary.stored, exported.summary.samples);
  std::uint64_t samples = 0;
  for (const auto& [key, read] : imported.content) {
    const auto original = content.find(key);
    ASSERT_NE(original, content.end()) << key;
    EXPECT_EQ(imported.labels.at(key), labels.at(key));
    for (const auto& [time, bits] : read) {
      const auto sample = original->second.find(time);
      ASSERT_NE(sample, original->second.end()) << key << " " << time;
      EXPECT_EQ(sample->second, bits) << key << " " << time;
      ++samples;
    }
  }
  EXPECT_EQ(samples, exported.summary.samples);
  // The format is found by itself, and a second round changes nothing.
  if (exported.summary.samples != 0) {
    EXPECT_EQ(ImportText(OptionsFor(TextFormat::kAuto, unit), exported.text).content, imported.content);
    EXPECT_EQ(ExportAll(format, unit, imported.content, imported.labels).text, exported.text);
  }
}

TEST(RoundTrip, GivesRandomSeriesBackBitForBitInEveryFormat) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomContent random(seed, seed % 3 != 0);
    Content content;
    std::map<std::string, Labels> labels;
    std::uint64_t samples = 0;
    for (int i = 0; i < 12; ++i) {
      const Labels set = random.Set();
      const std::string key = set.CanonicalKey();
      labels[key] = set;
      for (int j = 0; j < 20; ++j) {
        content[key][random.Time()] = random.Value();
      }
    }
    for (const auto& [key, of_key] : content) {
      samples += of_key.size();
    }
    const auto unit = static_cast<TimeUnit>(seed % 4);
    for (const TextFormat format : kFormats) {
      SCOPED_TRACE(TextFormatName(format));
      CheckRoundTrip(format, unit, content, labels);
      const ExportSummary summary = ExportAll(format, unit, content, labels).summary;
      EXPECT_EQ(summary.series + summary.skipped_series, content.size());
      if (format == TextFormat::kCsv) {
        EXPECT_EQ(summary.samples, samples);  // carries everything
      }
      if (seed % 3 != 0 && format != TextFormat::kInflux) {
        EXPECT_EQ(summary.samples, samples);  // everything that is UTF-8
      }
    }
  }
}

TEST(RoundTrip, CarriesSpecialValuesInEveryFormatButLineProtocol) {
  Content content;
  const std::map<std::string, Labels> labels = {{"sp{k=\"v\"}", Labels{{"__name__", "sp"}, {"k", "v"}}}};
  const std::uint64_t bits[] = {0x405ec00000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x407c800000000000,
                                0x7ff8000000000001, 0x7ff0000000000002, 0x8000000000000000, 0x4088a80000000000};
  for (std::size_t i = 0; i < std::size(bits); ++i) {
    content["sp{k=\"v\"}"][1700000000000 + static_cast<Timestamp>(i) * 1000] = bits[i];
  }
  for (const TextFormat format : kFormats) {
    SCOPED_TRACE(TextFormatName(format));
    CheckRoundTrip(format, TimeUnit::kMilliseconds, content, labels);
  }
  EXPECT_EQ(ExportAll(TextFormat::kJsonLines, TimeUnit::kMilliseconds, content, labels).text,
            "{\"metric\":{\"__name__\":\"sp\",\"k\":\"v\"},\"timestamps\":[1700000000000,1700000001000,1700000002000,"
            "1700000003000],\"values\":[123,\"+Inf\",\"-Inf\",456]}\n"
            "{\"metric\":{\"__name__\":\"sp\",\"k\":\"v\"},\"timestamps\":[1700000004000,1700000005000,1700000006000,"
            "1700000007000],\"values\":[\"NaN\",\"StaleNaN\",-0.0,789]}\n");
  const Exported influx = ExportAll(TextFormat::kInflux, TimeUnit::kMilliseconds, content, labels);
  EXPECT_EQ(influx.summary.samples, 4u);
  EXPECT_EQ(influx.summary.skipped_samples, 4u);
  ASSERT_EQ(influx.summary.errors.size(), 1u);
  EXPECT_THAT(influx.summary.errors[0], HasSubstr("no NaN"));
}

TEST(RoundTrip, CarriesLabelsWithEscapesAndSaysWhatLineProtocolCannot) {
  ImportOptions options = OptionsFor(TextFormat::kPrometheus, TimeUnit::kMilliseconds);
  const Imported original = ImportText(options, ReadData("label_escapes.prom"));
  ASSERT_EQ(original.content.size(), 10u);
  for (const TextFormat format : kFormats) {
    SCOPED_TRACE(TextFormatName(format));
    CheckRoundTrip(format, TimeUnit::kMilliseconds, original.content, original.labels);
    const Exported exported = ExportAll(format, TimeUnit::kMilliseconds, original.content, original.labels);
    if (format != TextFormat::kInflux) {
      EXPECT_EQ(exported.summary.skipped_series, 0u);
      continue;
    }
    EXPECT_EQ(exported.summary.skipped_series, 2u);
    ASSERT_EQ(exported.summary.errors.size(), 2u);
    EXPECT_THAT(exported.summary.errors[0], HasSubstr("backslash at the end of the label v= \"F:\\\""));
    EXPECT_THAT(exported.summary.errors[1], HasSubstr("line end in the label v= \"l1\\x0al2\""));
  }
}

TEST(RoundTrip, SplitsMetricNamesSoThatTheyJoinAgain) {
  Content content;
  std::map<std::string, Labels> labels;
  for (const char* name :
       {"cpu_usage_idle", "up", "_x", "x_", "_", "a__", "__a", "a b_c,d", "#c_d", "\tq_r", "a\\_b", "b_\\"}) {
    const Labels set{{"__name__", name}};
    labels[set.CanonicalKey()] = set;
    content[set.CanonicalKey()][1] = Bits(1);
  }
  CheckRoundTrip(TextFormat::kInflux, TimeUnit::kMilliseconds, content, labels);
  const Exported exported = ExportAll(TextFormat::kInflux, TimeUnit::kMilliseconds, content, labels);
  EXPECT_EQ(exported.summary.skipped_series, 1u);  // the one that ends in a backslash
  EXPECT_THAT(exported.text, HasSubstr("\ncpu_usage idle=1 1000000\n"));
  EXPECT_THAT(exported.text, HasSubstr("\nup,__name__=up value=1 1000000\n"));
}

TEST(RoundTrip, RefusesTimesThatNanosecondsDoNotReachInLineProtocol) {
  Content content;
  const std::map<std::string, Labels> labels = {{"m_x", Labels{{"__name__", "m_x"}}}};
  content["m_x"] = {{kTimestampMin, Bits(1)},
                    {-9223372036854, Bits(2)},
                    {9223372036854, Bits(3)},
                    {9223372036855, Bits(4)},
                    {kTimestampMax, Bits(5)}};
  CheckRoundTrip(TextFormat::kInflux, TimeUnit::kMilliseconds, content, labels);
  EXPECT_EQ(ExportAll(TextFormat::kInflux, TimeUnit::kMilliseconds, content, labels).summary.skipped_samples, 3u);
  for (const TextFormat format : {TextFormat::kOpenMetrics, TextFormat::kCsv, TextFormat::kJsonLines}) {
    CheckRoundTrip(format, TimeUnit::kMilliseconds, content, labels);
    EXPECT_EQ(ExportAll(format, TimeUnit::kMilliseconds, content, labels).summary.samples, 5u);
  }
}

TEST(Export, NamesASeriesCreatedByKeyByItsKey) {
  SeriesInfo info;
  info.key = "temp:room 1";
  info.created_by_key = true;
  info.labels = Labels{{"floor", "2"}};
  auto exporter = *Exporter::Create(TextFormat::kOpenMetrics, TimeUnit::kMilliseconds);
  std::string out;
  ASSERT_TRUE(exporter->BeginSeries(info, &out).ok());
  const Timestamp time = 1500;
  const double value = 2;
  exporter->Samples({&time, 1}, {&value, 1}, &out);
  EXPECT_EQ(out, "# TYPE \"temp:room 1\" unknown\n{\"temp:room 1\",floor=\"2\"} 2 1.5\n");
  info.labels = Labels{{"__name__", "other"}};
  EXPECT_EQ(exporter->BeginSeries(info, &out).code(), StatusCode::kInvalidArgument);
}

TEST(Export, SkipsTheSamplesOfASeriesItRefused) {
  SeriesInfo info;
  info.labels = Labels{{"a", "b"}};
  info.key = info.labels.CanonicalKey();
  auto exporter = *Exporter::Create(TextFormat::kInflux, TimeUnit::kMilliseconds);
  std::string out;
  const Status status = exporter->BeginSeries(info, &out);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("without a metric name"));
  const Timestamp time = 1;
  const double value = 2;
  exporter->Samples({&time, 1}, {&value, 1}, &out);
  EXPECT_EQ(out, "");
  EXPECT_FALSE(Exporter::Create(TextFormat::kPrometheus, TimeUnit::kMilliseconds).ok());
}

TEST(AppendDouble, WritesTheShortestTextThatReadsBack) {
  const std::pair<double, const char*> rows[] = {
      {0, "0"}, {-0.0, "-0.0"}, {1.1, "1.1"}, {100, "100"}, {-2.5, "-2.5"}, {1e22, "1e+22"}, {1e-7, "1e-07"},
      {1234567.875, "1234567.875"}, {5e-324, "5e-324"}, {1702878157125929728.0, "1702878157125929728"},
      {9007199254740992.0, "9007199254740992"}, {NAN, "NaN"}, {INFINITY, "+Inf"}, {-INFINITY, "-Inf"}};
  for (const auto& [value, want] : rows) {
    std::string out;
    AppendDouble(value, &out);
    EXPECT_EQ(out, want);
  }
}

/// A numeric facet with a decimal comma and grouping dots, as German has it.
class CommaFacet : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Locale, NumbersAreTheSameInEveryLocale) {
  const auto run = [] {
    std::string all;
    const Imported influx = ImportText(OptionsFor(TextFormat::kInflux, TimeUnit::kMilliseconds),
                                       "loc v=1.5 1000000000\nloc v=-0.25 2000000000\nloc v=1e-7 3000000000\nloc "
                                       "v=1234567.875 4000000000\nloc v=1,5 1\n");
    for (const TextFormat format : kFormats) {
      all += ExportAll(format, TimeUnit::kMilliseconds, influx.content, influx.labels).text;
    }
    for (const std::string& error : influx.summary.errors) {
      all += error;
    }
    return all;
  };
  const std::string plain = run();
  EXPECT_THAT(plain, HasSubstr("1234567.875"));
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaFacet));
  const std::string comma = run();
  // The C side needs an installed locale; the C++ side above works everywhere.
  const char* german = std::setlocale(LC_ALL, "de_DE.UTF-8");
  const std::string c_comma = run();
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  EXPECT_EQ(comma, plain);
  EXPECT_EQ(c_comma, plain);
  RecordProperty("german_c_locale", german != nullptr ? "used" : "not installed");
}

}  // namespace
}  // namespace tsdb::ingest_test
