// Everything the program knows about one sentence after translating it: plain data without a model.
// Views (terminal, JSON, pictures) read only this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/at.h"
#include "config/attention_site.h"
#include "record/attention_maps.h"
#include "record/head_report.h"
#include "record/word_receipt.h"

namespace attn {

/// One projection of every head for one sentence: [layer][head][row][column], where `columns` is
/// head_dim.
struct HeadVectors {
  int layers = 0;
  int heads = 0;
  int rows = 0;
  int columns = 0;
  std::vector<float> values;  ///< [layers, heads, rows, columns], row-major

  std::span<const float> row(int layer, int head, int row) const {
    const auto width = to_size(columns);
    const auto index = to_size((layer * heads + head) * rows + row);
    return {values.data() + index * width, width};
  }
};

/// The vectors from which one attention site computed its weights: softmax(query · keyᵀ · scale +
/// mask).
struct AttentionVectors {
  float scale = 1;    ///< 1/√head_dim, or 1 if the model does not scale
  HeadVectors query;  ///< one row per query token
  HeadVectors key;    ///< one row per key token, or per mixture (AttentionMaps::has_projected_keys)
  HeadVectors value;  ///< same rows as `key`
  /// Relative position bias (T5): what a head adds to a score, one row of 2S − 1 values indexed by
  /// key − query + S − 1; empty if the model has none.
  HeadVectors relative_bias = {};
};

/// An extension of a hypothesis that a beam search considered.
struct SearchNode {
  int parent = -1;  ///< index of the node it extends; −1 for the start symbol
  int step = 0;     ///< number of tokens before it
  int id = 0;
  std::string token;
  float log_prob = 0;  ///< of this token given its prefix
  float sum = 0;       ///< sum of log_prob over the tokens so far
  float score = 0;     ///< sum / length^length_penalty, by which finished hypotheses are ranked
  bool kept = false;   ///< continues in the next step
  bool ended = false;  ///< a finished hypothesis
  /// The attention of the step that produced it: [layer][head][step + 1] and [layer][head][source].
  std::vector<float> decoder_self;
  std::vector<float> cross;
};

/// The nodes that a search considered, in order of the steps; parents come before their children.
struct SearchTree {
  int beams = 1;
  float length_penalty = 1;
  std::vector<SearchNode> nodes;
};

/// A vector per token at one point of the residual stream of a stack, as computed by the forward
/// pass.
struct ResidualStreamState {
  /// "token" (its embedding row · √D), "position", "embedded"; in a block "normed" (the block's
  /// input in a pre-norm model), "hidden" (inside the feed-forward), "added" (the block's output
  /// before the residual), "sum" and "output" (the norm of the sum); "stack_output" (the norm after
  /// all layers).
  std::string stage;
  std::string
      block;  ///< "encoder_self", "decoder_self", "cross", "feed_forward"; empty outside of blocks
  int layer = -1;             ///< −1 outside of all layers
  int columns = 0;            ///< D, or F inside the feed-forward
  std::vector<float> values;  ///< [tokens, columns]
};

/// The likeliest tokens of each step, best first, `count` of them per step.
struct Alternatives {
  int count = 0;
  std::vector<int> ids;             ///< [L, count]
  std::vector<std::string> tokens;  ///< [L, count]
  std::vector<float> log_probs;     ///< [L, count] natural log-softmax, like log_probs
  std::vector<float> logits;        ///< [L, count] input of softmax, if requested
  std::vector<int> ranks;  ///< [L] rank of each produced token among all tokens; 0 is the likeliest
};

/// The decoding that gave the translations of a record.
struct Decoding {
  bool given = false;  ///< a given text was scored, without a search
  int beams = 1;
  float length_penalty = 1;
};

/// Tokens and their ids, in order; tokens[i] is the text of ids[i] ("▁The", "</s>").
struct TokenSequence {
  std::vector<std::string> tokens;
  std::vector<int> ids;
};

/// One translation with its maps. Row t of the decoder's maps is the step that produced token t.
struct HypothesisRecord {
  std::string text;
  bool teacher_forced = false;   ///< for experiments: found before the change, not under it
  TokenSequence produced;        ///< L tokens, normally ending in "</s>"
  float score = 0;               ///< the search's score, which `generate` prints
  std::vector<float> log_probs;  ///< [L] natural log-softmax of each produced token
  TokenSequence
      decoder_input;  ///< the start symbol and the produced tokens without the last one, L in total
  AttentionMaps decoder_self;                                           ///< [layers, heads, L, L]
  AttentionMaps cross;                                                  ///< [layers, heads, L, S]
  std::optional<Alternatives> alternatives = std::nullopt;              ///< if requested
  std::optional<AttentionVectors> decoder_self_vectors = std::nullopt;  ///< if requested
  std::optional<AttentionVectors> cross_vectors = std::nullopt;         ///< if requested
  std::vector<ResidualStreamState> residual_stream = {};                ///< if requested
  std::optional<SiteReport> decoder_report = std::nullopt;              ///< if requested
  std::optional<SiteReport> cross_report = std::nullopt;                ///< if requested
  std::optional<WordAlignment> alignment = std::nullopt;                ///< if requested
  std::optional<WordReceipts> receipts = std::nullopt;                  ///< if requested
};

/// The properties of a model that readers of a record need.
struct ModelSummary {
  bool random_weights = false;
  std::optional<std::uint64_t> seed;  ///< for random weights
  std::string name;                   ///< directory, config or preset, as the user named it
  int d_model = 0;
  int encoder_layers = 0;
  int decoder_layers = 0;
  int encoder_heads = 0;
  int decoder_heads = 0;
  int encoder_ffn_dim = 0;
  int decoder_ffn_dim = 0;
  int vocab_size = 0;          ///< of the source
  int decoder_vocab_size = 0;  ///< of the target
  int head_dim = 0;            ///< if set separately (T5); 0 for d_model / heads
  float encoder_scale = 1;     ///< factor of the scores: 1/√head_dim, or 1
  float decoder_scale = 1;
  /// The update of the training run at which these weights were saved.
  std::optional<std::uint64_t> update = std::nullopt;
  /// The names of all models of an ensemble, including this one; empty for a single model.
  std::vector<std::string> ensemble = {};
  /// The cross-attention heads that align words best, as the model's config names them; empty if it
  /// names none.
  std::vector<HeadIndex> alignment_heads = {};
  /// The precision of matrix multiplications with weights: "float32", "bfloat16" or "int8".
  std::string precision = "float32";

