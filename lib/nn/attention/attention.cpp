#include "nn/attention/attention.h"

#include "nn/attention/attention_head.h"
#include "nn/attention/exact_attention.h"
#include "nn/attention/kinds/attention_method.h"
#include "nn/attention/observed_head.h"

namespace attn {
namespace {

WeightProduct side_by_side_product(const std::vector<Linear>& layers, Preparation how) {
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
  method_of(shape).attend(shape, input, output, observer);
}

void AttentionMethod::attend(const AttentionShape& shape, const AttentionInput& input,
                             MatrixRef output, AttentionObserver* observer) const {
  attend_exactly(shape, input, output, nullptr);
  if (observer != nullptr) show_heads(shape, input, output, *observer);
}

void MultiHeadAttention::prepare_self(Preparation how) {
  const Linear& keys = key.weight.exists() ? key : query;
  query_key_value = side_by_side_product({query, keys, value}, how);
  output_product = output.prepare(how);
}

void MultiHeadAttention::prepare_memory(Preparation how) {
  key_value = side_by_side_product({key, value}, how);
}

void MultiHeadAttention::prepare_global(Preparation how) {
  query_alone = query.prepare(how);
  prepare_memory(how);
}

void MultiHeadAttention::prepare_cross(Preparation how) {
  query_alone = query.prepare(how);
  output_product = output.prepare(how);
}

}  // namespace attn
