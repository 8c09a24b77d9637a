#include "config/parameter_table.h"

#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/checked.h"
#include "base/error.h"
#include "config/family.h"
#include "config/kinds/pattern_kind.h"

namespace attn {
namespace {

/// Writes down one block.
struct BlockWriter {
  const ModelSizes& sizes;
  const Family& family;
  ParameterBlock block;

  void add(const ParameterEntry& entry) { block.entries.push_back(entry); }

  void linear(const std::string& name, Part part, std::uint64_t in, std::uint64_t out,
              int side_by_side = 1) {
    projection(name, part, in, out, side_by_side);
    add({name + ".bias", {out}, part, ParameterRole::bias, ""});
  }

  void projection(const std::string& name, Part part, std::uint64_t in, std::uint64_t out,
                  int side_by_side) {
    add({name + ".weight", {out, in}, part, ParameterRole::weight, "", false, true, side_by_side});
  }

  /// A projection of attention, in some families without a bias.
  void attention(std::string_view name, Part part, int side_by_side = 1) {
    map(name, part, sizes.attention_biases, {sizes.d_model, inner()}, side_by_side);
  }
  /// One of keys or values, which heads may share.
  void memory(std::string_view name, Part part, int side_by_side) {
    map(name, part, sizes.attention_biases, {sizes.d_model, columns_of(key_heads())}, side_by_side);
  }
  /// The projection behind the heads.
  void mixing(std::string_view name, Part part) {
    map(name, part, sizes.attention_biases, {inner(), sizes.d_model});
  }

  void map(std::string_view name, Part part, bool bias, std::array<std::uint64_t, 2> in_out,
           int side_by_side = 1) {
    const auto [in, out] = in_out;
    if (bias) return linear(std::string(name), part, in, out, side_by_side);
    projection(std::string(name), part, in, out, side_by_side);
  }

  std::uint64_t heads() const { return block.encoder ? sizes.encoder_heads : sizes.decoder_heads; }
  std::uint64_t key_heads() const {
    return sizes.key_value_heads > 0 ? sizes.key_value_heads : heads();
  }
  /// Columns of all heads.
  std::uint64_t inner() const { return columns_of(heads()); }
  /// Columns of so many heads; sizes may be unchecked.
  std::uint64_t columns_of(std::uint64_t count) const {
    if (sizes.head_dim == 0 && count == heads()) return sizes.d_model;
    const std::uint64_t head_dim =
        sizes.head_dim > 0 ? sizes.head_dim : sizes.d_model / std::max<std::uint64_t>(heads(), 1);
    return checked_multiply(head_dim, count).value_or(~0ULL);
  }

  const LayerNames& names() const { return block.encoder ? family.encoder : family.decoder; }

  void norm(std::string_view name, Part part) {
    const std::string norm(name);
    add({norm + ".weight", {sizes.d_model}, part, ParameterRole::norm_weight, ""});
    if (!sizes.norm_biases) return;
    add({norm + ".bias", {sizes.d_model}, part, ParameterRole::norm_bias, ""});
  }

  /// Biases of relative positions, of the stack or of each layer.
  void distances(const std::string& name, Part part) {
    add({name + ".weight",
         {to_size(sizes.relative.buckets), heads()},
         part,
         ParameterRole::distances,
         ""});
  }

  void self_attention() {
    const AttentionNames& self = names().self;
    const GlobalTokens globals = block.encoder ? family.globals : GlobalTokens::plain;
    const PatternKind& kind = kind_of(pattern());
    const int side_by_side = kind.keys_are_queries() ? 2 : 3;
    attention(self.query, Part::self_query, side_by_side);
    if (!kind.keys_are_queries()) memory(self.key, Part::self_key, 3);
    memory(self.value, Part::self_value, side_by_side);
    if (globals == GlobalTokens::projected) {
      attention(std::string(self.query) + "_global", Part::global_query, 3);
      attention(std::string(self.key) + "_global", Part::global_key, 3);
      attention(std::string(self.value) + "_global", Part::global_value, 3);
    }
    mixing(self.output, Part::self_output);
    extras(kind);
    if (sizes.relative.in_every_layer) {
      distances(std::string(family.relative_bias), Part::self_distances);
    }
    norm(names().self_norm, Part::self_norm);
    if (globals == GlobalTokens::learned) {
      norm("global_self_attn_layer_norm", Part::global_norm);
    }
  }

