#include "nn/attention/attention.h"

#include "nn/attention/attention_head.h"
#include "nn/attention/exact_attention.h"
#include "nn/attention/patterns/pattern_attention.h"
#include "nn/attention/observed_head.h"

namespace attn {
namespace {

PackedLinear packed_side_by_side(const std::vector<Linear>& layers, PreparationOptions how) {
  std::vector<Parameter> weights;
  std::vector<Parameter> biases;
  for (const Linear& layer : layers) {
    weights.push_back(layer.weight);
    if (layer.bias.data != nullptr) biases.push_back(layer.bias);
  }
  return {weights, biases, how};
}

}  // namespace

void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
            AttentionObserver* observer) {
  attention_for(shape).attend(shape, input, output, observer);
}

void PatternAttention::attend(const AttentionShape& shape, const AttentionInput& input,
                             MatrixRef output, AttentionObserver* observer) const {
  attend_exactly(shape, input, output, nullptr);
  if (observer != nullptr) observe_heads(shape, input, output, *observer);
}

void MultiHeadAttention::prepare_self(PreparationOptions how) {
  const Linear& keys = key.weight.exists() ? key : query;
  qkv_projection = packed_side_by_side({query, keys, value}, how);
  output_projection = output.prepare(how);
}

void MultiHeadAttention::prepare_key_value(PreparationOptions how) {
  kv_projection = packed_side_by_side({key, value}, how);
}

void MultiHeadAttention::prepare_global(PreparationOptions how) {
  query_projection = query.prepare(how);
  prepare_key_value(how);
}

void MultiHeadAttention::prepare_cross(PreparationOptions how) {
  query_projection = query.prepare(how);
  output_projection = output.prepare(how);
}

}  // namespace attn
