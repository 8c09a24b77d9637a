#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/at.h"
#include "translate/logits_processor.h"
#include "translate/search_steps.h"

namespace attn {
namespace {

/// Greedy search keeps one row a sentence that has not ended.
struct GreedySentence {
  std::vector<int> ids;
  float sum = 0;
  Index most = 0;
  bool finite = true;  ///< the logits so far
};

/// The first token with a row's largest logit. That logit is the normaliser's maximum already, but
/// for a token that is forbidden: then the row is searched again.
Index likeliest(std::span<const float> row, const RowNormaliser& normal) {
  const auto n = std::ssize(row);
  const float below = std::nextafter(normal.maximum, -std::numeric_limits<float>::infinity());
  const Index found = kernels().find_above(row.data(), 0, n, below);
  return found < n ? found : kernels().arg_max(row.data(), n);
}

/// Chooses one row's next token and adds it, with its log-probability after processing.
void choose_greedily(const LogitsProcessor& processor, EnsembleDecoder& decoder,
                     GreedySentence& sentence, Index r) {
  const auto [row, normal] = decoder.scores(processor, sentence.ids, r);
  sentence.finite = normal.finite;
  if (const auto forced = processor.forced(std::ssize(sentence.ids), sentence.most)) {
    sentence.ids.push_back(*forced);
  } else {
    const Index best = likeliest(row, normal);
    sentence.sum += normal(at(row, best));
    sentence.ids.push_back(to_int(best));
  }
}

}  // namespace

SearchResults greedy_search(const Ensemble& models, const PackedTokens& source,
                            const DecodeConfig& decode, const SearchWatch& watch) {
  const ModelConfig& config = models.config();
  const std::vector<int> ends = ends_of(decode, config);
  const LogitsProcessor processor(decode, ends, config.decoder_vocab_size);
  EnsembleDecoder decoder(models, source, source.sentences(), most_steps(decode, models, source),
                          watch);

  std::vector<GreedySentence> sentences(to_size(source.sentences()));
  StepRows rows;
  StepRows next;
  for (Index b = 0; b < source.sentences(); ++b) {
    at(sentences, b).most = most_tokens(decode, models, source.length(b));
    rows.add(config.decoder_start_token_id, b, b);
  }
  while (!rows.tokens.empty()) {
    stop_if_asked(watch.stop);
    decoder.step(rows.tokens, rows.parents, rows.sentences);
    const auto count = std::ssize(rows.tokens);
    parallel_for(count, decoder.size() * 8, [&](Index r) {
      GreedySentence& sentence = at(sentences, at(rows.sentences, r));
      choose_greedily(processor, decoder, sentence, r);
    });
    next.clear();
    for (Index r = 0; r < count; ++r) {
      const Index b = at(rows.sentences, r);
      const GreedySentence& sentence = at(sentences, b);
      if (!sentence.finite) {
        refuse_logits(models.name(), std::ssize(sentence.ids) - 1);
      }
      const bool ended = std::ranges::find(ends, sentence.ids.back()) != ends.end();
      const bool done = ended || std::ssize(sentence.ids) >= sentence.most;
      if (!done) next.add(sentence.ids.back(), r, b);
    }
    std::swap(rows, next);
  }
  SearchResults results;
  for (const GreedySentence& sentence : sentences) {
    const float score = hypothesis_score(sentence.sum, sentence.ids.size(), decode.length_penalty);
    results.push_back({{sentence.ids, score}});
  }
  return results;
}

}  // namespace attn
