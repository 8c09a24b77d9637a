#include "why/gradients.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "why/gradient_batches.h"

namespace attn {
namespace {

void check_score_ids(std::span<const int> ids, int vocabulary, const char* what) {
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] >= 0 && ids[t] < vocabulary) continue;
    throw InputError("{} {} has the id {}; expected 0 to {}", what, t, ids[t], vocabulary - 1);
  }
}

void check_scores(const WordScores& scores, const ModelConfig& config) {
  const std::size_t steps = scores.words.size();
  if (scores.source.empty() || steps == 0) {
    throw InputError("the {} is empty; expected one token or more",
                     steps == 0 ? "target" : "source");
  }
  if (scores.decoder_input.size() != steps) {
    throw InputError("{} words for {} tokens of the decoder's input; expected one word a token",
                     steps, scores.decoder_input.size());
  }
  if (!scores.foils.empty() && scores.foils.size() != steps) {
    throw InputError("{} foils for {} words; expected one a word", scores.foils.size(), steps);
  }
  for (const Index step : scores.steps) {
    if (step < 0 || step >= std::ssize(scores.words)) {
      throw InputError("step {} is asked for; the target has steps 0 to {}", step, steps - 1);
    }
  }
  check_score_ids(scores.source, config.vocab_size, "source token");
  check_score_ids(scores.decoder_input, config.decoder_vocab_size, "target token");
  check_score_ids(scores.words, config.decoder_vocab_size, "word");
  check_score_ids(scores.foils, config.decoder_vocab_size, "foil");
}

std::vector<Index> explained_steps(const WordScores& scores) {
  std::vector<Index> steps = scores.steps;
  if (steps.empty()) {
    steps.resize(scores.words.size());
    std::iota(steps.begin(), steps.end(), Index{0});
  }
  for (const Index step : steps) {
    if (!scores.foils.empty() && at(scores.foils, step) == at(scores.words, step)) {
      throw InputError("the foil of step {} is the word itself (id {}); choose another word", step,
                       at(scores.words, step));
    }
  }
  return steps;
}

/// Checks each of the scores, and that they can share their forward passes.
void check_alike(std::span<const WordScores> scores, const ModelConfig& config) {
  if (scores.empty()) throw std::logic_error("no scores to explain");
  const WordScores& first = scores.front();
  for (const WordScores& each : scores) {
    check_scores(each, config);
    if (each.source != first.source || each.decoder_input != first.decoder_input ||
        each.steps != first.steps) {
      throw std::logic_error("scores of different sentences or steps");
    }
  }
}

}  // namespace

WordGradients::WordGradients(const Transformer& model)
    : batches_(std::make_unique<GradientBatches>(model)) {}
WordGradients::~WordGradients() = default;

namespace {

/// The three matrices of one side.
struct SideResult {
  Matrix& dot;
  Matrix& l2;
  Matrix& grad_l2;

  void clear(Index steps, Index tokens) const {
    for (Matrix* matrix : {&dot, &l2, &grad_l2}) matrix->setZero(steps, tokens);
  }
  /// Fills row n from the embeddings and their gradients, of which the last may be missing.
  void fill(Index n, const Matrix& x, const ConstMatrixRef& gradient) const {
    for (Index s = 0; s < gradient.rows(); ++s) {
      const Eigen::RowVectorXd g = gradient.row(s).cast<double>();
      const Eigen::RowVectorXd product = x.row(s).cast<double>().cwiseProduct(g);
      dot(n, s) = static_cast<float>(product.sum());
      l2(n, s) = static_cast<float>(product.norm());
      grad_l2(n, s) = static_cast<float>(g.norm());
    }
  }
};

SideResult source_side(EmbeddingGradients& of) {
  return {of.source_dot, of.source_l2, of.source_grad_l2};
}

SideResult target_side(EmbeddingGradients& of) {
  return {of.target_dot, of.target_l2, of.target_grad_l2};
}

}  // namespace

EmbeddingGradients WordGradients::gradients(const WordScores& scores) {
  return std::move(gradients(std::span(&scores, 1)).front());
}

