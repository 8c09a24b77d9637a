#include "translate/translate_all.h"

#include <algorithm>
#include <numeric>

namespace attn {

std::optional<std::vector<Translation>> translate_all(
    const Translator& translator, std::vector<PreparedSentence> sentences, std::size_t batch,
    const std::function<bool(const TranslationProgress&)>& go_on) {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].ids.size() > sentences[b].ids.size();
  });
  std::size_t all_tokens = 0;
  for (const PreparedSentence& sentence : sentences) all_tokens += sentence.ids.size();
  std::vector<Translation> translations(sentences.size());
  std::size_t tokens = 0;
  for (std::size_t first = 0; first < order.size(); first += batch) {
    const std::size_t last = std::min(first + batch, order.size());
    std::vector<PreparedSentence> part;
    for (std::size_t i = first; i < last; ++i) {
      tokens += sentences[order[i]].ids.size();
      part.push_back(std::move(sentences[order[i]]));
    }
    std::vector<std::vector<Translation>> found = translator.translate(part);
    for (std::size_t i = first; i < last; ++i) {
      translations[order[i]] = std::move(found[i - first].front());
    }
    const double done =
        static_cast<double>(tokens) / static_cast<double>(std::max<std::size_t>(1, all_tokens));
    if (!go_on({last, done})) return std::nullopt;
  }
  return translations;
}

}  // namespace attn
