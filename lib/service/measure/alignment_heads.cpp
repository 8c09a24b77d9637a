#include "service/measure/alignment_heads.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "record/head_report.h"
#include "service/measure/evaluation.h"
#include "service/model/languages.h"
#include "service/model/shipped.h"
#include "service/search_settings.h"
#include "service/translate_lines.h"

namespace attn {
namespace {

/// Number of sentences for targets without gold alignments, which have to be translated first.
constexpr std::size_t kTranslated = 16;

std::vector<std::string> shipped_lines(const char* name) {
  const std::string text = read_text_file(shipped(name));
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) lines.emplace_back(line);
  return lines;
}

/// Returns the greedy translations of the sentences.
std::vector<std::string> translations(const ReadyModel& model,
                                      const std::vector<std::string>& sentences) {
  SearchOptions greedy;
  greedy.beam = 1;
  const TranslationSettings settings = translation_settings(model, greedy);
  std::vector<std::string> texts;
  for (const auto& found : translate_lines(make_translator(model), settings, sentences,
                                           {.batch = kTranslated, .by_length = true})) {
    texts.push_back(found.front().text);
  }
  return texts;
}

/// Returns the heads by their alignment error rates, the lowest first.
std::vector<HeadIndex> rank_by_gold(const SiteReport& cross) {
  std::vector<std::pair<float, HeadIndex>> ranked;
  for (int layer = 0; layer < cross.layers; ++layer) {
    for (int head = 0; head < cross.heads; ++head) {
      const HeadIndex place{layer, head};
      const std::optional<GoldScore>& gold = cross.at(place).gold;
      if (const auto rate = gold ? gold->error_rate() : std::nullopt)
        ranked.push_back({*rate, place});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<HeadIndex> heads;
  for (const auto& [rate, place] : ranked) heads.push_back(place);
  return heads;
}

}  // namespace

void find_alignment_heads(ReadyModel& model) {
  if (model.seed || !model.transformer->config().alignment_heads.empty()) return;
  const std::optional<LanguagePair> languages = languages_in_name(model.name);
  if (!languages || languages->source != "en") return;
  std::vector<std::string> source = shipped_lines("data/gold/words.en");
  std::string note;
  try {
    if (languages->target == "de") {
      const std::vector<std::string> target = shipped_lines("data/gold/words.de");
      const std::string gold = shipped("data/gold/words.align");
      model.alignment_heads = rank_by_gold(measure_heads(model, source, target, gold, note).cross);
    } else {
      source.resize(std::min(source.size(), kTranslated));
      model.alignment_heads =
          best_heads(measure_heads(model, source, translations(model, source), "", note).cross);
    }
  } catch (const InputError&) {
    return;  // a model that cannot read these sentences keeps the choice by the run
  }
  if (model.alignment_heads.size() > kHighlightedHeads) {
    model.alignment_heads.resize(kHighlightedHeads);
  }
}

}  // namespace attn
