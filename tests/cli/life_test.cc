// create, alter, rename, delete, drop, undrop, retention: what a user sees of the life of series.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Json = nlohmann::json;

class CliLife : public CliTest {
 protected:
  void Fill() const {
    CliOk({"ingest", "--format", "prometheus", "-"},
          {"cpu{host=\"a\"} 1 1000\ncpu{host=\"a\"} 3 2000\ncpu{host=\"a\"} 5 61000\n"
           "cpu{host=\"b\"} -0.5 1500\nmem 7 90000\n",
           {}});
  }
  Json Info(const std::string& key) const { return Json::parse(CliOk({"info", key, "--json"}).out); }
};

TEST_F(CliLife, CreateMakesASeriesByKeyWithItsSettings) {
  CliOk({"create", "boiler", "--label", "room=cellar", "--retention", "30d", "--duplicates", "max", "--expiry", "1d"});
  const Json info = Info("boiler");
  EXPECT_EQ(info["created_by_key"], true);
  EXPECT_EQ(info["labels"]["room"], "cellar");
  EXPECT_EQ(info["retention"], 30ll * 86'400'000);
  EXPECT_EQ(info["duplicates"], "max");
  EXPECT_EQ(info["expiry_ms"], 86'400'000);
  const CliResult again = Cli({"create", "boiler"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("boiler"));
}

TEST_F(CliLife, CreateWithoutAKeyIsByLabels) {
  CliOk({"create", "--label", "__name__=cpu", "--label", "host=a"});
  EXPECT_EQ(CliOk({"series"}).out, "cpu{host=\"a\"}\n");
  EXPECT_EQ(Info("cpu{host=\"a\"}")["created_by_key"], false);
}

TEST_F(CliLife, WrongSettingsCreateNothing) {
  const std::vector<std::vector<std::string>> rows = {
      {"create"},
      {"create", "k", "--label", "novalue"},
      {"create", "k", "--retention", "long"},
      {"create", "k", "--retention", "-5s"},
      {"create", "k", "--duplicates", "newest"},
      {"create", "k", "--ignore-value", "x"},
      {"init", "--retention", "soon"},
      {"init", "--max-bytes", "many"},
  };
  for (const auto& args : rows) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(args);
    EXPECT_THAT(result.err, MatchesRegex("tsdb-cli: .*: see 'tsdb-cli .* --help'\n"));
  }
  EXPECT_FALSE(std::filesystem::exists(Db()));
}

TEST_F(CliLife, AlterChangesOnlyWhatIsNamed) {
  CliOk({"create", "boiler", "--label", "room=cellar", "--duplicates", "max"});
  CliOk({"alter", "boiler", "--retention", "1d"});
  EXPECT_EQ(Info("boiler")["duplicates"], "max");
  EXPECT_EQ(Info("boiler")["labels"]["room"], "cellar");
  CliOk({"alter", "boiler", "--duplicates", "default", "--label", "room=attic"});
  EXPECT_EQ(Info("boiler")["duplicates"], "last");
  EXPECT_EQ(Info("boiler")["labels"]["room"], "attic");
  EXPECT_EQ(Info("boiler")["retention"], 86'400'000);
  EXPECT_EQ(Cli({"alter", "boiler"}).exit_code, 2);
  const CliResult none = Cli({"alter", "nothing", "--retention", "1d"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err, "tsdb-cli: no series has the key nothing: 'tsdb-cli series' lists them\n");
}

TEST_F(CliLife, RenameIsForSeriesByKey) {
  CliOk({"create", "boiler"});
  CliOk({"rename", "boiler", "stove"});
  EXPECT_EQ(CliOk({"series"}).out, "stove\n");
  Fill();
  EXPECT_EQ(Cli({"rename", "mem", "memory"}).exit_code, 1);
}

TEST_F(CliLife, DeleteTakesARangeAndTellsHowMuch) {
  Fill();
  const CliResult dry = CliOk({"delete", "cpu", "--from", "1500", "--to", "2000", "--count", "--dry-run"});
  EXPECT_EQ(dry.err, "would delete samples of 2 series, 2 samples from 1500 to 2000\n");
  EXPECT_EQ(Rows("cpu{host=\"b\"}"), "\"cpu{host=\"\"b\"\"}\",1500,-0.5\n");
  const CliResult done = CliOk({"delete", "cpu", "--from", "1500", "--to", "2000", "--count", "--yes"});
  EXPECT_THAT(done.err, HasSubstr("deleted samples of 2 series, 2 samples from 1500 to 2000"));
  EXPECT_EQ(Rows("cpu"), "\"cpu{host=\"\"a\"\"}\",1000,1\n\"cpu{host=\"\"a\"\"}\",61000,5\n");
  CliOk({"compact", "--purge"});
  EXPECT_EQ(Rows("cpu"), "\"cpu{host=\"\"a\"\"}\",1000,1\n\"cpu{host=\"\"a\"\"}\",61000,5\n");
}

TEST_F(CliLife, DeletesAcrossChunksAndWritesBehindThem) {
  std::string text;
  for (int i = 1; i <= 5000; ++i) {
    text += "d " + std::to_string(2 * i) + " " + std::to_string(i) + "\n";
  }
  CliOk({"ingest", "--format", "prometheus", "-"}, {text, {}});
  const auto remove = [&](const std::string& from, const std::string& to) {
    const std::string said = CliOk({"delete", "d", "--from", from, "--to", to, "--count"}).err;
    const std::size_t at = said.find("series, ") + 8;
    return said.substr(at, said.find(' ', at) - at);
  };
  const auto add = [&](const std::string& line) {
    CliOk({"ingest", "--format", "prometheus", "-"}, {line + "\n", {}});
  };
  const auto newest = [&] { return Rows("d", {"--reverse", "--limit", "1"}); };
  EXPECT_EQ(remove("101", "4900"), "4,800");
  EXPECT_EQ(Rows("d", {"--from", "99", "--to", "4902"}), "d,99,198\nd,100,200\nd,4901,9802\nd,4902,9804\n");
  EXPECT_EQ(newest(), "d,5000,10000\n");
  EXPECT_EQ(remove("4901", "5000"), "100");
  EXPECT_EQ(newest(), "d,100,200\n");
  EXPECT_EQ(Info("d")["samples"], 100);
  EXPECT_EQ(Info("d")["last"], Json::parse("[100,200]"));
  add("d 7 4950");
  EXPECT_EQ(newest(), "d,4950,7\n");
  add("d 8 150");
  EXPECT_EQ(Rows("d", {"--from", "100"}), "d,100,200\nd,150,8\nd,4950,7\n");
  EXPECT_EQ(remove("150", "150"), "1");
  EXPECT_EQ(remove("0", "0"), "0");
  EXPECT_EQ(remove("-", "+"), "101");
  EXPECT_EQ(newest(), "");
  add("d 1 5");
  EXPECT_EQ(Rows("d"), "d,5,1\n");
}

TEST_F(CliLife, OnATerminalDropAsksFirst) {
  Fill();
  const std::string command = std::string(TSDB_CLI_PATH) + " --db " + Db() + " drop mem";
  const auto answer = [&](const std::string& text) {
    return RunProgram("script", {"-qec", command, "/dev/null"}, {text, {}});
  };
  const CliResult no = answer("n\n");
  EXPECT_EQ(no.exit_code, 1);
  EXPECT_THAT(no.out, HasSubstr("drop 1 series? [y/N]"));
  EXPECT_THAT(no.out, HasSubstr("nothing was changed"));
  EXPECT_EQ(Rows("mem"), "mem,90000,7\n");
  const CliResult yes = answer("y\n");
  EXPECT_EQ(yes.exit_code, 0) << yes.out;
  EXPECT_EQ(Rows("mem"), "");
}

TEST_F(CliLife, DeleteWantsItsRange) {
  Fill();
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"delete", "{}"}, {"delete", "{}", "--from", "1"}, {"delete", "--from", "1", "--to", "2"}}) {
    EXPECT_EQ(Cli(args).exit_code, 2) << ::testing::PrintToString(args);
  }
  EXPECT_EQ(Cli({"delete", "{}", "--from", "3", "--to", "2"}).exit_code, 2);
}

