#include "model/parameters.h"

namespace attn {
namespace {

using Shape = std::vector<std::uint64_t>;

std::uint64_t u(Index n) {
  return static_cast<std::uint64_t>(n);
}

class Walk {
 public:
  Walk(const ModelConfig& config, const std::function<void(const ParameterInfo&)>& visit)
      : config_(config), visit_(visit) {}

  void run(ModelParameters& p) {
    embeddings(p);
    stack_start("model.encoder.", p.encoder);
    for (std::size_t i = 0; i < p.encoder_layers.size(); ++i) {
      encoder_layer("model.encoder.layers." + std::to_string(i) + ".", p.encoder_layers[i]);
    }
    stack_end("model.encoder.", p.encoder);
    stack_start("model.decoder.", p.decoder);
    for (std::size_t i = 0; i < p.decoder_layers.size(); ++i) {
      decoder_layer("model.decoder.layers." + std::to_string(i) + ".", p.decoder_layers[i]);
    }
    stack_end("model.decoder.", p.decoder);
    const std::uint64_t vocabulary = u(config_.decoder_vocab_size);
    yield({"lm_head.weight",
           {vocabulary, d()},
           &p.output,
           ParameterRole::embedding,
           config_.tie_word_embeddings ? decoder_embedding_ : ""});
    ParameterInfo bias{
        "final_logits_bias", {1, vocabulary}, &p.logits_bias, ParameterRole::logits_bias, ""};
    bias.optional = true;
    yield(bias);
  }

 private:
  std::uint64_t d() const { return u(config_.d_model); }

  void yield(const ParameterInfo& info) { visit_(info); }

  void embeddings(ModelParameters& p) {
    const Shape source{u(config_.vocab_size), d()};
    if (config_.share_embeddings) {
      decoder_embedding_ = "model.shared.weight";
      yield({decoder_embedding_, source, &p.encoder.embedding, ParameterRole::embedding, ""});
      yield({"model.encoder.embed_tokens.weight", source, &p.encoder.embedding,
             ParameterRole::embedding, decoder_embedding_});
      yield({"model.decoder.embed_tokens.weight", source, &p.decoder.embedding,
             ParameterRole::embedding, decoder_embedding_});
      return;
    }
    decoder_embedding_ = "model.decoder.embed_tokens.weight";
    yield({"model.encoder.embed_tokens.weight", source, &p.encoder.embedding,
           ParameterRole::embedding, ""});
    yield({decoder_embedding_,
           {u(config_.decoder_vocab_size), d()},
           &p.decoder.embedding,
           ParameterRole::embedding,
           ""});
  }

  void stack_start(const std::string& prefix, StackEnds& stack) {
    ParameterInfo positions{prefix + "embed_positions.weight",
                            {u(config_.max_positions), d()},
                            &stack.positions,
                            ParameterRole::positions,
                            ""};
    positions.optional = config_.static_positions;
    yield(positions);
    if (config_.normalize_embedding) norm(prefix + "layernorm_embedding.", stack.embedding_norm);
  }

  void stack_end(const std::string& prefix, StackEnds& stack) {
    if (config_.add_final_layer_norm) norm(prefix + "layer_norm.", stack.final_norm);
  }

  void encoder_layer(const std::string& prefix, EncoderLayer& layer) {
    attention(prefix + "self_attn.", layer.self_attention);
    norm(prefix + "self_attn_layer_norm.", layer.self_attention_norm);
    feed_forward(prefix, layer.feed_forward, config_.encoder_ffn_dim);
    norm(prefix + "final_layer_norm.", layer.feed_forward_norm);
  }

  void decoder_layer(const std::string& prefix, DecoderLayer& layer) {
    attention(prefix + "self_attn.", layer.self_attention);
    norm(prefix + "self_attn_layer_norm.", layer.self_attention_norm);
    attention(prefix + "encoder_attn.", layer.cross_attention);
    norm(prefix + "encoder_attn_layer_norm.", layer.cross_attention_norm);
    feed_forward(prefix, layer.feed_forward, config_.decoder_ffn_dim);
    norm(prefix + "final_layer_norm.", layer.feed_forward_norm);
  }

  void attention(const std::string& prefix, MultiHeadAttention& attention) {
    linear(prefix + "q_proj.", attention.query, d(), d(), 3);
    linear(prefix + "k_proj.", attention.key, d(), d(), 3);
    linear(prefix + "v_proj.", attention.value, d(), d(), 3);
    linear(prefix + "out_proj.", attention.output, d(), d());
  }

  void feed_forward(const std::string& prefix, FeedForward& layer, int width) {
    layer.activation = config_.activation;
    linear(prefix + "fc1.", layer.first, d(), u(width));
    linear(prefix + "fc2.", layer.second, u(width), d());
  }

  void linear(const std::string& prefix, Linear& linear, std::uint64_t in, std::uint64_t out,
              int side_by_side = 1) {
    ParameterInfo weight{prefix + "weight", {out, in}, &linear.weight, ParameterRole::weight, ""};
    weight.transposed = true;
    weight.side_by_side = side_by_side;
    yield(weight);
    yield({prefix + "bias", {out}, &linear.bias, ParameterRole::bias, ""});
  }

  void norm(const std::string& prefix, LayerNorm& norm) {
    yield({prefix + "weight", {d()}, &norm.weight, ParameterRole::norm_weight, ""});
    yield({prefix + "bias", {d()}, &norm.bias, ParameterRole::norm_bias, ""});
  }

  const ModelConfig& config_;
  const std::function<void(const ParameterInfo&)>& visit_;
  std::string decoder_embedding_;
};

}  // namespace

void visit_parameters(const ModelConfig& config, ModelParameters& parameters,
                      const std::function<void(const ParameterInfo&)>& visit) {
  parameters.encoder_layers.resize(static_cast<std::size_t>(config.encoder_layers));
  parameters.decoder_layers.resize(static_cast<std::size_t>(config.decoder_layers));
  Walk(config, visit).run(parameters);
}

}  // namespace attn
