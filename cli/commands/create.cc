// create, alter, rename: a series before its first sample, and its settings, labels and key afterwards.
#include <memory>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/settings_options.h"

namespace tsdb::cli {
namespace {

struct CreateOptions {
  std::string key;
  SettingsArguments settings;
};

/// A series by its shown key; what to do when there is none.
Result<SeriesRef> Find(Database& db, const std::string& key) {
  Result<SeriesRef> ref = db.ResolveKey(key);
  if (!ref.ok() && ref.status().code() == StatusCode::kNotFound) {
    return Status::NotFound("no series has the key " + key + ": 'tsdb-cli series' lists them");
  }
  return ref;
}

/// Closes the database after a change; the first error counts.
Outcome Finish(Database& db, const Status& changed) {
  const Status closed = db.Close();
  return !changed.ok() ? Outcome::Failed(changed) : !closed.ok() ? Outcome::Failed(closed) : Outcome::Done();
}

Result<SeriesRef> CreateIn(Database& db, const CreateOptions& options, const Labels& labels,
                           const SeriesSettings& settings) {
  return options.key.empty() ? db.CreateSeries(labels, settings)
                             : db.CreateSeriesByKey(options.key, labels, settings);
}

Outcome RunCreate(const CreateOptions& options, Program& program) {
  const Result<Labels> labels = ParseLabels(options.settings.labels);
  if (!labels.ok()) {
    return Outcome::Usage(std::string(labels.status().message()));
  }
  if (options.key.empty() && labels->empty()) {
    return Outcome::Usage("give a KEY, or with --label the labels that identify the series");
  }
  // Wrong settings must not leave a new database behind; the unit makes no difference for what is wrong.
  if (const auto settings = ParseSettings(options.settings, TimeUnit::kNanoseconds); !settings.ok()) {
    return Outcome::Usage(std::string(settings.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenOrCreate(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<SeriesSettings> settings = ParseSettings(options.settings, (*db)->unit());
  if (!settings.ok()) {
    return Outcome::Usage(std::string(settings.status().message()));
  }
  const Result<SeriesRef> ref = CreateIn(**db, options, *labels, *settings);
  if (ref.ok()) {
    program.messages.Note("created series " + std::to_string(ref->id.value));
  }
  return Finish(**db, ref.status());
}

struct AlterOptions {
  std::string key;
  SettingsArguments settings;
};

bool ChangesNothing(const SettingsArguments& settings) {
  return settings.labels.empty() && settings.retention.empty() && settings.duplicates.empty() &&
         settings.ignore_time.empty() && settings.ignore_value.empty() && settings.expiry.empty();
}

Outcome RunAlter(const AlterOptions& options, Program& program) {
  if (ChangesNothing(options.settings)) {
    return Outcome::Usage("say what to change, for example --retention 30d");
  }
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<SeriesChange> change = ParseChange(options.settings, (*db)->unit());
  if (!change.ok()) {
    return Outcome::Usage(std::string(change.status().message()));
  }
  const Result<SeriesRef> ref = Find(**db, options.key);
  return Finish(**db, ref.ok() ? (*db)->Alter(*ref, *change) : Status(ref.status()));
}

struct RenameOptions {
  std::string key;
  std::string new_key;
};

Outcome RunRename(const RenameOptions& options, Program& program) {
  if (options.new_key.empty()) {
    return Outcome::Usage("a key is not empty");
  }
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<SeriesRef> ref = Find(**db, options.key);
  return Finish(**db, ref.ok() ? (*db)->Rename(*ref, options.new_key) : Status(ref.status()));
}

}  // namespace

void AddCreate(CommandSet* set) {
  CLI::App* command = set->Add(
      set->root(), "create", "Create a series before its first sample, with its settings",
      {"tsdb-cli create boiler --label room=cellar --retention 30d",
       "tsdb-cli create --label __name__=cpu_usage --label host=a --duplicates max"});
  auto options = std::make_shared<CreateOptions>();
  command->add_option("key", options->key, "Key that identifies the series; without one its labels do")
      ->type_name("KEY");
  AddSettingsOptions(command, &options->settings);
  set->SetRun(command, [options](Program& program) { return RunCreate(*options, program); });
}

void AddAlter(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "alter", "Change settings of a series, or labels of one created by key",
                               {"tsdb-cli alter boiler --retention 1y --duplicates default",
                                "tsdb-cli alter boiler --label room=attic --label floor=3"});
  auto options = std::make_shared<AlterOptions>();
  command->add_option("key", options->key, "Key of the series, as 'series' shows it")->type_name("KEY")->required();
  AddSettingsOptions(command, &options->settings);
  set->SetRun(command, [options](Program& program) { return RunAlter(*options, program); });
}

void AddRename(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "rename", "Give a series that was created by key another key",
                               {"tsdb-cli rename boiler boiler-old"});
  auto options = std::make_shared<RenameOptions>();
  command->add_option("key", options->key, "Key of the series, as 'series' shows it")->type_name("KEY")->required();
  command->add_option("new-key", options->new_key, "Its new key")->type_name("NEW")->required();
  set->SetRun(command, [options](Program& program) { return RunRename(*options, program); });
}

}  // namespace tsdb::cli
