#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/at.h"

namespace attn {

/// The three places where a Transformer attends.
enum class AttentionKind { encoder_self, decoder_self, cross };

inline constexpr std::array attention_kinds = {AttentionKind::encoder_self,
                                               AttentionKind::decoder_self, AttentionKind::cross};

/// "encoder", "decoder", "cross": as the command line calls them.
constexpr std::string_view kind_word(AttentionKind kind) {
  constexpr std::array<std::string_view, 3> words = {"encoder", "decoder", "cross"};
  return at(words, kind);
}

/// The kind that the command line calls so.
constexpr std::optional<AttentionKind> parse_kind(std::string_view word) {
  for (const AttentionKind kind : attention_kinds) {
    if (kind_word(kind) == word) return kind;
  }
  return std::nullopt;
}

/// The stack whose layers and heads attend so; cross-attention is the decoder's.
constexpr std::string_view stack_of(AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? "encoder" : "decoder";
}

}  // namespace attn
