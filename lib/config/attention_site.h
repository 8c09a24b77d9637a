// The sites of attention in a Transformer (encoder self-attention, decoder self-attention,
// cross-attention), and the names of heads on the command line, such as cross:1:3.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"

namespace attn {

/// The three places where a Transformer attends.
enum class AttentionSite { encoder_self, decoder_self, cross };

inline constexpr std::array attention_sites = {AttentionSite::encoder_self,
                                               AttentionSite::decoder_self, AttentionSite::cross};

/// Returns "encoder", "decoder" or "cross", the names on the command line.
constexpr std::string_view site_key(AttentionSite site) {
  constexpr std::array<std::string_view, 3> words = {"encoder", "decoder", "cross"};
  return at(words, site);
}

/// Returns the site with this name on the command line.
constexpr std::optional<AttentionSite> parse_site(std::string_view word) {
  for (const AttentionSite site : attention_sites) {
    if (site_key(site) == word) return site;
  }
  return std::nullopt;
}

/// Returns the stack that contains the site; cross-attention is in the decoder.
constexpr std::string_view stack_of(AttentionSite site) {
  return site == AttentionSite::encoder_self ? "encoder" : "decoder";
}

/// A layer and a head in it, both counted from 0.
struct HeadIndex {
  int layer = 0;
  int head = 0;
  bool operator==(const HeadIndex&) const = default;
};

// The names of heads: KIND[:LAYER[:HEAD]], "cross:1:3", counted from 0; "cross:best",
// "cross:1:mean". Their meaning for a sentence is in analysis/map_selection.h.

/// A choice among the heads that a name leaves open.
enum class HeadSelector {
  all,
  best,  ///< the head that aligns best; only for cross-attention
  mean,  ///< the mean of their weights
};

/// A head, a layer's heads, or all heads of a site.
struct HeadName {
  AttentionSite site = AttentionSite::cross;
  std::optional<int> layer = std::nullopt;
  std::optional<int> head = std::nullopt;
  HeadSelector pick = HeadSelector::all;
  bool operator==(const HeadName&) const = default;
};

/// The number of layers and heads of the stack in which a name is looked up.
struct StackShape {
  std::string_view stack;  ///< "encoder" or "decoder"
  int layers = 0;
  int heads = 0;
};

/// Returns "cross", "cross:1", "cross:1:3", "cross:best" or "cross:1:mean".
std::string to_string(const HeadName& name);

/// Parses KIND, KIND:LAYER or KIND:LAYER:HEAD. Instead of a head, or of layer and head, "best" or
/// "mean" may be given; "best" alone means cross:best. Throws UsageError that names the wrong part
/// and the possible forms, to which a caller adds its own (", or the word all").
HeadName parse_head_name(std::string_view text, std::string_view other_forms = "");

/// Returns the parts between separators; one more than there are separators.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// Parses a plain decimal number, 0 … 2³¹−1: no sign, no leading zero, nothing after it.
std::optional<int> parse_index(std::string_view text);

/// Parses a part of a name as the number of a layer, head, query or key (`what`). Throws
/// UsageError that begins with the whole `name` and names the part.
int parse_index(std::string_view name, std::string_view part, std::string_view what);

/// Throws UsageError that begins with `name` ("cross:3") if the stack has no such layer or head.
void check_head(std::string_view name, std::optional<int> layer, std::optional<int> head,
                const StackShape& shape);

}  // namespace attn
