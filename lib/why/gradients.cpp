#include "why/gradients.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

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

}  // namespace

EmbeddingGradients WordGradients::gradients(const WordScores& scores) {
  check_scores(scores, batches_->config());
  EmbeddingGradients result;
  result.steps = explained_steps(scores);
  const SideResult source{result.source_dot, result.source_l2, result.source_grad_l2};
  const SideResult target{result.target_dot, result.target_l2, result.target_grad_l2};
  source.clear(std::ssize(result.steps), std::ssize(scores.source));
  target.clear(std::ssize(result.steps), std::ssize(scores.decoder_input));
  const Matrix source_rows = batches_->embeddings(true, scores.source);
  const Matrix target_rows = batches_->embeddings(false, scores.decoder_input);
  std::vector<Example> examples;
  for (const Index step : result.steps) examples.push_back({step, 1.0});
  batches_->run(scores, examples, nullptr, [&](std::size_t i, const ExampleGradient& gradient) {
    result.scores.push_back(gradient.score);
    source.fill(to_index(i), source_rows, gradient.source);
    target.fill(to_index(i), target_rows, gradient.decoder_input);
  });
  return result;
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
  const WordScores& scores;
  const Baseline& baseline;
};

/// Fills these rows of the result, with this many points.
void integrate_rows(const Integration& of, std::span<const Index> rows, int points,
                    IntegratedGradients& result) {
  const auto count = rows.size();
  std::vector<Index> steps;
  for (const Index n : rows) steps.push_back(at(result.steps, n));
  std::vector<double> line;
  for (int k = 0; k < points; ++k) line.push_back((k + 0.5) / points);
  const LineSum zero{
      DoubleMatrix::Zero(of.baseline.source.rows(), of.baseline.source.cols()),
      DoubleMatrix::Zero(of.baseline.decoder_input.rows(), of.baseline.source.cols())};
  std::vector<LineSum> sums(count, zero);
  of.batches.run_line(of.scores, steps, line, of.baseline,
                      [&](std::size_t n, const ExampleGradient& gradient) {
                        LineSum& sum = sums[n];
                        sum.source += gradient.source.cast<double>();
                        sum.decoder_input.topRows(gradient.decoder_input.rows()) +=
                            gradient.decoder_input.cast<double>();
                      });
  for (std::size_t i = 0; i < count; ++i) {
    const Index n = rows[i];
    const double total =
        fill_integrated_row(of.baseline.source, sums[i].source / points, n, result.source_dot,
                            result.source_l2) +
        fill_integrated_row(of.baseline.decoder_input, sums[i].decoder_input / points, n,
                            result.target_dot, result.target_l2);
    at(result.deltas, n) = total - at(result.differences, n);
    at(result.points, n) = points;
  }
}

}  // namespace

double IntegratedGradients::gap(std::size_t n) const {
  if (deltas[n] == 0) return 0;
  return std::abs(deltas[n]) / std::abs(differences[n]);
}

IntegratedGradients WordGradients::integrated(const WordScores& scores,
                                              const IntegrationOptions& options) {
  const ModelConfig& config = batches_->config();
  check_scores(scores, config);
  check_score_ids({{options.unk}}, std::min(config.vocab_size, config.decoder_vocab_size), "<unk>");
  if (options.steps < 1) {
    throw InputError("{} integration steps; expected 1 or more", options.steps);
  }
  const Baseline baseline = baseline_of(*batches_, scores, options.unk);
  IntegratedGradients result;
  result.steps = explained_steps(scores);
  const auto count = std::ssize(result.steps);
  result.points.resize(to_size(count));
  result.deltas.resize(to_size(count));
  result.differences.resize(to_size(count));
  for (Matrix* matrix : {&result.source_dot, &result.source_l2}) {
    matrix->setZero(count, baseline.source.rows());
  }
  for (Matrix* matrix : {&result.target_dot, &result.target_l2}) {
    matrix->setZero(count, baseline.decoder_input.rows());
  }

  std::vector<Example> ends;
  for (const Index step : result.steps) ends.insert(ends.end(), {{step, 1.0}, {step, 0.0}});
  batches_->run(scores, ends, &baseline, [&](std::size_t i, const ExampleGradient& gradient) {
    result.differences[i / 2] += i % 2 == 0 ? gradient.score : -gradient.score;
  });

  const Index group =
      std::max<Index>(1, kSumNumbers / (baseline.source.size() + baseline.decoder_input.size()));
  for (Index first = 0; first < count; first += group) {
    std::vector<Index> open(
        to_size(std::min(group, count - first)));  // steps that are not exact enough yet
    std::iota(open.begin(), open.end(), first);
    for (int points = options.steps; !open.empty(); points *= 2) {
      integrate_rows({*batches_, scores, baseline}, open, points, result);
      if (points > options.max_steps / 2) break;
      std::erase_if(open, [&](Index n) { return result.gap(to_size(n)) <= options.max_gap; });
    }
  }
  return result;
}

}  // namespace attn
