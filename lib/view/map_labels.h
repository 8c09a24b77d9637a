// One kind of attention of one record as views show it: its names, its maps and what stands on the
// axes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// "encoder self-attention", "decoder self-attention", "cross-attention".
std::string_view site_name(AttentionSite site);

/// The names on the axes of all heads of one kind.
struct MapLabels {
  std::vector<std::string> inputs;   ///< a label a row: the token that asks
  std::vector<std::string> outputs;  ///< a label a row: what that step produces; empty: not shown
  std::vector<std::string> columns;  ///< a label a column
  bool causal = false;               ///< a weight of 0 right of the diagonal is a masked cell

  /// Whether a cell of this weight is one that the query may not see.
  bool is_masked(std::size_t row, std::size_t column, float weight) const {
    return causal && column > row && weight == 0.0f;
  }
  /// Whether a pattern leaves a cell out that no mask hides. `uncomputed` [rows · columns] has 1
  /// where it does; empty: nowhere.
  bool is_left_out(std::span<const std::uint8_t> uncomputed, std::size_t row, std::size_t column,
                   float weight = 0.0f) const {
    return !uncomputed.empty() && uncomputed[row * columns.size() + column] != 0 &&
           !is_masked(row, column, weight);
  }
  /// Whether any label goes on with the word before it (view/token_label.h).
  bool has_continuations() const;
};

/// The maps of one kind, of the encoder or of one hypothesis; null where the record does not have
/// that hypothesis.
const AttentionMaps* find_maps(const AttentionRecord& record, AttentionSite site,
                               std::size_t hypothesis);

/// The mixtures of a linformer, "m0" and so on.
std::vector<std::string> projected_key_labels(int count);

/// Exactly as many labels as those maps have queries and keys, whatever the record holds. Empty
/// where the record does not have that hypothesis.
MapLabels map_labels(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis);

// What stands on the axes of a map: tokens as a person reads them.

/// One printable label a token. SentencePiece's word mark is left out ("▁The" becomes "The"), and
/// instead a piece that goes on with the word before it is marked ("▁Haus", "tür" become "Haus",
/// "‿tür"). Special symbols ("</s>", ">>de<<") stay as they are; an empty or blank token is quoted.
std::vector<std::string> token_labels(const std::vector<std::string>& tokens);

/// Whether the label is of a piece that goes on with the word before it.
bool continues_word(std::string_view label);

}  // namespace attn
