// flush, verify, dump, bench, generate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class CliCare : public CliTest {
 protected:
  void Fill() {
    std::string text;
    for (int i = 0; i < 5000; ++i) {
      text += "m,h=a v=" + std::to_string(i % 97) + " " + std::to_string(1000 * i) + "\n";
    }
    CliOk({"ingest", "--unit", "ms", "-"}, {text, {}});
  }

  /// The largest file below the database whose path holds `part`.
  std::string Largest(const std::string& part) {
    std::string best;
    std::uintmax_t best_size = 0;
    for (const auto& entry : fs::recursive_directory_iterator(Db())) {
      const std::string path = entry.path().string();
      const bool named = path.find(part, Db().size()) != std::string::npos;
      if (named && entry.is_regular_file() && entry.file_size() > best_size) {
        best = path;
        best_size = entry.file_size();
      }
    }
    return best;
  }
};

TEST_F(CliCare, FlushLeavesNothingToReplay) {
  Fill();
  CliOk({"flush"});
  const Json stats = Json::parse(CliOk({"stats", "--json"}).out);
  EXPECT_EQ(stats["samples_in_head"], 0);
  EXPECT_EQ(stats["samples_in_files"], 5000);
  std::uint64_t encoded = 0;
  for (const Json& encoding : stats["value_encodings"]) {
    encoded += encoding["samples"].get<std::uint64_t>();
  }
  EXPECT_EQ(encoded, 5000u);
  EXPECT_EQ(stats["recovery"]["samples"], 0);
}

TEST_F(CliCare, CompactLeavesOneFilePerPartitionAndTheSameRows) {
  for (int i = 0; i < 3; ++i) {
    CliOk({"ingest", "--unit", "ms", "-"}, {"m,h=a v=" + std::to_string(i) + " " + std::to_string(i * 500) + "\n", {}});
  }
  Fill();
  const std::string rows = Rows("m_v");
  const CliResult compact = CliOk({"compact"});
  EXPECT_THAT(compact.err, HasSubstr("chunk files: "));
  EXPECT_THAT(compact.err, HasSubstr(" -> 1, "));
  EXPECT_EQ(compact.out, "");
  const Json stats = Json::parse(CliOk({"stats", "--json"}).out);
  EXPECT_EQ(stats["chunk_files"], 1);
  EXPECT_EQ(stats["chunk_files_flushed"], 0);
  EXPECT_EQ(Rows("m_v"), rows);
  EXPECT_EQ(CliOk({"--quiet", "compact"}).err, "");
}

TEST_F(CliCare, JobsAreHeldAndGoOn) {
  Fill();
  EXPECT_THAT(CliOk({"jobs"}).out, HasSubstr("goes on by itself"));
  EXPECT_EQ(Json::parse(CliOk({"jobs", "--json"}).out)["held"], false);
  CliOk({"jobs", "pause"});
  EXPECT_THAT(CliOk({"jobs"}).out, HasSubstr("held: 'tsdb-cli jobs resume'"));
  for (int i = 0; i < 5; ++i) {
    CliOk({"ingest", "--unit", "ms", "-"}, {"m,h=a v=" + std::to_string(i) + " " + std::to_string(i * 500) + "\n", {}});
  }
  const Json held = Json::parse(CliOk({"jobs", "--json"}).out);
  EXPECT_EQ(held["held"], true);
  EXPECT_GE(held["chunk_files"], 5);
  CliOk({"compact"});  // asked for: it runs all the same
  EXPECT_EQ(Json::parse(CliOk({"jobs", "--json"}).out)["chunk_files"], 1);
  EXPECT_EQ(Cli({"--read-only", "jobs", "resume"}).exit_code, 1);
  CliOk({"jobs", "resume"});
  EXPECT_EQ(Json::parse(CliOk({"jobs", "--json"}).out)["held"], false);
  EXPECT_EQ(CliOk({"verify"}).exit_code, 0);
}

TEST_F(CliCare, JobsOfAMissingDatabaseFail) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"jobs"}, {"jobs", "pause"}, {"jobs", "resume"}}) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("no database at"));
  }
  EXPECT_EQ(Cli({"jobs", "stop"}).exit_code, 2);
}

TEST_F(CliCare, CompactOfAMissingDatabaseFails) {
  EXPECT_EQ(Cli({"compact"}).exit_code, 1);
  EXPECT_EQ(Cli({"compact", "now"}).exit_code, 2);
}

TEST_F(CliCare, AnalyzeSumsUpByLabelAndCountsEveryByteOfTheFiles) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    const std::string time = std::to_string(1000 * i) + "\n";
    text += "m,h=a v=" + std::to_string(i * i % 971) + ",w=1 " + time + "n,h=b v=" + std::to_string(i % 7) + " " + time;
  }
  CliOk({"ingest", "--unit", "ms", "-"}, {text, {}});
  CliOk({"compact"});
  const Json all = Json::parse(CliOk({"analyze", "--output", "json"}).out);
  ASSERT_EQ(all["rows"].size(), 3u);
  EXPECT_EQ(all["rows"][0]["name"], "m_v{h=\"a\"}");
  EXPECT_EQ(all["total"]["samples"], 9000);
  const Json stats = Json::parse(CliOk({"stats", "--json"}).out);
  EXPECT_LE(all["total"]["bytes"], stats["chunk_file_bytes"]);
  EXPECT_GE(all["total"]["bytes"], stats["chunk_file_bytes"].get<int>() - 200) << "all but the header";
  const Json hosts = Json::parse(CliOk({"analyze", "--by", "h", "--limit", "1", "--output", "json"}).out);
  ASSERT_EQ(hosts["rows"].size(), 1u);
  EXPECT_EQ(hosts["rows"][0]["name"], "a");
  EXPECT_EQ(hosts["rows"][0]["series"], 2);
  EXPECT_EQ(hosts["rows"][0]["samples"], 6000);
  EXPECT_THAT(CliOk({"analyze", "n_v", "--by", "__name__"}).out, HasSubstr("n_v"));
}

