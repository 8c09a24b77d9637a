#include "explain/shortcuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/random_normal.h"
#include "explain/matrices.h"
#include "model/packed_tokens.h"
#include "nn/attention/attention.h"
#include "nn/attention/attention_mask.h"
#include "paper/attention.h"

namespace attn {
namespace {

/// The weights as attention made them, taken from its observer.
struct TakenWeights : AttentionObserver {
  Matrix weights;
  void weights_ready(AttentionHead& head) override { weights = head.weights; }
};

/// [n, k] row j has 1/size in the column of its group of neighbours.
Matrix means_of_neighbours(Index n, Index k) {
  Matrix means = Matrix::Zero(n, k);
  for (Index c = 0; c < k; ++c) {
    const Index first = c * n / k, end = (c + 1) * n / k;
    for (Index j = first; j < end; ++j) means(j, c) = 1.0F / static_cast<float>(end - first);
  }
  return means;
}

/// What linformer, performer and lsh make of one head.
Matrix approximated(const AttentionPattern& pattern, const AttentionHead& head) {
  const Index n = head.key.rows(), width = head.key.cols();
  const std::string name = fmt::format("shortcut {} {}", head.layer, head.head);
  Matrix keys_values(n, 2 * width);
  keys_values.leftCols(width) = head.key;
  keys_values.rightCols(width) = head.value;
  Matrix own;
  AttentionExtras extras;
  if (pattern.type == PatternType::linformer) {
    own = means_of_neighbours(n, pattern.rank);
    extras.key_projection = extras.value_projection = row_major(own.data(), n, own.cols());
  } else if (pattern.type == PatternType::performer) {
    own.resize(pattern.features_of(to_int(width)), width);
    fill_orthogonal(1, name, own.data(), to_size(own.rows()), to_size(width));
    extras.features = row_major(own.data(), own.rows(), width);
  } else {
    own.resize(width, Index{pattern.rounds} * pattern.buckets / 2);
    fill_normal(1, name, own.data(), to_size(own.size()));
    extras.rotations = row_major(own.data(), width, own.cols());
    keys_values.leftCols(width) = head.query;
  }
  const AttentionShape shape{head.kind, head.layer, 1, width, head.scale, &pattern};
  const std::vector<AttentionGroup> groups{{0, 0, n, 0, n, nullptr, {}}};
  const Matrix queries = head.query;
  Matrix output(n, width);
  TakenWeights taken;
  attend(shape, {queries, keys_and_values(keys_values), groups, nullptr, &extras}, output, &taken);
  if (pattern.type == PatternType::linformer) return taken.weights * own.transpose();
  return taken.weights;
}

/// The kind's weights of each query for each key.
Matrix weights_of(const AttentionPattern& pattern, const AttentionHead& head) {
  if (is_approximation(pattern.type)) return approximated(pattern, head);
  const Index n = head.key.rows();
  const AttentionGroup group{0, 0, n, 0, n, nullptr, {}, pattern.globals};
  const AttentionShape shape{head.kind,       head.layer, head.head + 1,
                             head.key.cols(), head.scale, &pattern};
  paper::Matrix<double> mask = paper::no_mask<double>(n, n), weights;
  if (!sees_all(shape, group)) mask = mask_matrix(shape, group, head.head).cast<double>();
  paper::attention<double>(head.query.cast<double>(), head.key.cast<double>(),
                           head.value.cast<double>(), static_cast<double>(head.scale), mask,
                           &weights);
  return weights.cast<float>();
}

struct HeadLoss {
  double missed = 0, error = 0, top_stays = 0;
};

HeadLoss loss_of(const Matrix& exact, const Matrix& found, const Matrix& value) {
  HeadLoss loss;
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
  // In double: the squares of large floats are beyond a float.
  const Eigen::MatrixXd output = exact.cast<double>() * value.cast<double>();
  const double size = output.norm();
  loss.error = size > 0 ? (found.cast<double>() * value.cast<double>() - output).norm() / size : 0;
  return loss;
}

/// Every kind's loss of every head, while the model goes on with the exact weights.
struct LossObserver : AttentionObserver {
  const std::vector<AttentionPattern>& kinds;
  std::vector<std::vector<HeadLoss>> losses;  ///< [kind][head of all layers]
  std::vector<std::string> heads;

