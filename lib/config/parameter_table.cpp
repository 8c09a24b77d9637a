#include "config/parameter_table.h"

#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/error.h"
#include "config/family.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

/// Lists the parameters of one block.
struct BlockWriter {
  const ModelSizes& sizes;
  const ModelFamily& family;
  ParameterBlock block;

  void add(const ParameterEntry& entry) { block.entries.push_back(entry); }

  void linear(const std::string& name, ParameterPart part, std::uint64_t in, std::uint64_t out,
              int fused_projections = 1) {
    projection(name, part, in, out, fused_projections);
    add({name + ".bias", {out}, part, ParameterRole::bias, ""});
  }

  void projection(const std::string& name, ParameterPart part, std::uint64_t in, std::uint64_t out,
                  int fused_projections) {
    add({name + ".weight",
         {out, in},
         part,
         ParameterRole::weight,
         "",
         false,
         true,
         fused_projections});
  }

  /// Adds a projection of attention, which has no bias in some families.
  void attention_projection(std::string_view name, ParameterPart part, int fused_projections = 1) {
    map(name, part, sizes.attention_biases, {sizes.d_model, inner()}, fused_projections);
  }
  /// Adds the projection of the keys or the values, which heads may share.
  void key_value_projection(std::string_view name, ParameterPart part, int fused_projections) {
    map(name, part, sizes.attention_biases, {sizes.d_model, columns_of(key_heads())},
        fused_projections);
  }
  /// Adds the projection after the heads.
  void output_projection(std::string_view name, ParameterPart part) {
    map(name, part, sizes.attention_biases, {inner(), sizes.d_model});
  }

  void map(std::string_view name, ParameterPart part, bool bias,
           std::array<std::uint64_t, 2> in_out, int fused_projections = 1) {
    const auto [in, out] = in_out;
    if (bias) return linear(std::string(name), part, in, out, fused_projections);
    projection(std::string(name), part, in, out, fused_projections);
  }

  std::uint64_t heads() const { return block.encoder ? sizes.encoder_heads : sizes.decoder_heads; }
  std::uint64_t key_heads() const {
    return sizes.key_value_heads > 0 ? sizes.key_value_heads : heads();
  }
  /// Returns the number of columns of all heads.
  std::uint64_t inner() const { return columns_of(heads()); }
  /// Returns the number of columns of `count` heads; sizes may be unchecked.
  std::uint64_t columns_of(std::uint64_t count) const {
    if (sizes.head_dim == 0 && count == heads()) return sizes.d_model;
    const std::uint64_t head_dim =
        sizes.head_dim > 0 ? sizes.head_dim : sizes.d_model / std::max<std::uint64_t>(heads(), 1);
    return checked_multiply(head_dim, count).value_or(~0ULL);
  }

  const LayerNames& names() const { return block.encoder ? family.encoder : family.decoder; }

  void norm(std::string_view name, ParameterPart part) {
    const std::string norm(name);
    add({norm + ".weight", {sizes.d_model}, part, ParameterRole::norm_weight, ""});
    if (!sizes.norm_biases) return;
    add({norm + ".bias", {sizes.d_model}, part, ParameterRole::norm_bias, ""});
  }

  /// Adds the relative position bias of the stack or of a layer.
  void relative_bias(const std::string& name, ParameterPart part) {
    add({name + ".weight",
         {to_size(sizes.relative.buckets), heads()},
         part,
         ParameterRole::relative_bias,
         ""});
  }

  void self_attention() {
    const AttentionNames& self = names().self;
    const GlobalTokenType globals = block.encoder ? family.globals : GlobalTokenType::plain;
    const SparsePattern& kind = sparse_pattern(pattern());
    const int fused_projections = kind.shares_query_and_key() ? 2 : 3;
    attention_projection(self.query, ParameterPart::self_query, fused_projections);
    if (!kind.shares_query_and_key()) key_value_projection(self.key, ParameterPart::self_key, 3);
    key_value_projection(self.value, ParameterPart::self_value, fused_projections);
    if (globals == GlobalTokenType::projected) {
      attention_projection(std::string(self.query) + "_global", ParameterPart::global_query, 3);
      attention_projection(std::string(self.key) + "_global", ParameterPart::global_key, 3);
      attention_projection(std::string(self.value) + "_global", ParameterPart::global_value, 3);
    }
    output_projection(self.output, ParameterPart::self_output);
    extras(kind);
    if (sizes.relative.per_layer) {
      relative_bias(std::string(family.relative_bias), ParameterPart::self_relative_bias);
    }
    norm(names().self_norm, ParameterPart::self_norm);
    if (globals == GlobalTokenType::learned) {
      norm("global_self_attn_layer_norm", ParameterPart::global_norm);
    }
  }

