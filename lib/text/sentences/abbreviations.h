// Words that a full stop may follow without ending a sentence, in English and German.
#pragma once

#include <string_view>

namespace attn {

// Words are without their full stop: "Dr", "e.g", "usw". "dr" counts, too, but not "sun" or "co",
// which are words.

/// A title or a link to what follows: Dr, Mrs, e.g, d.h, vgl.
bool is_never_sentence_end(std::string_view word);

/// The name of a number, where one follows: No, Nr, p, Fig, Abs.
bool precedes_number(std::string_view word);

/// It stands at the end of sentences as well as in them: etc, Inc, Jr, Jan, usw, St.
bool may_end_sentence(std::string_view word);

/// Whether a word, in small letters, is one that sentences often begin with and that is seldom a
/// name: he, the, this, er, das. "I" is none: it has its capital everywhere.
bool is_sentence_starter(std::string_view word);

}  // namespace attn
