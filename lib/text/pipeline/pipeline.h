// A tokenizer built of the same steps as in Hugging Face's tokenizers library: find added tokens,
// normalize the rest, split it into words, split the words into tokens, and add the model's special
// tokens. tokenizer.json lists the steps; older files are translated into the same steps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/languages.h"
#include "text/pipeline/added_tokens.h"
#include "text/pipeline/subword_model.h"
#include "text/pipeline/text_patterns.h"
#include "text/tokenizer_kind.h"

namespace attn {

/// A part of a text that has not been split into tokens yet.
struct PreToken {
  std::string text;
  bool at_start = false;  ///< of the whole text
};

using Normalizer = std::function<std::string(const std::string&)>;
using PreTokenizer = std::function<std::vector<PreToken>(const PreToken&)>;
/// Maps tokens to tokens; the results are joined into one text.
using TokenDecoder = std::function<std::vector<std::string>(std::vector<std::string>)>;

// The components (components.cpp, unicode_normalizer.cpp), named like those of the library.

/// Applies a model's rules (text/sentencepiece/normalizer.h) to whole grapheme clusters, then to
/// single characters. `charsmap` is a checked precompiled_charsmap.
Normalizer precompiled_normalizer(std::string charsmap);
enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
Normalizer unicode_normalizer(UnicodeForm form);
Normalizer lowercase_normalizer();
Normalizer strip_normalizer(bool left, bool right);
Normalizer prepend_normalizer(std::string text);
Normalizer replace_normalizer(TextPattern pattern, std::string to);

enum class PrependScheme { always, first, never };
/// Replaces spaces by `mark` and puts `mark` before text that does not begin with it; with `split`,
/// every mark begins a word.
PreTokenizer metaspace_pre_tokenizer(std::string mark, PrependScheme scheme, bool split);
/// Writes bytes as characters (text/byte_level_bpe.h); with `words`, splits into words first.
PreTokenizer byte_level_pre_tokenizer(bool add_prefix_space, bool words);
PreTokenizer split_pre_tokenizer(TextPattern pattern, SplitBehavior behavior, bool invert);

TokenDecoder metaspace_decoder(std::string mark, PrependScheme scheme);
TokenDecoder byte_level_decoder();
TokenDecoder byte_fallback_decoder();
TokenDecoder replace_decoder(TextPattern pattern, std::string to);
TokenDecoder fuse_decoder();
/// Removes `content` up to `start` times from the beginning and `stop` times from the end of each
/// token.
TokenDecoder strip_decoder(std::string content, int start, int stop);

/// The special tokens around a text.
struct SpecialTokensTemplate {
  std::vector<int> before;
  std::vector<int> after;
};

struct Pipeline {
  AddedTokens added_tokens;             ///< found in the original text
  AddedTokens normalized_added_tokens;  ///< found in the normalized text
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::unique_ptr<const SubwordModel> subword_model;
  SpecialTokensTemplate source;
  SpecialTokensTemplate target;
  std::vector<TokenDecoder> decoders;
  bool join_with_spaces = false;  ///< join decoded tokens with spaces, because there is no decoder
  bool clean_up_spaces = false;
  bool pieces_are_byte_level = false;        ///< tokens are bytes written as characters
  std::vector<std::string> pieces;           ///< [V], by id
  std::map<int, std::string> decoded_texts;  ///< added tokens whose decoded text differs
  std::vector<bool> is_special;              ///< [V] left out of decoded text
  std::set<int> ids_without_piece;  ///< decoded as the unknown token, which is otherwise left out
  SpecialTokens special;
  Languages languages;
};

std::unique_ptr<const TokenizerKind> pipeline_tokenizer(Pipeline pipeline);

/// Adds tokens: those that are already in `pieces` have their ids there, others follow the last
/// one. `tokens` are in order of their ids. Throws InputError, beginning with `where`, if an id
/// belongs to another token or one is skipped.
void add_tokens(Pipeline& pipeline, const std::vector<AddedToken>& tokens,
                const std::string& where);

/// If the settings' tokenizer_class has languages, finds their tokens and builds the templates of
/// source and target as that class does, whatever the template in the file says. Throws InputError,
/// beginning with `where`, for a src_lang or tgt_lang without a token.
void add_language_tokens(Pipeline& pipeline, const TokenizerSettings& settings,
                         const std::string& where);

}  // namespace attn
