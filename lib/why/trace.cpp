#include "why/trace.h"

#include <cstdint>
#include <limits>

#include "base/at.h"
#include "base/error.h"

namespace attn {
namespace {

AttentionTrace& block_of(LayerTrace& layer, AttentionSite site) {
  return site == AttentionSite::cross ? layer.cross : layer.self;
}

/// Returns where a stage of a layer is kept; null if it is not needed.
Matrix* place_of(LayerTrace& layer, const StageView& view) {
  AttentionTrace& block = block_of(layer, view.site);
  switch (view.stage) {
    case Stage::block_input:
      return &block.input;
    case Stage::attn_output:
      return &block.added;
    case Stage::block_sum:
      return &block.sum;
    case Stage::block_output:
      return &block.output;
    case Stage::feed_forward_output:
      return &layer.feed_forward.added;
    case Stage::feed_forward_sum:
      return &layer.feed_forward.sum;
    case Stage::layer_output:
      return &layer.feed_forward.output;
    default:
      return nullptr;
  }
}

}  // namespace

PackedTokens one_sentence(std::span<const int> ids) {
  PackedTokens packed;
  packed.add(ids);
  return packed;
}

LayerTrace& TraceRecorder::layer(AttentionSite site, Index index) {
  StackTrace& stack = site == AttentionSite::encoder_self ? encoder_ : decoder_;
  if (std::ssize(stack.layers) <= index) stack.layers.resize(to_size(index) + 1);
  return at(stack.layers, index);
}

void TraceRecorder::output_ready(const AttentionHead& head) {
  AttentionTrace& block = block_of(layer(head.site, head.layer), head.site);
  block.weights.emplace_back(head.weights);
  block.values.emplace_back(head.value);
  if (head.mixing != nullptr || head.non_token_weights.any() ||
      !head.global_projection_queries.empty()) {
    block.values_are_of_tokens = false;
  }
}

void TraceRecorder::stage_ready(const StageView& view) {
  StackTrace& stack = view.site == AttentionSite::encoder_self ? encoder_ : decoder_;
  if (view.stage == Stage::embedded) {
    stack.embedded = view.rows;
  } else if (view.stage == Stage::stack_output) {
    stack.output = view.rows;
  } else if (Matrix* place = place_of(layer(view.site, view.layer), view); place != nullptr) {
    *place = view.rows;
  }
}

Trace trace_translation(const Transformer& model, std::span<const int> source,
                        std::span<const int> decoder_input, std::span<const int> written) {
  TraceRecorder recorder;
  const EncodedSource encoded = model.encode(one_sentence(source), &recorder);
  model.decode(one_sentence(decoder_input), encoded, &recorder);
  return {{source.begin(), source.end()},
          {decoder_input.begin(), decoder_input.end()},
          {written.begin(), written.end()},
          recorder.take_encoder(),
          recorder.take_decoder()};
}

std::uint64_t trace_bytes(const ModelConfig& config, std::size_t source, std::size_t steps) {
  // Doubles represent every size below 2⁵³ exactly and cannot overflow.
  const auto s = static_cast<double>(source), t = static_cast<double>(steps);
  const auto layer = [&](double rows, double blocks) {
    return rows * config.d_model * (4 * blocks + 3);
  };
  const double encoder = config.encoder_layers *
                         (layer(s, 1) + config.encoder_heads * s * (s + config.encoder_head_dim()));
  const double decoder =
      config.decoder_layers *
      (layer(t, 2) + config.decoder_heads * (t * (t + s) + (s + t) * config.decoder_head_dim()));
  const double bytes = sizeof(float) * (encoder + decoder);
  constexpr double kMost = 9e18;
  return bytes > kMost ? std::numeric_limits<std::uint64_t>::max()
                       : static_cast<std::uint64_t>(bytes);
}

}  // namespace attn