  const AttentionPattern& pattern() const {
    return block.encoder ? sizes.encoder_attention : sizes.decoder_attention;
  }

  /// Adds the further parameters of a sparse pattern.
  void extras(const SparsePattern& kind) {
    const SelfAttentionDims stack{
        pattern(), block.encoder ? sizes.positions : sizes.decoder_positions, inner(), heads()};
    for (const ExtraParameter& extra : kind.extra_parameters(stack)) {
      const bool drawn = extra.role != ParameterRole::low_rank;
      add({std::string(extra.name),
           {extra.rows, extra.columns},
           extra.part,
           extra.role,
           "",
           drawn});
    }
  }

  void cross_attention() {
    const AttentionNames& cross = names().cross;
    attention_projection(cross.query, ParameterPart::cross_query, 3);
    key_value_projection(cross.key, ParameterPart::cross_key, 3);
    key_value_projection(cross.value, ParameterPart::cross_value, 3);
    output_projection(cross.output, ParameterPart::cross_output);
    norm(names().cross_norm, ParameterPart::cross_norm);
  }

  void feed_forward(std::uint64_t width) {
    const bool biases = sizes.feed_forward_biases;
    const std::string first(names().first);
    map(first + (sizes.gated ? "_0" : ""), ParameterPart::feed_forward_first, biases,
        {sizes.d_model, width});
    if (sizes.gated) {
      map(first + "_1", ParameterPart::feed_forward_gate, biases, {sizes.d_model, width});
    }
    map(names().second, ParameterPart::feed_forward_second, biases, {width, sizes.d_model});
    norm(names().feed_forward_norm, ParameterPart::feed_forward_norm);
  }

  void embedding(const std::string& name, std::uint64_t rows, const std::string& tied_to = "") {
    add({name + ".weight",
         {rows, sizes.d_model},
         ParameterPart::embedding,
         ParameterRole::embedding,
         tied_to});
  }

  void positions() {
    const std::uint64_t places = block.encoder ? sizes.positions : sizes.decoder_positions;
    const std::uint64_t rows = places + to_size(family.position_offset);
    if (sizes.absolute_positions) {
      add({"embed_positions.weight",
           {rows, sizes.d_model},
           ParameterPart::positions,
           ParameterRole::positions,
           "",
           sizes.static_positions,
           !sizes.static_positions});
    }
    if (sizes.relative.enabled() && !sizes.relative.per_layer) {
      relative_bias(fmt::format("{}.0.{}", family.layers_name, family.relative_bias),
                    ParameterPart::relative_bias);
    }
    if (block.encoder && sizes.global_tokens > 0) {
      add({"embed_global.weight",
           {sizes.global_tokens, sizes.d_model},
           ParameterPart::global_tokens,
           ParameterRole::global_tokens,
           ""});
    }
    if (sizes.embedding_norms) norm("layernorm_embedding", ParameterPart::embedding_norm);
  }
};

class TableWriter {
 public:
  explicit TableWriter(const ModelSizes& sizes)
      : sizes_(sizes), family_(*sizes.family), base_(family_.tensor_prefix) {}

  std::vector<ParameterBlock> write() {
    embeddings();
    stack(true);
    stack(false);
    output();
    return std::move(blocks_);
  }

 private:
  BlockWriter block(ParameterBlockType kind, bool encoder, const std::string& prefix) const {
    return {sizes_, family_, {kind, encoder, prefix, 1, {}}};
  }
  void keep(BlockWriter& writer) { blocks_.push_back(std::move(writer.block)); }

