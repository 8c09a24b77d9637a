// What the program knows about one sentence after translating it: plain data, no model attached.
// Views (terminal, JSON, pictures) read this and nothing else.
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

namespace attn {

/// One projection of every head for one sentence: [layer][head][row][column], `columns` being
/// head_dim.
struct HeadVectors {
  int layers = 0;
  int heads = 0;
  int rows = 0;
  int columns = 0;
  std::vector<float> values;  ///< layers · heads · rows · columns, row-major

  std::span<const float> row(int layer, int head, int row) const {
    const auto width = to_size(columns);
    const auto index = to_size((layer * heads + head) * rows + row);
    return {values.data() + index * width, width};
  }
};

/// What one kind of attention computed its weights from: softmax(query · keyᵀ · scale + mask).
struct AttentionVectors {
  float scale = 1;    ///< 1/√head_dim, or 1 where the model does not scale
  HeadVectors query;  ///< a row a query token
  HeadVectors key;    ///< a row a key token, or a mixture (AttentionMaps::mixed)
  HeadVectors value;  ///< likewise
  /// Of relative positions (T5): what a head adds to a score, one row of 2S − 1 by key − query + S
  /// − 1; empty: nothing.
  HeadVectors relative_bias = {};
};

/// One extension of a hypothesis that a beam search looked at.
struct SearchNode {
  int parent = -1;  ///< index of the node it extends; −1: the start symbol
  int step = 0;     ///< tokens before it
  int id = 0;
  std::string token;
  float log_prob = 0;  ///< of this token after its prefix
  float sum = 0;       ///< over the tokens so far
  float score = 0;     ///< sum / length^length_penalty, what finished ones are ranked by
  bool kept = false;   ///< goes on into the next step
  bool ended = false;  ///< a finished hypothesis
  /// The attention of the step that produced it: [layer][head][step + 1] and [layer][head][source].
  std::vector<float> decoder_self;
  std::vector<float> cross;
};

/// What a search kept, step by step; parents come before their children.
struct SearchTree {
  int beams = 1;
  float length_penalty = 1;
  std::vector<SearchNode> nodes;
};

/// A vector of every token at one place on the way through a stack, as the forward pass had it.
struct ResidualStreamState {
  /// "token" (its row of the table · √D), "position", "embedded"; in a block "normed" (what it
  /// reads, where it norms first), "hidden" (inside the feed-forward), "added" (what the block
  /// adds), "sum" and "output" (the norm of the sum); "stack_output" (the norm behind all layers).
  std::string stage;
  std::string block;  ///< "encoder_self", "decoder_self", "cross", "feed_forward"; empty: none
  int layer = -1;     ///< −1: outside of all layers
  int columns = 0;    ///< D, or F inside the feed-forward
  std::vector<float> values;  ///< [tokens, columns]
};

/// The pieces that the model held likeliest at each step, best first, `count` of them a step.
struct Alternatives {
  int count = 0;
  std::vector<int> ids;             ///< [L, count]
  std::vector<std::string> tokens;  ///< [L, count]
  std::vector<float> log_probs;     ///< [L, count] natural log-softmax, as log_probs have it
  std::vector<float> logits;        ///< [L, count] what softmax was taken of, where asked for
  std::vector<int> ranks;           ///< [L] of each produced token among all pieces; 0: the first
};

/// How the translations of a record were come by.
struct Decoding {
  bool given = false;  ///< a given text was scored, nothing was searched for
  int beams = 1;
  float length_penalty = 1;
};

/// Pieces and their ids, in order; tokens[i] is the piece of ids[i] ("▁The", "</s>").
struct TokenSequence {
  std::vector<std::string> tokens;
  std::vector<int> ids;
};

/// One translation with its maps. Row t of the decoder's maps is the step that produced tokens[t].
struct HypothesisRecord {
  std::string text;
  bool teacher_forced = false;   ///< of an experiment: found before the change, not under it
  TokenSequence produced;        ///< L tokens, normally ending in "</s>"
  float score = 0;               ///< the search's score, as `generate` reports it
  std::vector<float> log_probs;  ///< natural log-softmax of each produced token, L of them
  TokenSequence decoder_input;   ///< the start symbol and produced tokens but the last, L of them
  AttentionMaps decoder_self;    ///< [layers, heads, L, L]
  AttentionMaps cross;           ///< [layers, heads, L, S]
  std::optional<Alternatives> alternatives = std::nullopt;              ///< where asked for
  std::optional<AttentionVectors> decoder_self_vectors = std::nullopt;  ///< where asked for
  std::optional<AttentionVectors> cross_vectors = std::nullopt;         ///< where asked for
  std::vector<ResidualStreamState> residual_stream = {};                ///< where asked for
  std::optional<SiteReport> decoder_report = std::nullopt;              ///< where asked for
  std::optional<SiteReport> cross_report = std::nullopt;                ///< where asked for
  std::optional<WordAlignment> alignment = std::nullopt;                ///< where asked for
};

/// The facts of a model that a reader of a record wants to know.
struct ModelSummary {
  bool random_weights = false;
  std::optional<std::uint64_t> seed;  ///< of random weights
  std::string name;                   ///< directory, config or preset as the user named it
  int d_model = 0;
  int encoder_layers = 0;
  int decoder_layers = 0;
  int encoder_heads = 0;
  int decoder_heads = 0;
  int encoder_ffn_dim = 0;
  int decoder_ffn_dim = 0;
  int vocab_size = 0;          ///< of the source
  int decoder_vocab_size = 0;  ///< of the target
  int head_dim = 0;            ///< where it is free (T5); 0: d_model / heads
  float encoder_scale = 1;     ///< what scores are multiplied by: 1/√head_dim, or 1
  float decoder_scale = 1;
  /// Of the training run that these weights are a moment of.
  std::optional<std::uint64_t> update = std::nullopt;
  /// The names of all models that translated together, this one among them; none: it did alone.
  std::vector<std::string> ensemble = {};
  std::string precision = "float32";  ///< of the products with weights; "bfloat16", "int8"

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

/// Which part of a line a record is about, where the line was translated sentence by sentence.
struct LinePart {
  std::size_t line = 1;    ///< of the input, counted from 1
  std::size_t number = 1;  ///< of the part in its line, counted from 1
  std::size_t of = 1;      ///< parts of the line
  std::string text;        ///< the whole line
  std::string gap;         ///< the blanks between the part before and this one
};

struct AttentionRecord {
  ModelSummary model;
  std::optional<LinePart> part = std::nullopt;  ///< none: the record is about a whole line
  /// What was changed in the model or the sentence for an experiment ("without cross:1:3"), one
  /// each; nothing in any other record.
  std::vector<std::string> changes;
  std::optional<Decoding> decoding = std::nullopt;  ///< where asked for
  std::string source_text;
  TokenSequence source;        ///< S tokens, ending in "</s>"
  AttentionMaps encoder_self;  ///< [layers, heads, S, S]; of a linformer [layers, heads, S, k]
  std::vector<HypothesisRecord> hypotheses;                        ///< best first
  std::optional<AttentionVectors> encoder_vectors = std::nullopt;  ///< where asked for
  std::vector<ResidualStreamState> residual_stream = {};           ///< of the encoder, as above
  std::optional<SiteReport> encoder_report = std::nullopt;         ///< where asked for
  std::optional<SearchTree> search = std::nullopt;                 ///< where asked for
};

// An experiment on one sentence: the model as it is, and with something changed.

struct WhatIfRecord {
  AttentionRecord before;  ///< the translation as it is, with its maps
  AttentionRecord after;   ///< the translation under its `changes`, with its maps
  /// The translation of `before` under the change: how likely each of its tokens is now, and where
  /// it looks.
  HypothesisRecord teacher_forced;
};

/// The experiment as two records: before and after. Where the change gave another translation, the
/// first one, scored and watched under the change, joins those of `after`, so that the maps of one
/// translation can be compared.
std::vector<AttentionRecord> what_if_records(const WhatIfRecord& record);

// Whether a record's maps belong to its tokens, before anything indexes one by the other.

/// InputError where a map has other rows or columns than there are tokens, or other numbers than
/// its shape says. `hypothesis` beyond the record's checks the encoder alone.
void check_map_shapes(const AttentionRecord& record, std::size_t hypothesis);

}  // namespace attn