  explicit LossObserver(const std::vector<AttentionPattern>& of) : kinds(of), losses(of.size()) {}
  void weights_ready(AttentionHead& head) override {
    if (head.kind != AttentionKind::encoder_self) return;
    heads.push_back(fmt::format("encoder:{}:{}", head.layer, head.head));
    const Matrix exact = head.weights;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      losses[k].push_back(loss_of(exact, weights_of(kinds[k], head), head.value));
    }
  }
};

HeadLoss mean_of(const std::vector<HeadLoss>& losses) {
  HeadLoss mean;
  const auto n = static_cast<double>(std::max<std::size_t>(losses.size(), 1));
  for (const HeadLoss& loss : losses) {
    mean.missed += loss.missed / n;
    mean.error += loss.error / n;
    mean.top_stays += loss.top_stays / n;
  }
  return mean;
}

NamedMatrix table_of(std::string name, std::vector<std::string> rows,
                     const std::vector<HeadLoss>& losses) {
  NamedMatrix table;
  table.name = std::move(name);
  table.rows = to_int(rows.size());
  table.columns = 3;
  table.column_tokens = {"missed", "error", "top stays"};
  table.row_tokens = std::move(rows);
  table.listing = true;
  for (const HeadLoss& loss : losses) {
    for (const double value : {loss.missed, loss.error, loss.top_stays}) {
      table.values.push_back(static_cast<float>(value));
    }
  }
  return table;
}

struct KindWords {
  std::string formula;
  const char* why;
};

KindWords words_of(const AttentionPattern& pattern, int head_dim) {
  switch (pattern.type) {
    case PatternType::window:
      return {"i sees j where |i − j| ≤ window / 2",
              "It gives up every word that is farther away, because most heads look near; where "
              "the word that matters is far, only more layers reach it."};
    case PatternType::longformer:
      return {"i sees j where |i − j| ≤ window / 2, or i or j is global",
              "It gives up far words but for the global ones: what is far comes by way of their "
              "rows, as one mixture of the whole sentence."};
    case PatternType::bigbird:
      return {"i sees its block, its neighbours, the first, the last, and random ones",
              "It gives up all blocks that chance left out, because a few random ones bring any "
              "two tokens within a few layers of each other."};
    case PatternType::sparse_strided:
      return {"i sees j where |i − j| ≤ stride, or stride divides i − j",
              "It gives up the far words between the strides: right for the rows of an image, "
              "while in a sentence every stride-th word is there by accident."};
    case PatternType::sparse_fixed:
      return {"i sees j in its block of stride, or at the end of any block",
              "It gives up far words that do not stand at a block's end, because training is to "
              "gather each block there."};
    case PatternType::chunks:
      return {"i sees j in its block, or i or j is global",
              "It gives up what lies behind a border, however near, because blocks that do not "
              "overlap are plain small products."};
    case PatternType::linformer:
      return {"softmax(Q · (Eᵀ · K)ᵀ / √head_dim) · Fᵀ · V",
              "It gives up telling the words of a mixture apart: keys and values become k rows "
              "before any query asks (here, means of neighbours; a trained E chooses better)."};
    case PatternType::performer:
      return {fmt::format("a_ij ∝ φ(q_i) · φ(k_j), φ of m = {} random features",
                          pattern.features_of(head_dim)),
              "It gives up exact weights: all words are seen, but each score is an estimate, and "
              "a sharp look at one word is estimated worst."};
    case PatternType::lsh:
      return {
          "i sees j ≠ i in its block of the order by hash, and in the block before; k = q / |q|",
          "It gives up keys of their own, the look at oneself and whatever hashes elsewhere, "
          "because large scores are those of like directions; a model that was trained with "
          "all of these feels it most."};
    case PatternType::full:
      break;
  }
  return {"", ""};
}

/// Whether a kind that leaves keys out leaves out none here.
bool misses_nothing(const AttentionPattern& kind, const std::vector<HeadLoss>& losses) {
  return !is_approximation(kind.type) &&
         std::all_of(losses.begin(), losses.end(),
                     [](const HeadLoss& loss) { return loss.missed == 0 && loss.error == 0; });
}

std::string translation_line(const ShortcutTranslation& exact, const ShortcutTranslation& now) {
  const std::string became = now.text == exact.text
                                 ? "the translation stays"
                                 : fmt::format("the translation becomes “{}”", now.text);
  const std::string before = number(exact.log_prob), after = number(now.log_prob);
  return fmt::format("{}; the target's log-probability: {}{}", became, after,
                     after == before ? ", as before" : " instead of " + before);
}

}  // namespace

