// generate (hidden): the manual page and the completions that the build installs.
#include <memory>

#include "cli/command.h"
#include "cli/generate/pages.h"

namespace tsdb::cli {

void AddGenerate(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "generate", "Print the manual page or a shell completion",
                               {"tsdb-cli generate man > tsdb-cli.1"});
  command->group("");  // hidden from help
  auto kind = std::make_shared<std::string>();
  command->add_option("kind", *kind, "What to print")
      ->type_name("KIND")
      ->check(CLI::IsMember({"man", "bash", "zsh"}))
      ->required();
  const CLI::App* root = set->root();
  set->SetRun(command, [kind, root](Program& program) {
    *program.out.buffer() += *kind == "man"    ? ManPage(*root, TSDB_VERSION)
                             : *kind == "bash" ? BashCompletion(*root)
                                               : ZshCompletion(*root);
    return Outcome::Done();
  });
}

}  // namespace tsdb::cli