TEST_F(CliCare, VerifyPassesAGoodDatabaseAndNamesDamage) {
  Fill();
  const CliResult good = CliOk({"verify"});
  EXPECT_EQ(good.out, "");
  EXPECT_THAT(good.err, HasSubstr("5,000 samples, 0 damaged places"));

  const std::string file = Largest("/chunks/");
  ASSERT_NE(file, "");
  std::string bytes = ReadFile(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
  std::ofstream(file, std::ios::binary) << bytes;
  const CliResult bad = Cli({"verify"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.out, HasSubstr(fs::path(file).filename().string()));
  EXPECT_THAT(bad.err, HasSubstr("damage in"));
}

TEST_F(CliCare, RepairSavesWhatIsWholeAndSetsTheRestAside) {
  Fill();
  EXPECT_THAT(CliOk({"repair"}).err, HasSubstr("nothing to repair"));
  const std::string file = Largest("/chunks/");
  std::string bytes = ReadFile(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
  std::ofstream(file, std::ios::binary) << bytes;

  const CliResult dry = Cli({"repair", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 3);
  EXPECT_THAT(dry.err, HasSubstr("nothing was changed"));
  EXPECT_EQ(Cli({"verify"}).exit_code, 3);

  const CliResult repair = Cli({"repair"});
  EXPECT_EQ(repair.exit_code, 3);  // some samples are lost
  EXPECT_THAT(repair.out, HasSubstr(fs::path(file).filename().string() + "@"));
  EXPECT_TRUE(fs::exists(Db() + "/quarantine"));
  CliOk({"verify"});
  const std::string rows = Rows("m_v");
  const auto count = std::count(rows.begin(), rows.end(), '\n');
  EXPECT_GT(count, 1000);
  EXPECT_LT(count, 5000);
  EXPECT_EQ(Cli({"--read-only", "repair"}).exit_code, 1);
}

TEST_F(CliCare, DumpPrintsManifestsAndChunkFiles) {
  Fill();
  const std::string manifest = Largest("/manifest/");
  ASSERT_NE(manifest, "");
  EXPECT_NE(CliOk({"dump", "manifest", manifest}).out, "");
  const std::string file = Largest("/chunks/");
  ASSERT_NE(file, "");
  EXPECT_THAT(CliOk({"dump", "file", file}).out, HasSubstr("5000"));
  const CliResult missing = Cli({"dump", "wal", Path("nowhere")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere"));
}

TEST_F(CliCare, BenchStatesItsSettingAndCleansUp) {
  fs::create_directory(Path("work"));
  for (const char* what : {"write", "read"}) {
    const CliResult people = CliOk({"bench", what, "--series", "10", "--samples", "5000", "--dir", Path("work")});
    EXPECT_THAT(people.out, HasSubstr("durability interval"));
    const CliResult machine = CliOk({"bench", what, "--series", "10", "--samples", "5000", "--durability", "always",
                                     "--batch", "500", "--json", "--dir", Path("work")});
    EXPECT_EQ(Json::parse(machine.out)["durability"], "always");
    EXPECT_TRUE(fs::is_empty(Path("work")));
  }
}

TEST_F(CliCare, GeneratedPagesKnowEveryCommand) {
  for (const char* kind : {"man", "bash", "zsh"}) {
    const std::string text = CliOk({"generate", kind}).out;
    for (const char* command : {"init", "ingest", "query", "label-values", "verify", "repair", "export", "bench"}) {
      std::string word = command;
      if (std::string(kind) == "man") {
        word = word == "label-values" ? "label\\-values" : word;
      }
      EXPECT_THAT(text, HasSubstr(word)) << kind;
    }
    EXPECT_THAT(text, ::testing::Not(HasSubstr("generate"))) << kind;
  }
}

TEST_F(CliCare, BashCompletesCommandsOptionsAndChoices) {
  const std::string script = File("completion.bash", CliOk({"generate", "bash"}).out);
  const auto complete = [&](const std::string& words, int current) {
    const std::string code = "source " + script + "; compopt() { :; }; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                             std::to_string(current) + "; _tsdb_cli; echo \"${COMPREPLY[*]}\"";
    const CliResult result = RunProgram("bash", {"-c", code});
    EXPECT_EQ(result.err, "");
    return result.out;
  };
  EXPECT_EQ(complete("tsdb-cli inge", 1), "ingest\n");
  EXPECT_EQ(complete("tsdb-cli --db init du", 3), "dump\n");
  EXPECT_EQ(complete("tsdb-cli dump ''", 2), "wal file manifest\n");
  EXPECT_EQ(complete("tsdb-cli query --label", 2), "--label-at\n");
  EXPECT_EQ(complete("tsdb-cli query --output js", 3), "json jsonl\n");
  EXPECT_EQ(complete("tsdb-cli query --color al", 3), "always\n");
}

}  // namespace
}  // namespace tsdb::cli_test
