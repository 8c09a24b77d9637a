#include "service/api/text_lines.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "markup/text_layout.h"

namespace attn {

PreparedLine prepare_text(const Translator& translator, const TranslationSettings& settings,
                          std::string_view bytes, Splitting splitting) {
  const std::vector<LayoutLine> lines = split_text(bytes);
  if (lines.size() == 1) return prepare_line(translator, settings, bytes, splitting);
  PreparedLine text;
  text.tried_to_split = true;
  for (const LayoutLine& line : lines) {
    PreparedLine own = prepare_line(translator, settings, line.content, splitting);
    own.gaps.front() = line.before;
    text.text += own.gaps.front() + own.text;
    std::ranges::move(own.gaps, std::back_inserter(text.gaps));
    std::ranges::move(own.parts, std::back_inserter(text.parts));
  }
  return text;
}

}  // namespace attn
