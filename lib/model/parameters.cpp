#include "model/parameters.h"

#include <stdexcept>
#include <type_traits>

#include "base/at.h"

namespace attn {
namespace {

/// Returns the weight or bias of a linear layer or a norm.
template <typename Module>
auto& pick(Module& module, const ParameterEntry& entry) {
  const bool bias = entry.role == ParameterRole::bias || entry.role == ParameterRole::norm_bias;
  return bias ? module.bias : module.weight;
}

// Below, `Layer`, `Stack` and `Model` may be const, and so is the result then. Null means that the
// parameter belongs to another part of the layer.

template <typename Attention>
auto* in_self_attention(Attention& attention, const ParameterEntry& entry) {
  switch (entry.part) {
    case ParameterPart::self_query:
      return &pick(attention.query, entry);
    case ParameterPart::self_key:
      return &pick(attention.key, entry);
    case ParameterPart::self_value:
      return &pick(attention.value, entry);
    case ParameterPart::self_output:
      return &pick(attention.output, entry);
    default:
      return extra_parameter(attention.extras, entry.part);
  }
}

template <typename Layer>
auto* in_feed_forward(Layer& layer, const ParameterEntry& entry) {
  switch (entry.part) {
    case ParameterPart::feed_forward_first:
      return &pick(layer.feed_forward.first, entry);
    case ParameterPart::feed_forward_gate:
      return &pick(layer.feed_forward.gate, entry);
    case ParameterPart::feed_forward_second:
      return &pick(layer.feed_forward.second, entry);
    case ParameterPart::feed_forward_norm:
      return &pick(layer.feed_forward_norm, entry);
    default:
      return in_self_attention(layer.self_attention, entry);
  }
}

template <typename Layer>
auto* in_globals(Layer& layer, const ParameterEntry& entry) {
  switch (entry.part) {
    case ParameterPart::global_query:
      return &pick(layer.global_attention.query, entry);
    case ParameterPart::global_key:
      return &pick(layer.global_attention.key, entry);
    case ParameterPart::global_value:
      return &pick(layer.global_attention.value, entry);
    case ParameterPart::global_norm:
      return &pick(layer.global_norm, entry);
    default:
      return in_feed_forward(layer, entry);
  }
}

template <typename Layer>
auto* in_cross_attention(Layer& layer, const ParameterEntry& entry) {
  switch (entry.part) {
    case ParameterPart::cross_query:
      return &pick(layer.cross_attention.query, entry);
    case ParameterPart::cross_key:
      return &pick(layer.cross_attention.key, entry);
    case ParameterPart::cross_value:
      return &pick(layer.cross_attention.value, entry);
    case ParameterPart::cross_output:
      return &pick(layer.cross_attention.output, entry);
    case ParameterPart::cross_norm:
      return &pick(layer.cross_attention_norm, entry);
    default:
      return in_feed_forward(layer, entry);
  }
}

template <typename Layer>
auto& in_layer(Layer& layer, const ParameterEntry& entry) {
  if (entry.part == ParameterPart::self_norm) return pick(layer.self_attention_norm, entry);
  constexpr bool encoder = std::is_same_v<std::remove_const_t<Layer>, EncoderLayer>;
  const auto found = [&] {
    if constexpr (encoder) {
      return in_globals(layer, entry);
    } else {
      return in_cross_attention(layer, entry);
    }
  }();
  if (found == nullptr) throw std::logic_error("no layer keeps " + entry.name);
  return *found;
}

template <typename Stack>
auto& in_stack(Stack& stack, const ParameterEntry& entry) {
  switch (entry.part) {
    case ParameterPart::embedding:
      return stack.embedding;
    case ParameterPart::positions:
      return stack.positions;
    case ParameterPart::relative_bias:
      return stack.relative_bias;
    case ParameterPart::global_tokens:
      return stack.global_tokens;
    case ParameterPart::embedding_norm:
      return pick(stack.embedding_norm, entry);
    case ParameterPart::final_norm:
      return pick(stack.final_norm, entry);
    default:
      throw std::logic_error("no stack keeps " + entry.name);
  }
}

template <typename Model>
auto& in_model(Model& model, const ParameterBlock& block, const ParameterEntry& entry,
               std::uint64_t layer) {
  const auto i = to_size(layer);
  switch (block.kind) {
    case ParameterBlockType::encoder_layers:
      return in_layer(model.encoder_layers[i], entry);
    case ParameterBlockType::decoder_layers:
      return in_layer(model.decoder_layers[i], entry);
    case ParameterBlockType::output:
      return entry.part == ParameterPart::output ? model.output : model.logits_bias;
    case ParameterBlockType::embeddings:
    case ParameterBlockType::final_norms:
      break;
  }
  return in_stack(block.encoder ? model.encoder : model.decoder, entry);
}

ParameterInfo info_of(const ParameterBlock& block, const ParameterEntry& entry,
                      std::uint64_t layer) {
  const bool layers = block.kind == ParameterBlockType::encoder_layers ||
                      block.kind == ParameterBlockType::decoder_layers;
  return {block.prefix + (layers ? std::to_string(layer) + "." : "") + entry.name,
          entry.shape,
          entry.role,
          entry.tied_to,
          entry.buffer,
          entry.saved,
          entry.role == ParameterRole::weight,
          entry.fused_projections};
}

/// Calls visit(block, entry, layer) for every parameter.
template <typename Visit>
void walk(const ModelConfig& config, const Visit& visit) {
  for (const ParameterBlock& block : parameter_table(model_sizes(config))) {
    for (std::uint64_t layer = 0; layer < block.repeat; ++layer) {
      for (const ParameterEntry& entry : block.entries) visit(block, entry, layer);
    }
  }
}

}  // namespace

std::uint64_t ParameterInfo::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t n : shape) count *= n;
  return count;
}

