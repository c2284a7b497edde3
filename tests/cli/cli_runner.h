// Runs tsdb-cli the way a shell does, in a directory of its own, and gives back what it wrote.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace tsdb::cli_test {

struct CliResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string input;                       // standard input
  std::map<std::string, std::string> env;  // added to the environment
};

/// A running program whose standard input is a pipe in our hands.
class RunningCli {
 public:
  explicit RunningCli(const std::vector<std::string>& args);
  ~RunningCli();
  RunningCli(const RunningCli&) = delete;
  RunningCli& operator=(const RunningCli&) = delete;

  void Write(const std::string& text);
  void Signal(int signal);
  /// Closes standard output at our end, as `| head` does.
  void CloseOutput();
  /// Closes standard input unless `keep_input`, and waits.
  CliResult Wait(bool keep_input = false);

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
};

/// Runs `program args` with nothing added.
CliResult RunProgram(const std::string& program, const std::vector<std::string>& args, const RunOptions& options = {});

/// A test with a directory; the database is `db` in it.
class CliTest : public ::testing::Test {
 protected:
  CliTest();
  ~CliTest() override;

  /// tsdb-cli --db DB args…
  CliResult Cli(std::vector<std::string> args, const RunOptions& options = {}) const;
  /// As Cli; fails the test unless the exit code is 0.
  CliResult CliOk(std::vector<std::string> args, const RunOptions& options = {}) const;
  /// Writes a file into the directory; gives its path.
  std::string File(const std::string& name, const std::string& content) const;
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  std::string Db() const { return Path("db"); }
  /// `query SELECTOR --output csv` without its header line.
  std::string Rows(const std::string& selector, std::vector<std::string> more = {}) const;

 private:
  std::string dir_;
};

/// Whole content of a file; fails the test when it cannot be read.
std::string ReadFile(const std::string& path);

}  // namespace tsdb::cli_test