  void embeddings() {
    auto encoder = block(ParameterBlockType::embeddings, true, base_);
    auto decoder = block(ParameterBlockType::embeddings, false, base_);
    if (sizes_.share_embeddings) {
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
    auto start = block(ParameterBlockType::embeddings, encoder, prefix);
    start.positions();
    keep(start);
    auto layer =
        block(encoder ? ParameterBlockType::encoder_layers : ParameterBlockType::decoder_layers,
              encoder, fmt::format("{}{}.", prefix, family_.layers_name));
    layer.block.repeat = encoder ? sizes_.encoder_layers : sizes_.decoder_layers;
    layer.self_attention();
    if (!encoder) layer.cross_attention();
    layer.feed_forward(encoder ? sizes_.encoder_ffn : sizes_.decoder_ffn);
    keep(layer);
    if (!sizes_.final_norms) return;
    auto end = block(ParameterBlockType::final_norms, encoder, prefix);
    end.norm(std::string(family_.final_norm), ParameterPart::final_norm);
    keep(end);
  }

  void output() {
    auto end = block(ParameterBlockType::output, false, "");
    const std::uint64_t vocabulary = sizes_.decoder_vocab;
    end.add({"lm_head.weight",
             {vocabulary, sizes_.d_model},
             ParameterPart::output,
             ParameterRole::embedding,
             sizes_.tie_word_embeddings ? target_embedding_ : ""});
    end.add({"final_logits_bias",
             {1, vocabulary},
             ParameterPart::logits_bias,
             ParameterRole::logits_bias,
             "",
             true,
             family_.logits_bias});
    keep(end);
  }

  const ModelSizes& sizes_;
  const ModelFamily& family_;
  std::string base_;  ///< prefix of the names: "model."
  std::string target_embedding_;
  std::vector<ParameterBlock> blocks_;
};

}  // namespace

std::vector<ParameterBlock> parameter_table(const ModelSizes& sizes) {
  return TableWriter(sizes).write();
}

std::optional<std::uint64_t> count_parameters(const ModelSizes& sizes) {
  std::optional<std::uint64_t> total = 0;
  for (const ParameterBlock& block : parameter_table(sizes)) {
    for (const ParameterEntry& entry : block.entries) {
      if (entry.buffer || !entry.tied_to.empty()) continue;
      std::optional<std::uint64_t> elements = block.repeat;
      for (const std::uint64_t n : entry.shape) {
        elements = checked_multiply(*elements, n);
        if (!elements) return std::nullopt;
      }
      total = checked_add(*total, *elements);
      if (!total) return std::nullopt;
    }
  }
  return total;
}

namespace {

std::uint64_t from_zero(int n) {
  return to_size(std::max(n, 0));
}

}  // namespace

ModelSizes model_sizes(const ModelConfig& config) {
  ModelSizes sizes;
  for (const SizeKey& key : size_keys()) sizes.*key.size = from_zero(config.*key.member);
  sizes.decoder_positions = from_zero(config.decoder_positions());
  sizes.global_tokens = from_zero(config.global_tokens);
  sizes.share_embeddings = config.share_embeddings;
  sizes.tie_word_embeddings = config.tie_word_embeddings;
  sizes.static_positions = config.static_positions;
  sizes.final_norms = config.add_final_layer_norm;
  sizes.embedding_norms = config.normalize_embedding;
  sizes.attention_biases = config.attention_biases;
  sizes.feed_forward_biases = config.feed_forward_biases;
  sizes.absolute_positions = config.absolute_positions;
  sizes.norm_biases = config.norm == NormType::layer;
  sizes.gated = config.gated;
  sizes.head_dim = from_zero(config.head_dim);
  sizes.key_value_heads = from_zero(config.key_value_heads);
  sizes.relative = config.relative;
  sizes.encoder_attention = config.encoder_attention;
  sizes.decoder_attention = config.decoder_attention;
  sizes.family = &family_of(config);
  return sizes;
}

std::optional<std::uint64_t> count_parameters(const ModelConfig& config) {
  return count_parameters(model_sizes(config));
}

}  // namespace attn
