#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ingest/memory_sink.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImportOptions Json() {
  ImportOptions options;
  options.format = TextFormat::kJsonLines;
  options.source = "in.jsonl";
  options.now = [] { return Timestamp{777}; };
  return options;
}

TEST(JsonImport, ReadsEveryShape) {
  const Imported got = ImportText(Json(), R"({"metric":{"__name__":"m","k":"v"},"timestamps":[1,2],"values":[1.5,-2]}
{"labels":{"__name__":"m","k":"v"},"t":3,"v":1e3}

 {"v": 4 , "t" : 4, "labels" : { "k" : "v" , "__name__" : "m" } }
{"key":"m{k=\"v\"}","labels":{"__name__":"m","k":"v"},"samples":[[5,5.5],[6,"+Inf"]]}
{"values":[],"timestamps":[],"metric":{"__name__":"none"}}
{"labels":{"__name__":"m","k":"v"},"v":7}
)");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_THAT(got.content,
              ElementsAre(std::pair("m{k=\"v\"}", std::map<Timestamp, std::uint64_t>{
                                                      {1, Bits(1.5)},
                                                      {2, Bits(-2)},
                                                      {3, Bits(1000)},
                                                      {4, Bits(4)},
                                                      {5, Bits(5.5)},
                                                      {6, Bits(std::numeric_limits<double>::infinity())},
                                                      {777, Bits(7)}})));
}

TEST(JsonImport, ReadsValuesBitForBit) {
  const Imported got = ImportText(
      Json(),
      R"({"metric":{"__name__":"m"},"timestamps":[1,2,3,4,5,6,7,8,9,10,11],"values":[-0.0,-0,"NaN","nan",)"
      R"("StaleNaN","NaN:fff8000000000123","-Inf",5e-324,1.7976931348623157e308,18446744073709551616,0.1]})");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_THAT(got.content.at("m"),
              ElementsAre(std::pair(1, 0x8000000000000000u), std::pair(2, 0x8000000000000000u),
                          std::pair(3, 0x7ff8000000000001u), std::pair(4, 0x7ff8000000000000u),
                          std::pair(5, 0x7ff0000000000002u), std::pair(6, 0xfff8000000000123u),
                          std::pair(7, 0xfff0000000000000u), std::pair(8, 1u), std::pair(9, 0x7fefffffffffffffu),
                          std::pair(10, Bits(18446744073709551616.0)), std::pair(11, Bits(0.1))));
}

TEST(JsonImport, CountsRoundedIntegers) {
  const Imported got = ImportText(
      Json(),
      R"({"metric":{"__name__":"m"},"timestamps":[1,2,3],)"
      R"("values":[9007199254740993,9007199254740992,10000000000000000000000]})");
  EXPECT_EQ(got.summary.rounded, 1u);
}

TEST(JsonImport, UndoesEscapesInNamesAndValues) {
  const Imported got =
      ImportText(Json(), R"({"labels":{"__name__":"\u006d","k\"":"a\\b\nc\u00fc\ud83d\ude00\/"},"t":1,"v":1})");
  ASSERT_EQ(got.labels.size(), 1u);
  EXPECT_EQ(got.labels.begin()->second, (Labels{{"__name__", "m"}, {"k\"", "a\\b\ncü😀/"}}));
}