  StackShape stack(AttentionSite kind) const {
    if (kind == AttentionSite::encoder_self) return {stack_of(kind), encoder_layers, encoder_heads};
    return {stack_of(kind), decoder_layers, decoder_heads};
  }
  int encoder_head_dim() const { return head_dim_of(encoder_heads); }
  int decoder_head_dim() const { return head_dim_of(decoder_heads); }

 private:
  int head_dim_of(int heads) const {
    if (head_dim > 0) return head_dim;
    return heads > 0 ? d_model / heads : 0;
  }
};

/// The part of a line that a record is about, if the line was translated sentence by sentence.
struct LinePart {
  std::size_t line = 1;    ///< in the input, from 1
  std::size_t number = 1;  ///< of the part in its line, from 1
  std::size_t of = 1;      ///< number of parts in the line
  std::string text;        ///< the whole line
  std::string gap;         ///< the spaces between the previous part and this one
};

struct AttentionRecord {
  ModelSummary model;
  std::optional<LinePart> part = std::nullopt;  ///< nullopt if the record is about a whole line
  /// The changes of an experiment in the model or the sentence ("without cross:1:3"), one string
  /// each; empty in other records.
  std::vector<std::string> changes;
  std::optional<Decoding> decoding = std::nullopt;  ///< if requested
  std::string source_text;
  TokenSequence source;        ///< S tokens, ending in "</s>"
  AttentionMaps encoder_self;  ///< [layers, heads, S, S]; [layers, heads, S, k] for linformer
  std::vector<HypothesisRecord> hypotheses;                        ///< best first
  std::optional<AttentionVectors> encoder_vectors = std::nullopt;  ///< if requested
  std::vector<ResidualStreamState> residual_stream = {};           ///< of the encoder, if requested
  std::optional<SiteReport> encoder_report = std::nullopt;         ///< if requested
  std::optional<SearchTree> search = std::nullopt;                 ///< if requested
};

// An experiment on one sentence: the unchanged model, and the model with a change.

struct WhatIfRecord {
  AttentionRecord before;  ///< the translation without the change, with its maps
  AttentionRecord after;   ///< the translation with the `changes` it lists, with its maps
  /// The translation of `before` scored under the change: how likely each of its tokens is now, and
  /// where it looks.
  HypothesisRecord teacher_forced;
};

/// Returns the experiment as two records, before and after. If the change gave another translation,
/// the first translation, scored under the change, is added to `after`, so that the maps of the
/// same translation can be compared.
std::vector<AttentionRecord> what_if_records(const WhatIfRecord& record);

// Checks that a record's maps fit its tokens, before anything indexes one by the other.

/// Throws InputError if the rows or columns of a map differ from the number of tokens, or its size
/// from its shape. A `hypothesis` out of range checks only the encoder.
void check_map_shapes(const AttentionRecord& record, std::size_t hypothesis);

}  // namespace attn
