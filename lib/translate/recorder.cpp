#include "translate/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/at.h"
#include "compute/kernels/kernels.h"
#include "model/layers.h"
#include "translate/search/logits_processor.h"

namespace attn {

namespace {

/// Adds the cells that the next head of `maps` looked at.
void add_pattern(PatternMaps& seen, const AttentionHead& head) {
  const auto known = std::find(seen.patterns.begin(), seen.patterns.end(), *head.seen);
  seen.of.push_back(to_int(to_size(known - seen.patterns.begin())));
  if (known == seen.patterns.end()) seen.patterns.push_back(*head.seen);
  const std::span<const float> non_token_weights = head.non_token_weights.weights;
  seen.non_token_weights.keys = head.non_token_weights.keys;
  seen.non_token_weights.weights.insert(seen.non_token_weights.weights.end(),
                                        non_token_weights.begin(), non_token_weights.end());
  seen.global_projection_queries.assign(head.global_projection_queries.begin(),
                                        head.global_projection_queries.end());
}

void append_rows(std::vector<float>& to, const ConstMatrixRef& rows) {
  for (Index i = 0; i < rows.rows(); ++i) {
    const float* row = rows.data() + i * rows.outerStride();
    to.insert(to.end(), row, row + rows.cols());
  }
}

/// Returns the weights of exact attention, without estimates.
Matrix exact_weights(const AttentionHead& head) {
  Matrix exact = head.scores + head.mask;
  for (Index i = 0; i < exact.rows(); ++i) kernels().softmax(exact.row(i).data(), exact.cols());
  return exact;
}

/// Adds a query's best key, and the share of the exact weights on the keys that it met.
void add_query(RecordedLshHead& hashed, const AttentionHead& head, Index query) {
  const auto scores = head.scores.row(query);
  Index best = -1;
  for (Index j = 0; j < scores.size(); ++j) {
    if (j != query && (best < 0 || scores[j] > scores[best])) best = j;
  }
  double all = 0, met = 0;
  for (Index j = 0; j < scores.size(); ++j) {
    if (j == query) continue;
    const double power = std::exp(static_cast<double>(scores[j] - scores[best]));
    all += power;
    if (head.mask(query, j) != -std::numeric_limits<float>::infinity()) met += power;
  }
  hashed.best.push_back(narrow_cast<int>(best));
  hashed.mass.push_back(all > 0 ? static_cast<float>(met / all) : 1.0F);
}

/// Adds an approximation's data on its next head, besides the weights.
void add_approximation(AttentionMaps& maps, const AttentionHead& head) {
  const auto of_kind = [&](ApproximationType site) -> Approximation& {
    if (!maps.approximation) maps.approximation.emplace().type = site;
    return *maps.approximation;
  };
  if (head.mixing != nullptr) {
    Approximation& mixed = of_kind(ApproximationType::linformer);
    if (head.head > 0) return;  // all heads of a layer share E and F
    append_rows(mixed.projected_keys, head.mixing->keys);
    append_rows(mixed.projected_values, head.mixing->values);
  } else if (head.is_estimate) {
    Approximation& estimated = of_kind(ApproximationType::performer);
    if (std::max(maps.queries, maps.keys) > max_dense_tokens) return;
    append_rows(estimated.exact, exact_weights(head));
  } else if (head.hashes != nullptr) {
    RecordedLshHead hashed{*head.hashes, {}, {}};
    for (Index i = 0; i < head.scores.rows(); ++i) add_query(hashed, head, i);
    of_kind(ApproximationType::lsh).hashed.push_back(std::move(hashed));
  }
}

}  // namespace

void AttentionRecorder::weights_ready(AttentionHead& head) {
  std::vector<AttentionMaps>& of_kind = at(maps_, head.site);
  const auto sentence = to_size(head.sentence);
  if (of_kind.size() <= sentence) of_kind.resize(sentence + 1);
  AttentionMaps& maps = of_kind[sentence];
  maps.layers = std::max(maps.layers, to_int(head.layer) + 1);
  maps.heads = std::max(maps.heads, to_int(head.head) + 1);
  maps.queries = to_int(head.weights.rows());
  maps.keys = to_int(head.weights.cols());
  // Heads arrive in order, layer by layer and head by head, so each is appended.
  if (head.seen != nullptr) {
    if (!maps.seen) maps.seen.emplace();
    add_pattern(*maps.seen, head);
  }
  add_approximation(maps, head);
  if (!maps.sparse()) {
    append_rows(maps.weights, head.weights);
    return;
  }
  for (Index i = 0; i < head.weights.rows(); ++i) {
    const float* row = head.weights.data() + i * head.weights.outerStride();
    for (const CellRun& run : head.seen->row(to_int(i))) {
      maps.weights.insert(maps.weights.end(), row + run.first, row + run.end);
    }
  }
}

AttentionMaps AttentionRecorder::take(AttentionSite site, Index sentence) {
  std::vector<AttentionMaps>& of_kind = at(maps_, site);
  const auto s = to_size(sentence);
  return s < of_kind.size() ? std::move(of_kind[s]) : AttentionMaps{};
}

std::vector<float> log_probabilities(const ConstMatrixRef& logits, std::span<const int> ids,
                                     std::string_view model) {
  std::vector<float> out;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const float* row = logits.data() + to_index(t) * logits.outerStride();
    const LogSoftmax normal = log_softmax({row, to_size(logits.cols())});
    out.push_back(normal(row[ids[t]]));
    if (!normal.finite || !std::isfinite(out.back())) throw_non_finite_logits(model, to_index(t));
  }
  return out;
}

