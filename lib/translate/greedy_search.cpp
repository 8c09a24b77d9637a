#include <cmath>

#include "translate/logits_processor.h"
#include "translate/search_steps.h"

namespace attn {
namespace {

/// Greedy search keeps one row a sentence that has not ended.
struct GreedySentence {
  std::vector<int> ids;
  float sum = 0;
  Index most = 0;
  bool done = false;
};

/// Chooses one row's next token and adds it, with its log-probability after processing.
void choose_greedily(const LogitsProcessor& processor, const ModelConfig& config,
                     GreedySentence& sentence, std::span<float> row) {
  if (const auto forced =
          processor.forced(static_cast<Index>(sentence.ids.size()), sentence.most)) {
    sentence.ids.push_back(*forced);
  } else {
    RowNormaliser normal = processor.renormalises() ? RowNormaliser{} : normaliser(row);
    processor.forbid(sentence.ids, config.decoder_start_token_id, row);
    if (processor.renormalises()) normal = normaliser(row);
    const Index best = kernels().arg_max(row.data(), static_cast<Index>(row.size()));
    sentence.sum += normal(row[static_cast<std::size_t>(best)]);
    sentence.ids.push_back(static_cast<int>(best));
  }
  sentence.done = sentence.ids.back() == config.eos_token_id ||
                  static_cast<Index>(sentence.ids.size()) >= sentence.most;
}

}  // namespace

SearchResults greedy_search(const Transformer& model, const PackedTokens& source,
                            const DecodeConfig& decode, AttentionObserver* observer) {
  const ModelConfig& config = model.config();
  const LogitsProcessor processor(decode, config.eos_token_id, config.decoder_vocab_size);
  const EncodedSource encoded = model.encode(source, observer);
  IncrementalDecoder decoder = make_decoder(model, encoded, source, decode, observer);

  std::vector<GreedySentence> sentences(static_cast<std::size_t>(source.sentences()));
  StepRows rows;
  StepRows next;
  for (Index b = 0; b < source.sentences(); ++b) {
    sentences[static_cast<std::size_t>(b)].most = most_tokens(decode, config, source.length(b));
    rows.add(config.decoder_start_token_id, b, b);
  }
  while (!rows.tokens.empty()) {
    MatrixRef logits = decoder.step(rows.tokens, rows.parents, rows.sentences);
    const auto count = static_cast<Index>(rows.tokens.size());
    parallel_for(count, count * logits.cols() * 8, [&](Index r) {
      GreedySentence& sentence =
          sentences[static_cast<std::size_t>(rows.sentences[static_cast<std::size_t>(r)])];
      choose_greedily(processor, config, sentence, row_of(logits, r));
    });
    next.clear();
    for (Index r = 0; r < count; ++r) {
      const Index b = rows.sentences[static_cast<std::size_t>(r)];
      const GreedySentence& sentence = sentences[static_cast<std::size_t>(b)];
      if (!sentence.done) next.add(sentence.ids.back(), r, b);
    }
    std::swap(rows, next);
  }
  SearchResults results;
  for (const GreedySentence& sentence : sentences) {
    const double length = std::pow(static_cast<double>(sentence.ids.size()),
                                   static_cast<double>(decode.length_penalty));
    results.push_back({{sentence.ids, sentence.sum / static_cast<float>(length)}});
  }
  return results;
}

}  // namespace attn
