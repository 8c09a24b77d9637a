#include "translate/vector_recorder.h"

#include <algorithm>
#include <optional>

#include "base/at.h"
#include "model/layers.h"

namespace attn {
namespace {

/// Heads come in order, layer by layer and head by head, so each goes to the end.
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

/// What a record calls a stage; nothing where it does not hold it.
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
  if (residual_stream_.empty() || residual_stream_.back().values != step.values) residual_stream_.push_back(std::move(step));
}

std::vector<ResidualStreamState> embedding_steps(const StackParameters& stack, const ModelConfig& config,
                                          std::span<const int> ids) {
  const auto [table, positions, scale, token_without_position] = embedding_tables(config, stack);
  const Index columns = table.columns;
  ResidualStreamState token{"token", "", -1, to_int(columns), {}};
  ResidualStreamState position{"position", "", -1, to_int(columns), {}};
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (Index j = 0; j < columns; ++j) {
      token.values.push_back(table.at(ids[t], j) * scale);
      if (positions.data == nullptr) continue;
      position.values.push_back(ids[t] == token_without_position ? 0.0F : positions.at(to_index(t), j));
    }
  }
  if (positions.data == nullptr) return {std::move(token)};
  return {std::move(token), std::move(position)};
}

AttentionVectors VectorRecorder::take_vectors(AttentionSite site) {
  return std::move(at(vectors_, site));
}

}  // namespace attn
