#include "commands/forced_pairs.h"

#include "base/error.h"
#include "base/strings/utf8.h"
#include "terminal/line_input.h"

namespace attn {

ForcedPairs::ForcedPairs(const std::string& input, const std::string& targets)
    : path_(targets),
      sources_(raw_lines(LineSource::names_stdin(input) ? "/dev/stdin" : input, TextRole::source)),
      targets_(raw_lines(targets, TextRole::reference)) {
  if (sources_.size() == targets_.size()) return;
  throw InputError("{} has {} lines and {} has {}; expected one target for each source line",
                   LineSource::names_stdin(input) ? "stdin" : printable(input), sources_.size(),
                   printable(targets), targets_.size());
}

std::string ForcedPairs::where() const {
  return fmt::format("{}:{}", printable(path_), taken_);
}

}  // namespace attn
