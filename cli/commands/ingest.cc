// ingest: text files or a stream into the database.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/commands/ingest_run.h"
#include "cli/interrupt.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/arguments.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {
namespace {

struct IngestOptions {
  std::vector<std::string> files;
  std::string format = "auto";
  std::optional<std::string> unit;
  std::vector<std::string> labels;
  std::string on_error = "skip";
  std::optional<std::string> duplicates;
  std::optional<std::string> durability;
  std::size_t batch_samples = 10'000;
  bool json = false;
  bool acks = false;
  std::string metric;
  std::string csv_time;
  std::vector<std::string> csv_values;
  std::vector<std::string> csv_labels;
  bool no_header = false;

  bool has_csv() const { return !csv_time.empty() || !csv_values.empty() || !csv_labels.empty() || no_header; }
};

Result<ImportOptions> ParseImport(const IngestOptions& options) {
  ImportOptions import;
  TSDB_ASSIGN_OR_RETURN(import.format, ParseTextFormat(options.format));
  if (options.has_csv()) {
    if (import.format == TextFormat::kAuto) {
      import.format = TextFormat::kCsv;
    } else if (import.format != TextFormat::kCsv) {
      return Status::InvalidArgument("--csv options do not go with --format " + options.format + ": drop one of them");
    }
  }
  if (options.unit) {
    TSDB_ASSIGN_OR_RETURN(import.unit, ParseTimeUnit(*options.unit));
    import.has_unit = true;
  }
  for (const std::string& text : options.labels) {
    TSDB_ASSIGN_OR_RETURN(Label label, ParseLabel(text));
    import.extra_labels.push_back(std::move(label));
  }
  import.metric = options.metric;
  import.csv.time_column = options.csv_time;
  import.csv.value_columns = options.csv_values;
  import.csv.label_columns = options.csv_labels;
  import.csv.no_header = options.no_header;
  import.batch_samples = options.batch_samples;
  import.stop_on_error = options.on_error == "stop";
  return import;
}

Result<WriteOptions> ParseWrite(const IngestOptions& options) {
  WriteOptions write;
  write.count_replaced = true;
  if (options.duplicates) {
    TSDB_ASSIGN_OR_RETURN(write.duplicates, ParseDuplicatePolicy(*options.duplicates));
    write.has_duplicates = true;
  }
  if (options.durability) {
    TSDB_ASSIGN_OR_RETURN(write.durability, ParseDurability(*options.durability));
    write.has_durability = true;
  }
  return write;
}

/// Options and files are tried before the database is touched, so that a slip of the pen does not create one.
Outcome CheckInputs(const std::vector<std::string>& files, const ImportOptions& import) {
  const auto refuse = [](const WriteBatch&) -> Result<AppendResult> { return Status::Internal("no sink"); };
  ImportOptions trial = import;
  trial.now = [] { return Timestamp{0}; };
  if (const auto importer = Importer::Create(trial, refuse); !importer.ok()) {
    return Outcome::Usage(std::string(importer.status().message()));
  }
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return Outcome::Usage("standard input (-) can be read only once");
  }
  for (const std::string& file : files) {
    if (file != "-") {
      if (const auto input = InputStream::Open(file); !input.ok()) {
        return Outcome::Failed(input.status());
      }
    }
  }
  return Outcome::Done();
}

Outcome ReadAll(IngestRun& run, const std::vector<std::string>& files) {
  Status status;
  for (const std::string& file : files) {
    status = run.ReadInput(file);
    if (!status.ok() || run.stopped() || InterruptSignal() != 0) {
      break;
    }
  }
  const Status completed = run.Complete();
  if (!status.ok()) {
    return Outcome::Failed(status);
  }
  if (!completed.ok()) {
    return Outcome::Failed(completed);
  }
  const std::uint64_t rejected = run.report().sum.rejected;
  if (const int signal = InterruptSignal(); signal != 0) {
    return {static_cast<ExitCode>(128 + signal), "interrupted: whole lines read so far are stored"};
  }
  if (run.stopped()) {
    return Outcome::Partly("stopped at the first bad line; what came before it is stored");
  }
  return rejected != 0 ? Outcome::Partly(fmt::format("{} samples or lines rejected", FormatCount(rejected)))
                       : Outcome::Done();
}