  const AttentionPattern& pattern() const {
    return block.encoder ? sizes.encoder_attention : sizes.decoder_attention;
  }

  /// What the kind of attention has besides.
  void extras(const PatternKind& kind) {
    const KindStack stack{pattern(), block.encoder ? sizes.positions : sizes.decoder_positions,
                          inner(), heads()};
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
    attention(cross.query, Part::cross_query, 3);
    memory(cross.key, Part::cross_key, 3);
    memory(cross.value, Part::cross_value, 3);
    mixing(cross.output, Part::cross_output);
    norm(names().cross_norm, Part::cross_norm);
  }

  void feed_forward(std::uint64_t width) {
    const bool biases = sizes.feed_forward_biases;
    const std::string first(names().first);
    map(first + (sizes.gated ? "_0" : ""), Part::feed_forward_first, biases,
        {sizes.d_model, width});
    if (sizes.gated) {
      map(first + "_1", Part::feed_forward_gate, biases, {sizes.d_model, width});
    }
    map(names().second, Part::feed_forward_second, biases, {width, sizes.d_model});
    norm(names().feed_forward_norm, Part::feed_forward_norm);
  }

  void embedding(const std::string& name, std::uint64_t rows, const std::string& tied_to = "") {
    add({name + ".weight",
         {rows, sizes.d_model},
         Part::embedding,
         ParameterRole::embedding,
         tied_to});
  }

  void positions() {
    const std::uint64_t places = block.encoder ? sizes.positions : sizes.decoder_positions;
    const std::uint64_t rows = places + to_size(family.first_position);
    if (sizes.absolute_positions) {
      add({"embed_positions.weight",
           {rows, sizes.d_model},
           Part::positions,
           ParameterRole::positions,
           "",
           sizes.static_positions,
           !sizes.static_positions});
    }
    if (sizes.relative.exist() && !sizes.relative.in_every_layer) {
      distances(fmt::format("{}.0.{}", family.layers_name, family.relative_bias), Part::distances);
    }
    if (block.encoder && sizes.global_tokens > 0) {
      add({"embed_global.weight",
           {sizes.global_tokens, sizes.d_model},
           Part::global_tokens,
           ParameterRole::global_tokens,
           ""});
    }
    if (sizes.embedding_norms) norm("layernorm_embedding", Part::embedding_norm);
  }
};

class TableWriter {
 public:
  explicit TableWriter(const ModelSizes& sizes)
      : sizes_(sizes), family_(*sizes.family), base_(family_.base) {}

  std::vector<ParameterBlock> write() {
    embeddings();
    stack(true);
    stack(false);
    output();
    return std::move(blocks_);
  }

 private:
  BlockWriter block(BlockKind kind, bool encoder, const std::string& prefix) const {
    return {sizes_, family_, {kind, encoder, prefix, 1, {}}};
  }
  void keep(BlockWriter& writer) { blocks_.push_back(std::move(writer.block)); }

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
                       fmt::format("{}{}.", prefix, family_.layers_name));
    layer.block.repeat = encoder ? sizes_.encoder_layers : sizes_.decoder_layers;
    layer.self_attention();
    if (!encoder) layer.cross_attention();
    layer.feed_forward(encoder ? sizes_.encoder_ffn : sizes_.decoder_ffn);
    keep(layer);
    if (!sizes_.final_norms) return;
    auto end = block(BlockKind::final_norms, encoder, prefix);
    end.norm(std::string(family_.final_norm), Part::final_norm);
    keep(end);
  }

  void output() {
    auto end = block(BlockKind::output, false, "");
    const std::uint64_t vocabulary = sizes_.decoder_vocab;
    end.add({"lm_head.weight",
             {vocabulary, sizes_.d_model},
             Part::output,
             ParameterRole::embedding,
             sizes_.tie ? target_embedding_ : ""});
    end.add({"final_logits_bias",
             {1, vocabulary},
             Part::logits_bias,
             ParameterRole::logits_bias,
             "",
             true,
             family_.logits_bias});
    keep(end);
  }

  const ModelSizes& sizes_;
  const Family& family_;
  std::string base_;  ///< of the names: "model."
  std::string target_embedding_;
  std::vector<ParameterBlock> blocks_;
};

}  // namespace

std::vector<ParameterBlock> parameter_table(const ModelSizes& sizes) {
  return TableWriter(sizes).write();
}

std::optional<std::uint64_t> parameters_of(const ModelSizes& sizes) {
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

}  // namespace attn
