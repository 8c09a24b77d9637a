#include "config/parameter_table.h"

namespace attn {
namespace {

/// Writes down one block.
template <typename Size>
struct BlockWriter {
  const ModelSizes<Size>& sizes;
  ParameterBlock<Size> block;

  void add(const ParameterEntry<Size>& entry) { block.entries.push_back(entry); }

  void linear(const std::string& name, Part part, Size in, Size out, int side_by_side = 1) {
    add({name + ".weight", {out, in}, part, ParameterRole::weight, "", false, side_by_side});
    add({name + ".bias", {out}, part, ParameterRole::bias, ""});
  }

  void norm(const std::string& name, Part part) {
    add({name + ".weight", {sizes.d_model}, part, ParameterRole::norm_weight, ""});
    add({name + ".bias", {sizes.d_model}, part, ParameterRole::norm_bias, ""});
  }

  void self_attention() {
    const Size d = sizes.d_model;
    linear("self_attn.q_proj", Part::self_query, d, d, 3);
    linear("self_attn.k_proj", Part::self_key, d, d, 3);
    linear("self_attn.v_proj", Part::self_value, d, d, 3);
    linear("self_attn.out_proj", Part::self_output, d, d);
    norm("self_attn_layer_norm", Part::self_norm);
  }

  void cross_attention() {
    const Size d = sizes.d_model;
    linear("encoder_attn.q_proj", Part::cross_query, d, d, 3);
    linear("encoder_attn.k_proj", Part::cross_key, d, d, 3);
    linear("encoder_attn.v_proj", Part::cross_value, d, d, 3);
    linear("encoder_attn.out_proj", Part::cross_output, d, d);
    norm("encoder_attn_layer_norm", Part::cross_norm);
  }

  void feed_forward(Size width) {
    linear("fc1", Part::feed_forward_first, sizes.d_model, width);
    linear("fc2", Part::feed_forward_second, width, sizes.d_model);
    norm("final_layer_norm", Part::feed_forward_norm);
  }

  void embedding(const std::string& name, Size rows, const std::string& tied_to = "") {
    add({name + ".weight",
         {rows, sizes.d_model},
         Part::embedding,
         ParameterRole::embedding,
         tied_to});
  }

  void positions() {
    add({"embed_positions.weight",
         {sizes.positions, sizes.d_model},
         Part::positions,
         ParameterRole::positions,
         "",
         sizes.static_positions});
    if (sizes.embedding_norms) norm("layernorm_embedding", Part::embedding_norm);
  }
};

template <typename Size>
class TableWriter {
 public:
  explicit TableWriter(const ModelSizes<Size>& sizes) : sizes_(sizes) {}

  std::vector<ParameterBlock<Size>> write() {
    embeddings();
    stack(true);
    stack(false);
    output();
    return std::move(blocks_);
  }

 private:
  BlockWriter<Size> block(BlockKind kind, bool encoder, const std::string& prefix) const {
    return {sizes_, {kind, encoder, prefix, Size{1}, {}}};
  }
  void keep(BlockWriter<Size>& writer) { blocks_.push_back(std::move(writer.block)); }

  void embeddings() {
    auto encoder = block(BlockKind::embeddings, true, "model.");
    auto decoder = block(BlockKind::embeddings, false, "model.");
    if (sizes_.share) {
      target_embedding_ = "model.shared.weight";
      encoder.embedding("shared", sizes_.vocab);
      encoder.embedding("encoder.embed_tokens", sizes_.vocab, target_embedding_);
      decoder.embedding("decoder.embed_tokens", sizes_.vocab, target_embedding_);
    } else {
      target_embedding_ = "model.decoder.embed_tokens.weight";
      encoder.embedding("encoder.embed_tokens", sizes_.vocab);
      decoder.embedding("decoder.embed_tokens", sizes_.decoder_vocab);
    }
    keep(encoder);
    keep(decoder);
  }

  void stack(bool encoder) {
    const std::string prefix = encoder ? "model.encoder." : "model.decoder.";
    auto start = block(BlockKind::embeddings, encoder, prefix);
    start.positions();
    keep(start);
    auto layer = block(encoder ? BlockKind::encoder_layers : BlockKind::decoder_layers, encoder,
                       prefix + "layers.");
    layer.block.repeat = encoder ? sizes_.encoder_layers : sizes_.decoder_layers;
    layer.self_attention();
    if (!encoder) layer.cross_attention();
    layer.feed_forward(encoder ? sizes_.encoder_ffn : sizes_.decoder_ffn);
    keep(layer);
    if (!sizes_.final_norms) return;
    auto end = block(BlockKind::final_norms, encoder, prefix);
    end.norm("layer_norm", Part::final_norm);
    keep(end);
  }

  void output() {
    auto end = block(BlockKind::output, false, "");
    const Size vocabulary = sizes_.decoder_vocab;
    end.add({"lm_head.weight",
             {vocabulary, sizes_.d_model},
             Part::output,
             ParameterRole::embedding,
             sizes_.tie ? target_embedding_ : ""});
    end.add({"final_logits_bias",
             {Size{1}, vocabulary},
             Part::logits_bias,
             ParameterRole::logits_bias,
             "",
             true});
    keep(end);
  }

  const ModelSizes<Size>& sizes_;
  std::string target_embedding_;
  std::vector<ParameterBlock<Size>> blocks_;
};

}  // namespace

template <typename Size>
std::vector<ParameterBlock<Size>> parameter_table(const ModelSizes<Size>& sizes) {
  return TableWriter<Size>(sizes).write();
}

template <typename Size>
Size parameters_of(const ModelSizes<Size>& sizes) {
  Size total{0};
  for (const ParameterBlock<Size>& block : parameter_table(sizes)) {
    Size one{0};
    for (const ParameterEntry<Size>& entry : block.entries) {
      if (entry.buffer || !entry.tied_to.empty()) continue;
      Size elements{1};
      for (const Size n : entry.shape) elements *= n;
      one += elements;
    }
    total += block.repeat * one;
  }
  return total;
}

template std::vector<ParameterBlock<double>> parameter_table(const ModelSizes<double>&);
template std::vector<ParameterBlock<std::uint64_t>> parameter_table(
    const ModelSizes<std::uint64_t>&);
template double parameters_of(const ModelSizes<double>&);
template std::uint64_t parameters_of(const ModelSizes<std::uint64_t>&);

}  // namespace attn
