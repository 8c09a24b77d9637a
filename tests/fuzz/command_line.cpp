// Fuzzes command lines: the words between 0xFF bytes are parsed like the program's own. No command
// runs.
#include "commands/command_line.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  std::vector<std::string> words{"attn-demo"};
  while (!bytes.empty()) words.emplace_back(fuzz::take_part(bytes));
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  fuzz::accepts([&] {
    const CommandLine line = parse_command_line(static_cast<int>(argv.size()), argv.data());
    fuzz::require(line.text.empty() == static_cast<bool>(line.run), "a text or a command");
  });
}