std::vector<EmbeddingGradients> WordGradients::gradients(std::span<const WordScores> scores) {
  check_alike(scores, batches_->config());
  const WordScores& first = scores.front();
  std::vector<EmbeddingGradients> results(scores.size());
  for (std::size_t s = 0; s < scores.size(); ++s) {
    results[s].steps = explained_steps(scores[s]);
    source_side(results[s]).clear(std::ssize(results[s].steps), std::ssize(first.source));
    target_side(results[s]).clear(std::ssize(results[s].steps), std::ssize(first.decoder_input));
  }
  const Matrix source_rows = batches_->embeddings(true, first.source);
  const Matrix target_rows = batches_->embeddings(false, first.decoder_input);
  std::vector<Example> examples;
  for (const Index step : results.front().steps) examples.push_back({step, 1.0});
  batches_->run(scores, examples, nullptr,
                [&](std::size_t s, std::size_t i, const ExampleGradient& gradient) {
                  results[s].scores.push_back(gradient.score);
                  source_side(results[s]).fill(to_index(i), source_rows, gradient.source);
                  target_side(results[s]).fill(to_index(i), target_rows, gradient.decoder_input);
                });
  return results;
}

namespace {

using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Numbers in the sums of gradients of the steps that are integrated together: 32 MB.
constexpr Index kSumNumbers = Index{1} << 22;

/// The sum of the gradients along the line of one step.
struct LineSum {
  DoubleMatrix source;         ///< [S, D]
  DoubleMatrix decoder_input;  ///< [T, D]
};

/// Fills row n of dot and l2 from −shift ⊙ mean gradient; returns the sum of all entries.
double fill_integrated_row(const Matrix& shift, const DoubleMatrix& mean, Index n, Matrix& dot,
                           Matrix& l2) {
  double sum = 0;
  for (Index s = 0; s < shift.rows(); ++s) {
    const Eigen::RowVectorXd product = -shift.row(s).cast<double>().cwiseProduct(mean.row(s));
    dot(n, s) = static_cast<float>(product.sum());
    l2(n, s) = static_cast<float>(product.norm());
    sum += product.sum();
  }
  return sum;
}

/// Returns the baseline in which all tokens but </s> and the start token are `unk`.
Baseline baseline_of(const GradientBatches& batches, const WordScores& scores, int unk) {
  std::vector<int> source = scores.source, target = scores.decoder_input;
  for (int& id : source) id = id == batches.config().eos_token_id ? id : unk;
  std::fill(target.begin() + 1, target.end(), unk);
  return {batches.embeddings(true, source) - batches.embeddings(true, scores.source),
          batches.embeddings(false, target) - batches.embeddings(false, scores.decoder_input)};
}

/// The inputs of an integration, and its baseline.
struct Integration {
  GradientBatches& batches;
  std::span<const WordScores> scores;
  const Baseline& baseline;
};

/// Fills rows[s] of the results[s], with this many points.
void integrate_rows(const Integration& of, std::span<const std::vector<Index>> rows, int points,
                    std::vector<IntegratedGradients>& results) {
  const Matrix &source = of.baseline.source, &target = of.baseline.decoder_input;
  const LineSum zero{DoubleMatrix::Zero(source.rows(), source.cols()),
                     DoubleMatrix::Zero(target.rows(), source.cols())};
  std::vector<std::vector<Index>> steps(rows.size());
  std::vector<std::vector<LineSum>> sums(rows.size());
  for (std::size_t s = 0; s < rows.size(); ++s) {
    for (const Index n : rows[s]) steps[s].push_back(at(results[s].steps, n));
    sums[s].assign(rows[s].size(), zero);
  }
  std::vector<double> line;
  for (int k = 0; k < points; ++k) line.push_back((k + 0.5) / points);
  of.batches.run_line(of.scores, steps, line, of.baseline,
                      [&](std::size_t s, std::size_t n, const ExampleGradient& gradient) {
                        LineSum& sum = sums[s][n];
                        sum.source += gradient.source.cast<double>();
                        sum.decoder_input.topRows(gradient.decoder_input.rows()) +=
                            gradient.decoder_input.cast<double>();
                      });
  for (std::size_t s = 0; s < rows.size(); ++s) {
    IntegratedGradients& result = results[s];
    for (std::size_t i = 0; i < rows[s].size(); ++i) {
      const Index n = rows[s][i];
      const double total = fill_integrated_row(source, sums[s][i].source / points, n,
                                               result.source_dot, result.source_l2) +
                           fill_integrated_row(target, sums[s][i].decoder_input / points, n,
                                               result.target_dot, result.target_l2);
      at(result.deltas, n) = total - at(result.differences, n);
      at(result.points, n) = points;
    }
  }
}

/// Returns a result of zeros.
IntegratedGradients empty_result(const WordScores& scores, const Baseline& baseline) {
  IntegratedGradients result;
  result.steps = explained_steps(scores);
  const std::size_t count = result.steps.size();
  result.points.resize(count);
  result.deltas.resize(count);
  result.differences.resize(count);
  for (Matrix* matrix : {&result.source_dot, &result.source_l2}) {
    matrix->setZero(to_index(count), baseline.source.rows());
  }
  for (Matrix* matrix : {&result.target_dot, &result.target_l2}) {
    matrix->setZero(to_index(count), baseline.decoder_input.rows());
  }
  return result;
}

}  // namespace