TEST(JsonImport, RefusesWhatIsNotALineOfSamples) {
  for (const char* line : {"x",
                           "[]",
                           "1",
                           "\"a\"",
                           "null",
                           "{",
                           "}",
                           "{\"labels\":{\"__name__\":\"m\"},\"t\":1,\"v\":1",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1} {"a":1})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1} x)",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1}])",
                           R"({"t":1,"v":1})",
                           R"({"labels":{},"t":1,"v":1})",
                           R"({"labels":{"__name__":"m"}})",
                           R"({"labels":{"__name__":"m"},"t":1})",
                           R"({"labels":{"__name__":"m"},"timestamps":[1,2],"values":[1]})",
                           R"({"labels":{"__name__":"m"},"timestamps":[1],"v":1})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1,"v":2})",
                           R"({"labels":"m","t":1,"v":1})",
                           R"({"labels":{"__name__":5},"t":1,"v":1})",
                           R"({"labels":{"__name__":"m","a":{"b":"c"}},"t":1,"v":1})",
                           R"({"labels":{"__name__":"m","a":"1","a":"2"},"t":1,"v":1})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":null})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":true})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":"1"})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":NaN})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":+1})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":01})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":.5})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1.})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1e400})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1,5})",
                           R"({"labels":{"__name__":"m"},"t":null,"v":1})",
                           R"({"labels":{"__name__":"m"},"t":"x","v":1})",
                           R"({"labels":{"__name__":"m"},"t":9223372036854775808,"v":1})",
                           R"({"labels":{"__name__":"m"},"t":"now","v":1})",
                           R"({"labels":{"__name__":"m"},"t":"-","v":1})",
                           R"({"labels":{"__name__":"m"},"samples":[[1,2,3]]})",
                           R"({"labels":{"__name__":"m"},"samples":[[1]]})",
                           R"({"labels":{"__name__":"m"},"samples":[1,2]})",
                           R"({"labels":{"__name__":"m"},"timestamps":[1,],"values":[1]})",
                           "{\"labels\":{\"__name__\":\"\xff\"},\"t\":1,\"v\":1}",
                           R"({"labels":{"__name__":"m"},"t":1,"v":1,})",
                           R"({"labels":{"__name__":"m"} "t":1,"v":1})",
                           R"({"labels":{"__name__":"\ud800"},"t":1,"v":1})",
                           R"({"labels":{"__name__":"m"},"t":1,"v":[1]})"}) {
    const Imported got = ImportText(Json(), std::string(line) + "\n" + R"({"labels":{"__name__":"ok"},"t":1,"v":1})");
    EXPECT_EQ(got.summary.rejected, 1u) << line;
    EXPECT_EQ(got.content.size(), 1u) << line;
    ASSERT_FALSE(got.summary.errors.empty()) << line;
    EXPECT_THAT(got.summary.errors[0], ::testing::StartsWith("in.jsonl:1: ")) << line;
  }
}

TEST(JsonImport, ReadsTimesInTheNamedUnitAndDates) {
  ImportOptions options = Json();
  options.unit = TimeUnit::kSeconds;
  options.has_unit = true;
  const Imported got = ImportText(options, R"({"labels":{"__name__":"m"},"t":1700000000,"v":1}
{"labels":{"__name__":"m"},"t":1700000000.25,"v":2}
{"labels":{"__name__":"m"},"t":"2023-11-14T22:13:21Z","v":3})");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_THAT(got.content.at("m"), ElementsAre(std::pair(1700000000000, Bits(1)), std::pair(1700000000250, Bits(2)),
                                               std::pair(1700000001000, Bits(3))));
}

TEST(JsonImport, GivesTheMetricToLinesWithoutOne) {
  ImportOptions options = Json();
  options.metric = "temp";
  const Imported got = ImportText(options,
                                  "{\"t\":1,\"v\":1}\n{\"labels\":{\"a\":\"b\"},\"t\":1,\"v\":1}\n{\"labels\":{\"__"
                                  "name__\":\"own\"},\"t\":1,\"v\":1}");
  EXPECT_THAT(got.summary.errors, ElementsAre());
  EXPECT_EQ(got.content.count("temp"), 1u);
  EXPECT_EQ(got.content.count("temp{a=\"b\"}"), 1u);
  EXPECT_EQ(got.content.count("own"), 1u);
}

TEST(JsonImport, SplitsALongLineOverBatches) {
  ImportOptions options = Json();
  options.batch_samples = 7;
  std::string times;
  std::string values;
  for (int i = 0; i < 100; ++i) {
    times += (i == 0 ? "" : ",") + std::to_string(i);
    values += (i == 0 ? "" : ",") + std::to_string(i * 2);
  }
  const Imported got =
      ImportText(options, R"({"metric":{"__name__":"m"},"timestamps":[)" + times + "],\"values\":[" + values + "]}");
  EXPECT_EQ(got.summary.stored, 100u);
  EXPECT_EQ(got.content.at("m").at(99), Bits(198));
}

TEST(JsonImport, GivesTheSameWhereverThePiecesAreCut) {
  EXPECT_EQ(DifferenceBetweenSplits(Json(),
                                    "\xef\xbb\xbf{\"labels\":{\"__name__\":\"m\"},\"t\":1,\"v\":1}\r\n\nbad\n{"
                                    "\"labels\":{\"__name__\":\"ü\"},\"t\":1,\"v\":1}"),
            "");
}

}  // namespace
}  // namespace tsdb::ingest_test