std::vector<AttentionPattern> shortcuts_for(int tokens) {
  const int quarter = std::max(2, (tokens + 3) / 4);
  AttentionPattern base;
  base.windows = {2 * std::max(1, tokens / 8)};
  base.block_size = quarter;
  base.random_blocks = 1;
  base.stride = std::max(1, to_int(std::lround(std::sqrt(static_cast<double>(tokens)))));
  base.rank = std::min(quarter, std::max(1, tokens));
  base.rounds = 2;
  base.buckets = 4;
  std::vector<AttentionPattern> kinds;
  for (int i = 1; i <= static_cast<int>(PatternType::lsh); ++i) {
    AttentionPattern pattern = base;
    pattern.type = static_cast<PatternType>(i);
    if (pattern.type == PatternType::longformer || pattern.type == PatternType::chunks) {
      pattern.globals = {0};
    }
    if (pattern.type == PatternType::bigbird) pattern.block_size = std::max(1, tokens / 12);
    kinds.push_back(pattern);
  }
  return kinds;
}

void ShortcutObserver::weights_ready(AttentionHead& head) {
  if (head.kind != AttentionKind::encoder_self) return;
  head.weights = weights_of(pattern_, head);
  head.changed.add_all();
}

Explanation compare_shortcuts(const Transformer& model, const AttentionRecord& record,
                              const std::vector<AttentionPattern>& kinds,
                              const ShortcutTranslations& translations) {
  const AttentionPattern& own = model.config().encoder_attention;
  if (!own.full()) {
    throw InputError(
        "the encoder's attention is {} already; the kinds are compared in a model whose "
        "encoder_attention is full",
        pattern_word(own.type));
  }
  if (record.source.ids.size() <= 1) {
    throw InputError("the sentence has no tokens; there is nothing to explain");
  }
  LossObserver observer(kinds);
  PackedTokens source;
  source.add(record.source.ids);
  model.encode(source, &observer);

  Explanation explanation;
  explanation.model = record.model;
  explanation.title = "What every shortcut gives up";
  explanation.facts = {"source: " + record.source_text, "target: " + translations.exact.text,
                       fmt::format("{} tokens; each kind in the encoder of this model, whose "
                                   "attention is full",
                                   record.source.ids.size())};
  ExplanationStep all;
  all.id = "kinds";
  all.title = "All kinds, means over the encoder's heads";
  all.formula = "missed = Σ_j max(0, a_ij − its a_ij);   error = ‖its A · V − A · V‖ / ‖A · V‖";
  all.shape = shape_of(std::ssize(kinds), 3);
  all.why =
      "Each head is given what it reads under full attention, so that errors of earlier layers do "
      "not add up here; in the translations below they do.";
  std::vector<HeadLoss> means;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    means.push_back(mean_of(observer.losses[k]));
    names.emplace_back(pattern_word(kinds[k].type));
  }
  all.matrices = {table_of("means", names, means)};
  explanation.steps.push_back(all);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const KindWords words = words_of(kinds[k], model.config().encoder_head_dim());
    ExplanationStep step;
    step.id = names[k];
    step.title = pattern_says(kinds[k]);
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
