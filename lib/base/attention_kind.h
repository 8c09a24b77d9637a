#pragma once

namespace attn {

/// The three places where a Transformer attends.
enum class AttentionKind { encoder_self, decoder_self, cross };

}  // namespace attn
