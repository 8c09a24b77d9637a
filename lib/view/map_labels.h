// The names, maps and axis labels of one attention site of one record, as the views show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// Returns "encoder self-attention", "decoder self-attention" or "cross-attention".
std::string_view site_name(AttentionSite site);

/// The axis labels shared by all heads of one attention site.
struct MapLabels {
  std::vector<std::string> inputs;  ///< one label per row: the query's token
  /// one label per row: the token which that step produces; empty: not shown
  std::vector<std::string> outputs;
  std::vector<std::string> columns;  ///< one label per column
  bool causal = false;  ///< a weight of 0 to the right of the diagonal is a masked cell

  /// True if a cell with this weight is masked for its query.
  bool is_masked(std::size_t row, std::size_t column, float weight) const {
    return causal && column > row && weight == 0.0f;
  }
  /// True if a sparse pattern leaves out a cell that no mask hides. `uncomputed` [rows · columns]
  /// is 1 for these cells; empty: there are none.
  bool is_left_out(std::span<const std::uint8_t> uncomputed, std::size_t row, std::size_t column,
                   float weight = 0.0f) const {
    return !uncomputed.empty() && uncomputed[row * columns.size() + column] != 0 &&
           !is_masked(row, column, weight);
  }
  /// True if any label continues the word before it; see continues_word().
  bool has_continuations() const;
};

/// Returns the maps of one attention site, of the encoder or of one hypothesis; null if the record
/// does not have that hypothesis.
const AttentionMaps* find_maps(const AttentionRecord& record, AttentionSite site,
                               std::size_t hypothesis);

/// Returns names for the projected keys of Linformer: "m0", "m1" and so on.
std::vector<std::string> projected_key_labels(int count);

/// Returns exactly as many labels as those maps have queries and keys, whatever the record holds.
/// Empty if the record does not have that hypothesis.
MapLabels map_labels(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis);

// Axis labels of a map: tokens as a person reads them.

/// Returns one printable label per token. SentencePiece's word marker is dropped ("▁The" becomes
/// "The"); instead, a token that continues the word before it is marked ("▁Haus", "tür" become
/// "Haus", "‿tür"). Special symbols ("</s>", ">>de<<") are unchanged. A token that is empty or only
/// whitespace is quoted.
std::vector<std::string> token_labels(const std::vector<std::string>& tokens);

/// True if the label is of a token that continues the word before it.
bool continues_word(std::string_view label);

}  // namespace attn
