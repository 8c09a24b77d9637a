#include "why/gradient_batches.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/at.h"
#include "base/memory.h"
#include "model/layers.h"
#include "model/training/training_pass.h"

namespace attn {
namespace {

/// Maximum number of token rows per batch, source and target together, and of scored words. Larger
/// batches are no faster.
constexpr Index kGradientRows = 2048;
constexpr Index kGradientWords = 128;

RowVector row_of(const Parameter& table, Index row) {
  RowVector numbers(table.columns);
  table.transposed().copy_column(row, numbers.data());
  return numbers;
}

}  // namespace

GradientBatches::GradientBatches(const Transformer& model)
    : memory_checked_(check_memory(model.config())),
      trainable_(model.config(), model, ParameterGradients::none),
      stacks_(trainable_, Backend::panels),
      output_({trainable_.parameters().output.transposed(), {}},
              {trainable_.gradient_parameters().output.transposed(), {}}, Backend::panels) {}

Matrix GradientBatches::embeddings(bool encoder, std::span<const int> ids) const {
  const ModelParameters& p = trainable_.parameters();
  const Parameter& table = encoder ? p.encoder.embedding : p.decoder.embedding;
  Matrix rows(std::ssize(ids), table.columns);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    rows.row(to_index(t)) = embedding_scale(config()) * row_of(table, ids[t]);
  }
  return rows;
}

void GradientBatches::run(std::span<const WordScores> scores, std::span<const Example> examples,
                          const Baseline* baseline, const Use& use) {
  for (std::size_t first = 0; first < examples.size();) {
    const std::size_t count = batch_size(scores.front(), examples.subspan(first));
    const auto part = examples.subspan(first, count);
    fill(scores.front(), part);
    if (baseline != nullptr) shift(part, *baseline);
    const ConstMatrixRef hidden = forward(baseline != nullptr);
    for (std::size_t score = 0; score < scores.size(); ++score) {
      backward(scores[score], part, hidden, [&](std::size_t i, const ExampleGradient& gradient) {
        use(score, first + i, gradient);
      });
    }
    first += count;
  }
}

void GradientBatches::run_line(std::span<const WordScores> scores,
                               std::span<const std::vector<Index>> steps,
                               std::span<const double> points, const Baseline& baseline,
                               const Use& use) {
  Index last = 0;
  for (const std::vector<Index>& each : steps) {
    for (const Index step : each) last = std::max(last, step);
  }
  std::vector<Example> whole;
  for (const double point : points) whole.push_back({last, point});
  for (std::size_t first = 0; first < whole.size();) {
    const std::size_t count = batch_size(scores.front(), std::span(whole).subspan(first));
    std::vector<Example> part(whole.begin() + to_index(first),
                              whole.begin() + to_index(first + count));
    fill(scores.front(), part);
    shift(part, baseline);
    const ConstMatrixRef hidden = forward(true);
    for (std::size_t score = 0; score < scores.size(); ++score) {
      for (std::size_t n = 0; n < steps[score].size(); ++n) {
        for (Example& example : part) example.step = steps[score][n];
        backward(scores[score], part, hidden,
                 [&](std::size_t, const ExampleGradient& gradient) { use(score, n, gradient); });
      }
    }
    first += count;
  }
}