TEST_F(CliLife, DropIsUndoneWithinItsGrace) {
  Fill();
  const CliResult drop = CliOk({"drop", "cpu{host=\"a\"}", "--count"});
  EXPECT_THAT(drop.err, HasSubstr("dropped 1 series"));
  EXPECT_EQ(CliOk({"series"}).out, "cpu{host=\"b\"}\nmem\n");
  const std::string listed = CliOk({"undrop"}).out;
  EXPECT_THAT(listed, HasSubstr("cpu{host=\"a\"}"));
  const std::string id = std::to_string(std::stoi(listed.substr(listed.find('\n') + 1)));
  EXPECT_THAT(CliOk({"undrop", id}).err, HasSubstr("brought back cpu{host=\"a\"}"));
  EXPECT_EQ(CliOk({"series"}).out, "cpu{host=\"a\"}\ncpu{host=\"b\"}\nmem\n");
  EXPECT_EQ(Cli({"undrop", id}).exit_code, 1);
}

TEST_F(CliLife, ADropWithoutGraceIsFinal) {
  Fill();
  CliOk({"drop", "--key", "mem", "--grace", "0", "--yes"});
  EXPECT_EQ(CliOk({"undrop"}).err, "no dropped series can be brought back\n");
  EXPECT_EQ(CliOk({"drop", "none"}).err, "dropped 0 series\n");
  EXPECT_EQ(Cli({"drop"}).exit_code, 2);
  EXPECT_EQ(Cli({"drop", "{}", "--grace", "soon"}).exit_code, 2);
}

TEST_F(CliLife, RetentionIsShownAndSet) {
  CliOk({"init", "--retention", "30d", "--max-bytes", "1GiB"});
  EXPECT_THAT(CliOk({"retention"}).out, HasSubstr("samples are kept  30d\n"));
  EXPECT_THAT(CliOk({"retention", "--age", "0", "--max-bytes", "0"}).out, HasSubstr("samples are kept  for ever\n"));
  CliOk({"retention", "--match", "cpu{mode=\"idle\"}", "--age", "7d"});
  EXPECT_THAT(CliOk({"retention"}).out, HasSubstr("  cpu{mode=\"idle\"}  1w\n"));
  CliOk({"retention", "--match", "{mode=\"idle\",__name__=\"cpu\"}", "--remove"});
  EXPECT_THAT(CliOk({"retention"}).out, ::testing::Not(HasSubstr("idle")));
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"retention", "--age", "-1"},
           {"retention", "--age", "long"},
           {"retention", "--max-bytes", "x"},
           {"retention", "--match", "cpu"},
           {"retention", "--match", "cpu{", "--age", "1d"},
           {"retention", "--remove"}}) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(args) << result.err;
  }
  EXPECT_EQ(Cli({"retention", "--match", "none", "--remove"}).exit_code, 1);
}

}  // namespace
}  // namespace tsdb::cli_test
