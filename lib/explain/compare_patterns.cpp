#include "explain/compare_patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/at.h"
#include "base/error.h"
#include "base/random.h"
#include "config/patterns/sparse_pattern.h"
#include "explain/matrices.h"
#include "model/packed_tokens.h"
#include "nn/attention/attention_mask.h"
#include "nn/attention/multi_head_attention.h"
#include "paper/attention.h"

namespace attn {
namespace {

/// Keeps the weights that attention computed.
struct WeightsObserver : AttentionObserver {
  Matrix weights;
  bool mixed = false;  ///< the keys are mixtures of tokens
  void weights_ready(AttentionHead& head) override {
    weights = head.weights;
    mixed = head.mixing != nullptr;
  }
};

/// Returns [n, k], in which row j has 1/size in the column of its group of neighbors.
Matrix means_of_neighbours(Index n, Index k) {
  Matrix means = Matrix::Zero(n, k);
  for (Index c = 0; c < k; ++c) {
    const Index first = c * n / k, end = (c + 1) * n / k;
    for (Index j = first; j < end; ++j) means(j, c) = 1.0F / static_cast<float>(end - first);
  }
  return means;
}

/// Returns a substitute for a parameter of a pattern that the model has not learned.
Matrix substitute_parameter(const ExtraParameter& extra, const std::string& name) {
  Matrix numbers(to_index(extra.rows), to_index(extra.columns));
  switch (extra.role) {
    case ParameterRole::low_rank:
      return means_of_neighbours(numbers.rows(), numbers.cols());
    case ParameterRole::features:
      fill_orthogonal(1, name, numbers.data(), to_size(numbers.rows()), to_size(numbers.cols()));
      break;
    default:
      fill_normal(1, name, numbers.data(), to_size(numbers.size()));
  }
  return numbers;
}

/// Returns the weights of one head under a sparse approximation.
Matrix approximated(const AttentionPattern& pattern, const AttentionHead& head) {
  const Index n = head.key.rows(), width = head.key.cols();
  const std::string name = fmt::format("shortcut {} {}", head.layer, head.head);
  Matrix keys_values(n, 2 * width);
  keys_values.leftCols(width) = head.key;
  keys_values.rightCols(width) = head.value;
  std::deque<Matrix> drawn;
  ExtraAttentionParameters extras;
  const SparsePattern& kind = sparse_pattern(pattern);
  for (const ExtraParameter& extra :
       kind.extra_parameters({pattern, to_size(n), to_size(width), 1})) {
    Matrix& numbers = drawn.emplace_back(substitute_parameter(extra, name));
    *extra_parameter(extras, extra.part) =
        row_major(numbers.data(), numbers.rows(), numbers.cols());
  }
  if (kind.shares_query_and_key()) keys_values.leftCols(width) = head.query;
  const AttentionShape shape{head.site, head.layer, 1, width, head.scale, &pattern};
  const std::vector<AttentionGroup> groups{{0, 0, n, 0, n, nullptr, {}}};
  const Matrix queries = head.query;
  Matrix output(n, width);
  WeightsObserver taken;
  attend(shape, {queries, keys_and_values(keys_values), groups, nullptr, &extras}, output, &taken);
  if (!taken.mixed) return taken.weights;
  return taken.weights * drawn.front().transpose();
}

/// Returns the pattern's weights of each query for each key.
Matrix weights_of(const AttentionPattern& pattern, const AttentionHead& head) {
  if (sparse_pattern(pattern).approximates()) return approximated(pattern, head);
  const Index n = head.key.rows();
  const AttentionGroup group{0, 0, n, 0, n, nullptr, {}, pattern.globals};
  const AttentionShape shape{head.site,       head.layer, head.head + 1,
                             head.key.cols(), head.scale, &pattern};
  paper::Matrix mask = paper::no_mask(n, n);
  if (!is_dense(shape, group)) mask = mask_matrix(shape, group, head.head).cast<double>();
  return paper::attention(head.query.cast<double>(), head.key.cast<double>(),
                          head.value.cast<double>(), static_cast<double>(head.scale), mask)
      .weights.cast<float>();
}

struct HeadError {
  double missed = 0, error = 0, top_stays = 0;
};

HeadError error_of(const Matrix& exact, const Matrix& found, const Matrix& value) {
  HeadError loss;
  for (Index i = 0; i < exact.rows(); ++i) {
    loss.missed += static_cast<double>((exact.row(i) - found.row(i)).cwiseMax(0.0F).sum());
    Index first = 0, now = 0;
    exact.row(i).maxCoeff(&first);
    found.row(i).maxCoeff(&now);
    loss.top_stays += first == now ? 1 : 0;
  }
  const auto rows = static_cast<double>(std::max<Index>(exact.rows(), 1));
  loss.missed /= rows;
  loss.top_stays /= rows;
  // In double, because the squares of large floats overflow a float.
  const Eigen::MatrixXd output = exact.cast<double>() * value.cast<double>();
  const double size = output.norm();
  loss.error = size > 0 ? (found.cast<double>() * value.cast<double>() - output).norm() / size : 0;
  return loss;
}

/// Measures the loss of every pattern in every head, while the model continues with the exact
/// weights.
struct ErrorObserver : AttentionObserver {
  const std::vector<AttentionPattern>& kinds;
  std::vector<std::vector<HeadError>> losses;  ///< [pattern][head of all layers]
  std::vector<std::string> heads;

