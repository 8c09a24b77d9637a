#include "train/validation.h"

#include <cmath>

#include "base/error.h"
#include "model/layers.h"
#include "model/training/training_pass.h"
#include "train/corpus.h"
#include "translate/line_parts.h"

namespace attn {
namespace {

constexpr std::uint64_t kLossTokens =
    256;  ///< per batch, because its [T, V] logits are in memory at once
constexpr std::size_t kSentencesPerSearch = 64;  ///< translated together

TrainingBatch batch_of(const Corpus& corpus, const BatchPlan& plan, int start) {
  TrainingBatch batch;
  for (const std::uint32_t i : plan) batch.add(corpus.source[i], corpus.target[i], start);
  return batch;
}

/// Translates all lines, in order; returns nothing if `stop` became nonzero meanwhile.
std::optional<std::vector<std::string>> translate_dev_lines(const Translator& translator,
                                                            const TranslationSettings& settings,
                                                            const std::vector<std::string>& lines,
                                                            const std::atomic<int>& stop) {
  std::vector<PreparedSentence> sentences;
  for (const std::string& line : lines) sentences.push_back(translator.prepare(line, settings));
  const auto found = translate_all(translator, settings, std::move(sentences), kSentencesPerSearch,
                                   [&](const TranslationProgress&) { return stop == 0; });
  if (!found) return std::nullopt;
  std::vector<std::string> texts;
  for (const Translation& translation : *found) texts.push_back(translation.text);
  return texts;
}

}  // namespace

LossSum corpus_loss(const Transformer& model, const Corpus& corpus, float label_smoothing) {
  const ModelConfig& config = model.config();
  LossSum sum;
  Matrix logits;
  for (const BatchPlan& plan : plan_by_length(corpus, kLossTokens)) {
    const TrainingBatch batch = batch_of(corpus, plan, config.decoder_start_token_id);
    const Matrix hidden = model.decode(batch.decoder_input, model.encode(batch.source));
    logits.resize(hidden.rows(), config.decoder_vocab_size);
    model.logits(hidden, logits);
    sum +=
        cross_entropy(logits.leftCols(loss_classes(config)), batch.targets, label_smoothing, 0.0F);
  }
  return sum;
}

Validator::Validator(ParallelText dev, const Tokenizer& tokenizer, ValidationSettings settings)
    : text_(std::move(dev)),
      corpus_(make_corpus(text_, tokenizer, settings.max_tokens, settings.languages)),
      tokenizer_(tokenizer),
      settings_(std::move(settings)) {
  if (corpus_.size() > 0) return;
  throw InputError(
      "data.dev: no sentence pair is left for validation ({} with an empty side, {} longer than {} "
      "tokens); give other files, or raise model.max_position_embeddings",
      corpus_.empty, corpus_.too_long, settings_.max_tokens);
}

ValidationResult Validator::compute_loss(const Transformer& model) const {
  ValidationResult result;
  result.loss = corpus_loss(model, corpus_, settings_.label_smoothing);
  if (!std::isfinite(result.loss.loss)) {
    throw InputError("{}: the loss on data.dev is not finite; training stops", model.name());
  }
  return result;
}

std::optional<ValidationResult> Validator::run(const Transformer& model,
                                               const std::atomic<int>& stop) const {
  ValidationResult result = compute_loss(model);
  const auto translations = translate_dev_lines(
      {model, tokenizer_}, {settings_.decode, settings_.languages}, text_.source, stop);
  if (!translations) return std::nullopt;
  result.scores = {corpus_bleu(*translations, text_.target),
                   corpus_chrf(*translations, text_.target)};
  return result;
}

}  // namespace attn
