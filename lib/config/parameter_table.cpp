#include "config/parameter_table.h"

#include "config/family.h"

namespace attn {
namespace {

/// Writes down one block.
template <typename Size>
struct BlockWriter {
  const ModelSizes<Size>& sizes;
  ParameterBlock<Size> block;

  void add(const ParameterEntry<Size>& entry) { block.entries.push_back(entry); }

  void linear(const std::string& name, Part part, Size in, Size out, int side_by_side = 1) {
    projection(name, part, in, out, side_by_side);
    add({name + ".bias", {out}, part, ParameterRole::bias, ""});
  }

  void projection(const std::string& name, Part part, Size in, Size out, int side_by_side) {
    add({name + ".weight", {out, in}, part, ParameterRole::weight, "", false, true, side_by_side});
  }

  /// A projection of attention, in some families without a bias.
  void attention(const std::string& name, Part part, int side_by_side = 1) {
    const Size d = sizes.d_model;
    if (sizes.attention_biases) return linear(name, part, d, d, side_by_side);
    projection(name, part, d, d, side_by_side);
  }

  void norm(const std::string& name, Part part) {
    add({name + ".weight", {sizes.d_model}, part, ParameterRole::norm_weight, ""});
    add({name + ".bias", {sizes.d_model}, part, ParameterRole::norm_bias, ""});
  }

  void self_attention() {
    AttentionNames names;
    if (block.encoder && sizes.family != nullptr) names = sizes.family->encoder_attention;
    const AttentionSizes<Size>& kind = block.encoder ? sizes.encoder_kind : sizes.decoder_kind;
    const int side_by_side = kind.shared_query_key ? 2 : 3;
    attention(std::string(names.query), Part::self_query, side_by_side);
    if (!kind.shared_query_key) attention(std::string(names.key), Part::self_key, 3);
    attention(std::string(names.value), Part::self_value, side_by_side);
    if (block.encoder && sizes.family != nullptr && sizes.family->global_projections) {
      attention(std::string(names.query) + "_global", Part::global_query, 3);
      attention(std::string(names.key) + "_global", Part::global_key, 3);
      attention(std::string(names.value) + "_global", Part::global_value, 3);
    }
    attention(std::string(names.output), Part::self_output);
    extras(kind);
    norm("self_attn_layer_norm", Part::self_norm);
    if (block.encoder && sizes.family != nullptr && sizes.family->own_global_tokens) {
      norm("global_self_attn_layer_norm", Part::global_norm);
    }
  }

  /// What kinds of attention have besides, where they have it.
  void extras(const AttentionSizes<Size>& kind) {
    const auto matrix = [&](const char* name, Part part, ParameterRole role, Size rows,
                            Size columns) {
      if (columns == Size{0}) return;
      const bool drawn = role != ParameterRole::low_rank;
      add({name, {rows, columns}, part, role, "", drawn});
    };
    const Size places = block.encoder ? sizes.positions : sizes.decoder_positions;
    using R = ParameterRole;
    matrix("self_attn.proj_k", Part::self_key_projection, R::low_rank, places, kind.rank);
    matrix("self_attn.proj_v", Part::self_value_projection, R::low_rank, places, kind.rank);
    matrix("self_attn.projection_matrix", Part::self_features, R::features, kind.features,
           kind.head_dim);
    matrix("self_attn.rotations", Part::self_rotations, R::rotations, kind.rotation_rows,
           kind.rotations);
  }

  void cross_attention() {
    attention("encoder_attn.q_proj", Part::cross_query, 3);
    attention("encoder_attn.k_proj", Part::cross_key, 3);
    attention("encoder_attn.v_proj", Part::cross_value, 3);
    attention("encoder_attn.out_proj", Part::cross_output);
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
    Size rows = block.encoder ? sizes.positions : sizes.decoder_positions;
    if (sizes.family != nullptr) rows += static_cast<Size>(sizes.family->first_position);
    add({"embed_positions.weight",
         {rows, sizes.d_model},
         Part::positions,
         ParameterRole::positions,
         "",
         sizes.static_positions,
         !sizes.static_positions});
    if (block.encoder && sizes.global_tokens > Size{0}) {
      add({"embed_global.weight",
           {sizes.global_tokens, sizes.d_model},
           Part::global_tokens,
           ParameterRole::global_tokens,
           ""});
    }
    if (sizes.embedding_norms) norm("layernorm_embedding", Part::embedding_norm);
  }
};

template <typename Size>
class TableWriter {
 public:
  explicit TableWriter(const ModelSizes<Size>& sizes)
      : sizes_(sizes), base_(sizes.family == nullptr ? "model." : sizes.family->base) {}

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
    auto encoder = block(BlockKind::embeddings, true, base_);
    auto decoder = block(BlockKind::embeddings, false, base_);
    if (sizes_.share) {
      target_embedding_ = base_ + "shared.weight";
      encoder.embedding("shared", sizes_.vocab);
      encoder.embedding("encoder.embed_tokens", sizes_.vocab, target_embedding_);
      decoder.embedding("decoder.embed_tokens", sizes_.vocab, target_embedding_);
    } else {
      target_embedding_ = base_ + "decoder.embed_tokens.weight";
      encoder.embedding("encoder.embed_tokens", sizes_.vocab);
      decoder.embedding("decoder.embed_tokens", sizes_.decoder_vocab);
    }
    keep(encoder);
    keep(decoder);
  }

  void stack(bool encoder) {
    const std::string prefix = base_ + (encoder ? "encoder." : "decoder.");
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
    end.norm(std::string(sizes_.family == nullptr ? "layer_norm" : sizes_.family->final_norm),
             Part::final_norm);
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
             true,
             sizes_.family == nullptr || sizes_.family->logits_bias});
    keep(end);
  }

  const ModelSizes<Size>& sizes_;
  std::string base_;  ///< of the names: "model."
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