Outcome RunIngest(const IngestOptions& options, Program& program) {
  Result<ImportOptions> import = ParseImport(options);
  if (!import.ok()) {
    return Outcome::Usage(std::string(import.status().message()));
  }
  const Result<WriteOptions> write = ParseWrite(options);
  if (!write.ok()) {
    return Outcome::Usage(std::string(write.status().message()));
  }
  const std::vector<std::string> files = options.files.empty() ? std::vector<std::string>{"-"} : options.files;
  if (Outcome checked = CheckInputs(files, *import); !checked.done()) {
    return checked;
  }
  CatchInterrupts();
  Result<std::unique_ptr<Database>> db = OpenOrCreate(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const TimeUnit unit = (*db)->unit();
  import->database_unit = unit;
  import->now = [unit] { return WallClock(unit); };
  if (::isatty(STDIN_FILENO) == 1 && std::count(files.begin(), files.end(), "-") != 0) {
    program.messages.Note("reading from the terminal; end with Ctrl-D");
  }
  IngestRun run(db->get(), *import, *write, &program);
  if (options.acks) {
    run.TellAcknowledgements();
  }
  Outcome outcome = ReadAll(run, files);
  const Status closed = (*db)->Close();
  program.messages.Note(run.report().ForPeople());
  if (options.json) {
    run.report().AppendJson(program.out.buffer());
  }
  return closed.ok() || !outcome.done() ? outcome : Outcome::Failed(closed);
}

void AddCsvOptions(CLI::App* command, IngestOptions* options) {
  const std::string group = "CSV";
  command->add_option("--csv-time", options->csv_time, "Column of the time: its name, or number with --no-header")
      ->type_name("COL")
      ->group(group);
  command->add_option("--csv-value", options->csv_values, "Columns of values; several make several metrics")
      ->type_name("COL[,COL...]")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
  command->add_option("--csv-labels", options->csv_labels, "Columns that become labels")
      ->type_name("COL[,COL...]")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
  command->add_flag("--no-header", options->no_header, "The first line is data; columns are numbers from 1")
      ->group(group);
  command->add_option("--metric", options->metric, "Name of the metric (CSV, and JSON lines without one)")
      ->type_name("NAME")
      ->group(group);
}

}  // namespace

void AddIngest(CommandSet* set) {
  CLI::App* command =
      set->Add(set->root(), "ingest", "Load samples from files (plain, gzip, zstd) or standard input",
               {"tsdb-cli ingest points.lp.gz", "tsdb-cli ingest --format prometheus --label job=node metrics.prom",
                "tsdb-cli ingest --csv-time time --csv-value temp,hum --csv-labels room --metric climate climate.csv",
                "curl -s http://localhost:9100/metrics | tsdb-cli ingest --format prometheus -"});
  auto options = std::make_shared<IngestOptions>();
  command->add_option("file", options->files, "Files; - is standard input, as is none")
      ->type_name("FILE...");
  command->add_option("--format,-f", options->format, "Text format")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"auto", "influx", "prometheus", "openmetrics", "csv", "jsonl"}))
      ->default_str("auto");
  command->add_option("--unit,-u", options->unit, "Unit of the times in the text (default: that of the format)")
      ->type_name("UNIT")
      ->check(CLI::IsMember({"s", "ms", "us", "ns"}));
  command->add_option("--label,-l", options->labels, "Label added to every series; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--on-error", options->on_error, "A bad line: skip it, or stop there")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"skip", "stop"}))
      ->default_str("skip");
  command->add_option("--duplicates", options->duplicates, "A second sample at one time (default: of the series)")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"last", "first", "min", "max", "sum", "block"}));
  command->add_option("--batch", options->batch_samples, "Samples per commit")
      ->type_name("N")
      ->check(WholeNumber(1, 10'000'000))
      ->default_str("10000");
  command->add_option("--durability", options->durability, "What a commit survives (default: of the database)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"always", "interval", "none"}));
  command->add_flag("--json", options->json, "One JSON object on standard output");
  command->add_flag("--acks", options->acks,
                    "After each commit, a line `acknowledged N` on standard output: samples handled so far");
  AddCsvOptions(command, options.get());
  set->SetRun(command, [options](Program& program) { return RunIngest(*options, program); });
}

}  // namespace tsdb::cli