namespace {

/// Heads arrive in order, layer by layer and head by head, so each is appended.
template <typename Rows>
void append(HeadVectors& to, const AttentionHead& head, const Rows& rows) {
  to.layers = std::max(to.layers, to_int(head.layer) + 1);
  to.heads = std::max(to.heads, to_int(head.head) + 1);
  to.rows = to_int(rows.rows());
  to.columns = to_int(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    const float* row = rows.data() + i * rows.outerStride();
    to.values.insert(to.values.end(), row, row + rows.cols());
  }
}

struct StageName {
  const char* stage;
  bool in_block = true;
};

/// Returns a stage's name in records; nothing if records do not contain it.
std::optional<StageName> name_of(Stage stage) {
  switch (stage) {
    case Stage::embedded:
      return StageName{"embedded", false};
    case Stage::stack_output:
      return StageName{"stack_output", false};
    case Stage::normed_input:
    case Stage::feed_forward_normed:
      return StageName{"normed"};
    case Stage::feed_forward_hidden:
      return StageName{"hidden"};
    case Stage::attn_output:
    case Stage::feed_forward_output:
      return StageName{"added"};
    case Stage::block_sum:
    case Stage::feed_forward_sum:
      return StageName{"sum"};
    case Stage::block_output:
    case Stage::layer_output:
      return StageName{"output"};
    default:
      return std::nullopt;
  }
}

const char* block_of(const StageView& view) {
  switch (view.stage) {
    case Stage::feed_forward_normed:
    case Stage::feed_forward_hidden:
    case Stage::feed_forward_output:
    case Stage::feed_forward_sum:
    case Stage::layer_output:
      return "feed_forward";
    default:
      break;
  }
  switch (view.site) {
    case AttentionSite::encoder_self:
      return "encoder_self";
    case AttentionSite::decoder_self:
      return "decoder_self";
    case AttentionSite::cross:
      break;
  }
  return "cross";
}

}  // namespace

void VectorRecorder::weights_ready(AttentionHead& head) {
  AttentionRecorder::weights_ready(head);
  if (!wanted_) return;
  AttentionVectors& vectors = at(vectors_, head.site);
  vectors.scale = head.scale;
  append(vectors.query, head, head.query);
  append(vectors.key, head, head.key);
  append(vectors.value, head, head.value);
  if (head.relative_bias.empty()) return;
  append(vectors.relative_bias, head,
         Eigen::Map<const RowVector>(head.relative_bias.data(), std::ssize(head.relative_bias)));
}

void VectorRecorder::stage_ready(const StageView& view) {
  const std::optional<StageName> name = wanted_ ? name_of(view.stage) : std::nullopt;
  if (!name) return;
  ResidualStreamState step{name->stage, "", -1, to_int(view.rows.cols()), {}};
  if (name->in_block) {
    step.block = block_of(view);
    step.layer = to_int(view.layer);
  }
  for (Index t = 0; t < view.rows.rows(); ++t) {
    const float* row = view.rows.data() + t * view.rows.outerStride();
    step.values.insert(step.values.end(), row, row + view.rows.cols());
  }
  if (residual_stream_.empty() || residual_stream_.back().values != step.values)
    residual_stream_.push_back(std::move(step));
}

std::vector<ResidualStreamState> embedding_steps(const StackParameters& stack,
                                                 const ModelConfig& config,
                                                 std::span<const int> ids) {
  const auto [table, positions, scale, token_without_position] = embedding_tables(config, stack);
  const Index columns = table.columns;
  ResidualStreamState token{"token", "", -1, to_int(columns), {}};
  ResidualStreamState position{"position", "", -1, to_int(columns), {}};
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (Index j = 0; j < columns; ++j) {
      token.values.push_back(table.at(ids[t], j) * scale);
      if (positions.data == nullptr) continue;
      position.values.push_back(ids[t] == token_without_position ? 0.0F
                                                                 : positions.at(to_index(t), j));
    }
  }
  if (positions.data == nullptr) return {std::move(token)};
  return {std::move(token), std::move(position)};
}

AttentionVectors VectorRecorder::take_vectors(AttentionSite site) {
  return std::move(at(vectors_, site));
}

Alternatives likeliest_tokens(const ConstMatrixRef& logits, std::span<const int> produced,
                              int count) {
  Alternatives found;
  found.count = std::min(count, to_int(logits.cols()));
  std::vector<int> order(to_size(logits.cols()));
  for (std::size_t t = 0; t < produced.size(); ++t) {
    const float* row = logits.data() + to_index(t) * logits.outerStride();
    const auto likelier = [row](int a, int b) {
      return row[a] > row[b] || (row[a] == row[b] && a < b);
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + found.count, order.end(), likelier);
    const LogSoftmax normal = log_softmax({row, to_size(logits.cols())});
    for (int i = 0; i < found.count; ++i) {
      const int id = at(order, i);
      found.ids.push_back(id);
      found.logits.push_back(row[id]);
      found.log_probs.push_back(normal(row[id]));
    }
    const int chosen = produced[t];
    found.ranks.push_back(
        to_int(std::ranges::count_if(order, [&](int id) { return likelier(id, chosen); })));
  }
  return found;
}

}  // namespace attn