Parameter parameter_at(const ParameterInfo& info, float* data) {
  const Index rows = info.shape.size() == 2 ? to_index(info.shape[0]) : 1;
  const Parameter in_file_order = row_major(data, rows, to_index(info.shape.back()));
  return info.transposed ? in_file_order.transposed() : in_file_order;
}

std::vector<ParameterInfo> list_parameters(const ModelConfig& config) {
  std::vector<ParameterInfo> all;
  walk(config, [&](const ParameterBlock& block, const ParameterEntry& entry, std::uint64_t layer) {
    all.push_back(info_of(block, entry, layer));
  });
  return all;
}

ModelParameters bind_parameters(const ModelConfig& config,
                                const std::function<void(const ParameterInfo&, Parameter&)>& bind) {
  ModelParameters parameters;
  parameters.encoder_layers.resize(to_size(config.encoder_layers));
  parameters.decoder_layers.resize(to_size(config.decoder_layers));
  LayerNorm norm;
  norm.kind = config.norm;
  norm.epsilon = config.norm_epsilon;
  for (StackParameters* stack : {&parameters.encoder, &parameters.decoder}) {
    stack->embedding_norm = stack->final_norm = norm;
  }
  for (EncoderLayer& layer : parameters.encoder_layers) {
    layer.feed_forward.activation = config.activation;
    layer.self_attention_norm = layer.global_norm = layer.feed_forward_norm = norm;
  }
  for (DecoderLayer& layer : parameters.decoder_layers) {
    layer.feed_forward.activation = config.activation;
    layer.self_attention_norm = layer.cross_attention_norm = layer.feed_forward_norm = norm;
  }
  walk(config, [&](const ParameterBlock& block, const ParameterEntry& entry, std::uint64_t layer) {
    bind(info_of(block, entry, layer), in_model(parameters, block, entry, layer));
  });
  return parameters;
}

void visit_parameters(const ModelConfig& config, const ModelParameters& parameters,
                      const std::function<void(const ParameterInfo&, const Parameter&)>& visit) {
  walk(config, [&](const ParameterBlock& block, const ParameterEntry& entry, std::uint64_t layer) {
    visit(info_of(block, entry, layer), in_model(parameters, block, entry, layer));
  });
}

}  // namespace attn
