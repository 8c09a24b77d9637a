#include "files/text_files.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"

namespace attn {

std::vector<Lines> read_texts(const std::string& path, TextRole role) {
  const std::string text = read_text_file(path);
  if (std::optional<RoleTexts> found = texts_of_role(text, path, role)) {
    note(found->note);
    std::vector<Lines> texts;
    for (TestSetText& each : found->texts) texts.push_back(std::move(each.lines));
    return texts;
  }
  const std::vector<std::string_view> lines = split_lines(text);
  return {{lines.begin(), lines.end()}};
}

Lines raw_lines(const std::string& path, TextRole role) {
  std::vector<Lines> texts = read_texts(path, role);
  if (texts.size() > 1) {
    throw InputError("{} has {} references, expected one; give a file with one", printable(path),
                     texts.size());
  }
  return std::move(texts.front());
}

Lines valid_lines(Lines lines, const std::string& path) {
  std::size_t invalid = 0;
  for (std::string& line : lines) {
    if (is_valid_utf8(line)) continue;
    line = clean_text(line).text;
    ++invalid;
  }
  if (invalid > 0) {
    note(fmt::format("{}: {} line{} not valid UTF-8; invalid bytes were replaced by U+FFFD",
                     printable(path), invalid, invalid == 1 ? " is" : "s are"));
  }
  return lines;
}

Lines scored_lines(const std::string& path, TextRole role) {
  return valid_lines(raw_lines(path, role), path);
}

}  // namespace attn
