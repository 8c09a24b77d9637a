#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/at.h"

namespace attn {

/// The three places where a Transformer attends.
enum class AttentionSite { encoder_self, decoder_self, cross };

inline constexpr std::array attention_sites = {AttentionSite::encoder_self,
                                               AttentionSite::decoder_self, AttentionSite::cross};

/// "encoder", "decoder", "cross": as the command line calls them.
constexpr std::string_view site_key(AttentionSite site) {
  constexpr std::array<std::string_view, 3> words = {"encoder", "decoder", "cross"};
  return at(words, site);
}

/// The kind that the command line calls so.
constexpr std::optional<AttentionSite> parse_site(std::string_view word) {
  for (const AttentionSite site : attention_sites) {
    if (site_key(site) == word) return site;
  }
  return std::nullopt;
}

/// The stack whose layers and heads attend so; cross-attention is the decoder's.
constexpr std::string_view stack_of(AttentionSite site) {
  return site == AttentionSite::encoder_self ? "encoder" : "decoder";
}

}  // namespace attn