  explicit ErrorObserver(const std::vector<AttentionPattern>& of) : kinds(of), losses(of.size()) {}
  void weights_ready(AttentionHead& head) override {
    if (head.site != AttentionSite::encoder_self) return;
    heads.push_back(fmt::format("encoder:{}:{}", head.layer, head.head));
    const Matrix exact = head.weights;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      losses[k].push_back(error_of(exact, weights_of(kinds[k], head), head.value));
    }
  }
};

HeadError mean_of(const std::vector<HeadError>& losses) {
  HeadError mean;
  const auto n = static_cast<double>(std::max<std::size_t>(losses.size(), 1));
  for (const HeadError& loss : losses) {
    mean.missed += loss.missed / n;
    mean.error += loss.error / n;
    mean.top_stays += loss.top_stays / n;
  }
  return mean;
}

NamedMatrix table_of(std::string name, std::vector<std::string> rows,
                     const std::vector<HeadError>& losses) {
  NamedMatrix table;
  table.name = std::move(name);
  table.rows = to_int(rows.size());
  table.columns = 3;
  table.column_tokens = {"missed", "error", "top stays"};
  table.row_tokens = std::move(rows);
  table.listing = true;
  for (const HeadError& loss : losses) {
    for (const double value : {loss.missed, loss.error, loss.top_stays}) {
      table.values.push_back(static_cast<float>(value));
    }
  }
  return table;
}

/// True for a pattern that leaves out keys in general, but none in this sentence.
bool misses_nothing(const AttentionPattern& kind, const std::vector<HeadError>& losses) {
  return !sparse_pattern(kind).approximates() &&
         std::all_of(losses.begin(), losses.end(),
                     [](const HeadError& loss) { return loss.missed == 0 && loss.error == 0; });
}

std::string translation_line(const PatternTranslation& exact, const PatternTranslation& now) {
  const std::string became = now.text == exact.text
                                 ? "the translation stays"
                                 : fmt::format("the translation becomes “{}”", now.text);
  const std::string before = number(exact.log_prob), after = number(now.log_prob);
  return fmt::format("{}; the target's log-probability: {}{}", became, after,
                     after == before ? ", as before" : " instead of " + before);
}

/// Throws InputError if nothing can be compared.
void check_comparable(const ModelConfig& config, const AttentionRecord& record) {
  const AttentionPattern& own = config.encoder_attention;
  if (!own.full()) {
    throw InputError(
        "the encoder's attention is {} already; the kinds are compared in a model whose "
        "encoder_attention is full",
        pattern_name(own.type));
  }
  if (config.relative.enabled() || config.rotary || config.key_value_heads > 0) {
    throw InputError(
        "the encoder's heads have {}, which not every kind supports; compare the kinds in a model "
        "that adds positions to its words and whose heads have their own keys",
        config.relative.enabled() ? "biases of distances"
        : config.rotary           ? "keys that are rotated by their positions"
                                  : "shared keys and values");
  }
  if (record.source.ids.size() <= 1) {
    throw InputError("the sentence has no tokens; there is nothing to explain");
  }
}

}  // namespace

std::vector<AttentionPattern> patterns_to_compare(int tokens) {
  std::vector<AttentionPattern> patterns;
  for (const SparsePattern* kind : all_sparse_patterns()) {
    patterns.push_back(kind->example_for(tokens));
    if (patterns.back().full()) patterns.pop_back();
  }
  return patterns;
}

void SparsePatternObserver::weights_ready(AttentionHead& head) {
  if (head.site != AttentionSite::encoder_self) return;
  head.weights = weights_of(pattern_, head);
  head.changed.add_all();
}

Explanation compare_patterns(const Transformer& model, const AttentionRecord& record,
                             const std::vector<AttentionPattern>& kinds,
                             const PatternTranslations& translations) {
  check_comparable(model.config(), record);
  ErrorObserver observer(kinds);
  PackedTokens source;
  source.add(record.source.ids);
  model.encode(source, &observer);

  Explanation explanation;
  explanation.model = record.model;
  explanation.title = "What each sparse approximation gives up";
  explanation.facts = {"source: " + record.source_text, "target: " + translations.exact.text,
                       fmt::format("{} tokens; each kind in the encoder of this model, whose "
                                   "attention is full",
                                   record.source.ids.size())};
  ExplanationStep all;
  all.id = "kinds";
  all.title = "All kinds, as means over the encoder's heads";
  all.formula = "missed = Σ_j max(0, a_ij − its a_ij);   error = ‖its A · V − A · V‖ / ‖A · V‖";
  all.shape = shape_of(std::ssize(kinds), 3);
  all.why =
      "Each head gets the input that it has under full attention, so errors of earlier layers do "
      "not add up here. In the translations below, they do.";
  std::vector<HeadError> means;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    means.push_back(mean_of(observer.losses[k]));
    names.emplace_back(pattern_name(kinds[k].type));
  }
  all.matrices = {table_of("means", names, means)};
  explanation.steps.push_back(all);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const PatternDescription words =
        sparse_pattern(kinds[k]).description(kinds[k], model.config().encoder_head_dim());
    ExplanationStep step;
    step.id = names[k];
    step.title = describe_pattern(kinds[k]);
    step.formula = words.formula;
    step.shape = shape_of(std::ssize(observer.heads), 3);
    step.why = words.why;
    step.matrices = {table_of("heads", observer.heads, observer.losses[k])};
    step.lines = {translation_line(translations.exact, translations.of[k])};
    if (misses_nothing(kinds[k], observer.losses[k])) {
      step.lines.emplace_back("in a sentence this short it sees every token");
    }
    explanation.steps.push_back(step);
  }
  return explanation;
}

}  // namespace attn
