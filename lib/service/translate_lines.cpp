#include "service/translate_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

using Translations = std::vector<std::vector<Translation>>;

Translations search_by_length(const Translator& translator, std::vector<PreparedSentence> parts,
                              const LineSettings& settings, const LineHooks& hooks) {
  Translations found;
  const auto best =
      translate_all(translator, std::move(parts), settings.batch, [&](const TranslationProgress& done) {
        if (hooks.searched) hooks.searched(done);
        return true;
      });
  for (const Translation& translation : *best) found.push_back({translation});
  return found;
}

Translations search_in_order(const Translator& translator,
                             const std::vector<PreparedSentence>& parts,
                             const LineSettings& settings, const LineHooks& hooks) {
  Translations found;
  const std::size_t window = settings.window * settings.batch;
  while (found.size() < parts.size()) {
    const auto begin = parts.begin() + to_index(found.size());
    const auto end = begin + to_index(std::min(window, parts.size() - found.size()));
    std::ranges::move(translator.translate({begin, end}, settings.window > 1 ? settings.batch : 0),
                      std::back_inserter(found));
    const auto fraction = static_cast<double>(found.size()) / static_cast<double>(parts.size());
    if (hooks.searched) hooks.searched({found.size(), fraction});
  }
  return found;
}

}  // namespace

std::vector<std::vector<LineTranslation>> translate_lines(const Translator& translator,
                                                          const std::vector<std::string>& lines,
                                                          const LineSettings& settings,
                                                          const LineHooks& hooks) {
  std::vector<PreparedLine> prepared;
  for (const std::string& line : lines) {
    prepared.push_back(prepare_line(translator, line, settings.split));
    if (hooks.prepared) hooks.prepared(prepared.back());
  }
  Translations found = settings.by_length
                           ? search_by_length(translator, all_parts(prepared), settings, hooks)
                           : search_in_order(translator, all_parts(prepared), settings, hooks);
  std::vector<std::vector<LineTranslation>> translated;
  auto next = found.begin();
  for (const PreparedLine& line : prepared) {
    const auto end = next + to_index(line.parts.size());
    const Translations parts(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
    translated.push_back(join_parts(parts, line.gaps, translator.decode_config()));
    for (LineTranslation& each : translated.back()) each.text = clean_text(each.text).text;
  }
  return translated;
}

}  // namespace attn
