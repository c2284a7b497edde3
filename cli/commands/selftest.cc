// selftest: the engine on the user's own disk: killed in the middle of writing, damaged, and compared.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <system_error>

#include "cli/command.h"
#include "cli/selftest/rounds.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {
namespace {

namespace stdfs = std::filesystem;

/// A sync that is faster than any disk's is none.
constexpr double kSyncMicrosMin = 10;

struct SelftestOptions {
  std::string dir = ".";
  std::uint64_t seed = 0;
  std::uint64_t rounds = 20;
};

class Selftest {
 public:
  Selftest(const SelftestOptions& options, Program& program)
      : options_(options),
        program_(program),
        random_(options.seed),
        root_(stdfs::path(options.dir) / fmt::format("tsdb-selftest-{}", getpid())) {}

  Outcome Run() {
    std::error_code error;
    stdfs::create_directories(root_, error);
    if (error) {
      return Outcome::Failed(fmt::format("{}: {}: choose another folder with --dir", root_.string(), error.message()));
    }
    Say(fmt::format("seed {}, in {}", options_.seed, root_.string()));
    const std::string problem = RunRounds();
    if (!problem.empty()) {
      return Outcome::Failed(fmt::format("selftest: {}; {} is kept, repeat with --seed {}", problem, root_.string(),
                                         options_.seed));
    }
    stdfs::remove_all(root_, error);
    Say("everything acknowledged was there, and damage was reported");
    return Outcome::Done();
  }

 private:
  std::string RunRounds() {
    const std::string database = (root_ / "database").string();
    selftest::Figures figures;
    for (std::uint64_t i = 0; i < options_.rounds; ++i) {
      if (std::string problem = selftest::KillRound(database, &random_, &figures); !problem.empty()) {
        return fmt::format("kill {}: {}", i + 1, problem);
      }
    }
    Say(fmt::format("{} kills: {} samples acknowledged, {} found, each with its value", figures.kills,
                    FormatCount(figures.acknowledged), FormatCount(figures.samples)));
    for (std::uint64_t i = 0; i < 2 * options_.rounds; ++i) {
      const std::string copy = (root_ / "damaged").string();
      if (std::string problem = selftest::DamageRound(database, copy, &random_, &figures); !problem.empty()) {
        return fmt::format("damage {}: {}", i + 1, problem);
      }
    }
    Say(fmt::format("{} damaged copies: {} reported, the others had no effect", figures.damaged, figures.reported));
    const Result<double> micros = selftest::MeasureSyncs((root_ / "syncs").string());
    if (!micros.ok()) {
      return std::string(micros.status().message());
    }
    Say(fmt::format("a synced write takes {:.0f} us here", *micros));
    if (*micros < kSyncMicrosMin) {
      program_.messages.Warning(fmt::format(
          "{}: no disk syncs that fast: what is written here does not survive a power cut", options_.dir));
    }
    return "";
  }

  void Say(const std::string& line) {
    *program_.out.buffer() += line + "\n";
    program_.out.Flush();
  }

  const SelftestOptions& options_;
  Program& program_;
  std::mt19937_64 random_;
  const stdfs::path root_;
};

}  // namespace

void AddSelftest(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "selftest",
                               "Kill and damage a scratch database on your disk, and compare what comes back",
                               {"tsdb-cli selftest", "tsdb-cli selftest --dir /mnt/data --rounds 200 --seed 7"});
  auto options = std::make_shared<SelftestOptions>();
  command->add_option("--dir", options->dir, "Folder in which a scratch folder is made, and removed when all is well")
      ->type_name("DIR")
      ->default_str(".");
  command->add_option("--seed", options->seed, "Repeats the same kills and damage (their moments vary)")
      ->type_name("N")
      ->default_str("0");
  command->add_option("--rounds", options->rounds, "Kills; twice as many copies are damaged")
      ->type_name("N")
      ->default_str("20")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
  set->SetRun(command, [options](Program& program) { return Selftest(*options, program).Run(); });
}

}  // namespace tsdb::cli
