// The one place that hands bytes to the SentencePiece library.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace attn {

/// The library prints to stderr what it also returns as a status; this keeps it quiet.
void quiet_sentencepiece();

/// A processor of a model that check_sentencepiece_model() has passed. InputError, beginning with
/// `where`, where the library still refuses it. Its const functions may run in several threads.
std::shared_ptr<const sentencepiece::SentencePieceProcessor> load_sentencepiece(
    std::string_view bytes, const std::string& where);

}  // namespace attn