double IntegratedGradients::gap(std::size_t n) const {
  if (deltas[n] == 0) return 0;
  return std::abs(deltas[n]) / std::abs(differences[n]);
}

IntegratedGradients WordGradients::integrated(const WordScores& scores,
                                              const IntegrationOptions& options) {
  return std::move(integrated(std::span(&scores, 1), options).front());
}

std::vector<IntegratedGradients> WordGradients::integrated(std::span<const WordScores> scores,
                                                           const IntegrationOptions& options) {
  const ModelConfig& config = batches_->config();
  check_alike(scores, config);
  check_score_ids({{options.unk}}, std::min(config.vocab_size, config.decoder_vocab_size), "<unk>");
  if (options.steps < 1) {
    throw InputError("{} integration steps; expected 1 or more", options.steps);
  }
  const Baseline baseline = baseline_of(*batches_, scores.front(), options.unk);
  std::vector<IntegratedGradients> results;
  for (const WordScores& each : scores) results.push_back(empty_result(each, baseline));

  std::vector<Example> ends;
  for (const Index step : results.front().steps) {
    ends.insert(ends.end(), {{step, 1.0}, {step, 0.0}});
  }
  batches_->run(scores, ends, &baseline,
                [&](std::size_t s, std::size_t i, const ExampleGradient& gradient) {
                  results[s].differences[i / 2] += i % 2 == 0 ? gradient.score : -gradient.score;
                });

  const auto count = std::ssize(results.front().steps);
  const Index numbers =
      (baseline.source.size() + baseline.decoder_input.size()) * std::ssize(scores);
  const Index group = std::max<Index>(1, kSumNumbers / numbers);
  for (Index first = 0; first < count; first += group) {
    std::vector<Index> all(to_size(std::min(group, count - first)));
    std::iota(all.begin(), all.end(), first);
    // For each score, the steps that are not exact enough yet.
    std::vector<std::vector<Index>> open(scores.size(), all);
    const auto is_empty = [](const std::vector<Index>& rows) { return rows.empty(); };
    for (int points = options.steps; !std::ranges::all_of(open, is_empty); points *= 2) {
      integrate_rows({*batches_, scores, baseline}, open, points, results);
      if (points > options.max_steps / 2) break;
      for (std::size_t s = 0; s < open.size(); ++s) {
        std::erase_if(open[s],
                      [&](Index n) { return results[s].gap(to_size(n)) <= options.max_gap; });
      }
    }
  }
  return results;
}

bool KeptGradients::is_large(const Transformer& model) {
  constexpr std::uint64_t kMostKept = std::uint64_t{512} << 20;
  return GradientBatches::bytes(model.config()) > kMostKept;
}

}  // namespace attn