std::uint64_t GradientBatches::bytes(const ModelConfig& config) {
  return checked_add(model_bytes(config, Backend::panels), prepared_bytes(config, Backend::panels))
      .value_or(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t GradientBatches::batch_bytes(const ModelConfig& config, std::size_t source,
                                           std::size_t steps, std::size_t examples) {
  const std::size_t fitting = std::min(to_size(kGradientRows) / (source + steps), examples);
  const std::size_t count = std::clamp<std::size_t>(fitting, 1, to_size(kGradientWords));
  return activation_bytes(config, {.source_tokens = count * source,
                                   .target_tokens = count * steps,
                                   .longest = std::max(source, steps),
                                   .sentences = count});
}

bool GradientBatches::check_memory(const ModelConfig& config) {
  require_memory(bytes(config), "the weights for a backward pass");
  return true;
}

std::size_t GradientBatches::batch_size(const WordScores& scores,
                                        std::span<const Example> examples) const {
  BatchShape shape;
  std::size_t count = 0;
  for (const Example& example : examples) {
    const Index rows = std::ssize(scores.source) + example.step + 1;
    const auto used = to_index(shape.source_tokens + shape.target_tokens);
    if (count > 0 && (used + rows > kGradientRows || to_index(count) == kGradientWords)) break;
    shape.source_tokens += scores.source.size();
    shape.target_tokens += to_size(example.step + 1);
    shape.longest =
        std::max<std::uint64_t>({shape.longest, scores.source.size(), to_size(example.step + 1)});
    shape.sentences = ++count;
  }
  require_memory(activation_bytes(config(), shape), "the gradients of this sentence");
  return count;
}

void GradientBatches::fill(const WordScores& scores, std::span<const Example> examples) {
  source_ = {};
  target_ = {};
  for (const Example& example : examples) {
    source_.add(scores.source);
    target_.add(std::span(scores.decoder_input).first(to_size(example.step + 1)));
  }
}

void GradientBatches::shift(std::span<const Example> examples, const Baseline& baseline) {
  source_shift_.resize(std::ssize(source_.ids), config().d_model);
  target_shift_.resize(std::ssize(target_.ids), config().d_model);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Index b = to_index(i);
    const auto share = static_cast<float>(1 - examples[i].point);
    const Index tokens = examples[i].step + 1;
    source_shift_.middleRows(at(source_.offsets, b), source_.length(b)) = share * baseline.source;
    target_shift_.middleRows(at(target_.offsets, b), tokens) =
        share * baseline.decoder_input.topRows(tokens);
  }
}

ConstMatrixRef GradientBatches::forward(bool shifted) {
  return stacks_.forward(
      {source_, target_, shifted ? &source_shift_ : nullptr, shifted ? &target_shift_ : nullptr},
      {});
}

template <typename UseExample>
void GradientBatches::backward(const WordScores& scores, std::span<const Example> examples,
                               const ConstMatrixRef& hidden, UseExample&& use) {
  const auto row = [&](Index b) { return at(target_.offsets, b) + at(examples, b).step; };
  Matrix last(std::ssize(examples), hidden.cols());  // [B, D] the rows that write the words
  for (Index b = 0; b < last.rows(); ++b) last.row(b) = hidden.row(row(b));
  Matrix dlast(last.rows(), last.cols());
  const std::vector<double> values = scores.foils.empty()
                                         ? log_probabilities(scores, examples, last, dlast)
                                         : contrasts(scores, examples, last, dlast);
  dhidden_.setZero(hidden.rows(), hidden.cols());
  for (Index b = 0; b < last.rows(); ++b) dhidden_.row(row(b)) = dlast.row(b);
  const EmbeddingGradient gradient = stacks_.backward(dhidden_);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Index b = to_index(i);
    use(i, ExampleGradient{
               values[i], gradient.source.middleRows(at(source_.offsets, b), source_.length(b)),
               gradient.decoder_input.middleRows(at(target_.offsets, b), examples[i].step + 1)});
  }
}

float GradientBatches::bias(Index word) const {
  const Parameter& bias = trainable_.parameters().logits_bias;
  return bias.exists() ? bias.at(0, word) : 0.0F;
}

std::vector<double> GradientBatches::log_probabilities(const WordScores& scores,
                                                       std::span<const Example> examples,
                                                       const Matrix& last, Matrix& dlast) const {
  Matrix logits(last.rows(), output_.out());
  output_.forward(last, logits);
  std::vector<double> values;
  for (Index b = 0; b < last.rows(); ++b) {
    auto row = logits.row(b);
    for (Index j = 0; j < row.size(); ++j) row[j] += bias(j);
    const Index word = at(scores.words, at(examples, b).step);
    const double largest = static_cast<double>(row.maxCoeff());
    const double log_sum = largest + std::log((row.cast<double>().array() - largest).exp().sum());
    values.push_back(static_cast<double>(row[word]) - log_sum);
    row = (-(row.cast<double>().array() - log_sum).exp()).cast<float>();
    row[word] = static_cast<float>(-std::expm1(values.back()));  // 1 − p, exact where p is near 1
  }
  output_.backward(last, logits, {dlast});
  return values;
}

std::vector<double> GradientBatches::contrasts(const WordScores& scores,
                                               std::span<const Example> examples,
                                               const Matrix& last, Matrix& dlast) const {
  const Parameter& table = trainable_.parameters().output;
  std::vector<double> values;
  for (Index b = 0; b < last.rows(); ++b) {
    const Index step = at(examples, b).step;
    const Index word = at(scores.words, step), foil = at(scores.foils, step);
    dlast.row(b) = row_of(table, word) - row_of(table, foil);
    values.push_back(dlast.row(b).cast<double>().dot(last.row(b).cast<double>()) +
                     static_cast<double>(bias(word)) - static_cast<double>(bias(foil)));
  }
  return values;
}

}  // namespace attn
