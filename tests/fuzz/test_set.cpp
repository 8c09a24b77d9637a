// Fuzzes test sets: the first byte chooses the role, and whether the file is named *.tsv.
#include "text/test_set/test_set.h"
#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  if (bytes.empty()) return;
  const auto choice = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const auto role = static_cast<TextRole>(choice % 3);
  const std::string path = choice % 2 == 0 ? "text.xml" : "text.tsv";
  fuzz::accepts([&] {
    const std::optional<RoleTexts> found = texts_of_role(bytes, path, role);
    if (!found) return;
    fuzz::require(!found->texts.empty(), "a text");
    const std::size_t lines = found->texts.front().lines.size();
    for (const TestSetText& text : found->texts) {
      fuzz::require(text.lines.size() == lines, "as many lines in each");
      fuzz::require(text.ids.empty() || text.ids.size() == lines, "as many ids");
      for (const std::string& line : text.lines) {
        fuzz::require(line.find('\n') == line.npos, "one line");
        fuzz::require(line.size() <= bytes.size(), "no text of its own");
      }
    }
  });
}
