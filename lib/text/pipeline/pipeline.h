// A tokenizer as the tokenizers library of Hugging Face builds one: added tokens are found, the
// rest is normalised, cut into words, its words into pieces, and the model's own tokens are put
// around it. tokenizer.json says the parts; what older files mean is built of the same.
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

/// A part of a text that is yet to be cut into pieces.
struct PreToken {
  std::string text;
  bool at_start = false;  ///< of the whole text
};

using Normalizer = std::function<std::string(const std::string&)>;
using PreTokenizer = std::function<std::vector<PreToken>(const PreToken&)>;
/// Tokens in, tokens out; what is left is one text.
using TokenDecoder = std::function<std::vector<std::string>(std::vector<std::string>)>;

// What they are made of (components.cpp, unicode_form.cpp); each is the component of this name in
// the library.

/// A model's rules (text/sentencepiece/normalizer.h) for whole clusters of characters, then for
/// single ones. `charsmap` is a checked precompiled_charsmap.
Normalizer precompiled_normalizer(std::string charsmap);
enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
Normalizer unicode_normalizer(UnicodeForm form);
Normalizer lowercase_normalizer();
Normalizer strip_normalizer(bool left, bool right);
Normalizer prepend_normalizer(std::string text);
Normalizer replace_normalizer(TextPattern pattern, std::string to);

enum class PrependScheme { always, first, never };
/// Blanks become `mark`, which is put before what does not begin with it; where `split`, every mark
/// begins a word.
PreTokenizer metaspace_pre_tokenizer(std::string mark, PrependScheme scheme, bool split);
/// Bytes become characters (text/byte_level_bpe.h); where `words`, words are cut before.
PreTokenizer byte_level_pre_tokenizer(bool add_prefix_space, bool words);
PreTokenizer split_pre_tokenizer(TextPattern pattern, SplitBehavior behavior, bool invert);

TokenDecoder metaspace_decoder(std::string mark, PrependScheme scheme);
TokenDecoder byte_level_decoder();
TokenDecoder byte_fallback_decoder();
TokenDecoder replace_decoder(TextPattern pattern, std::string to);
TokenDecoder fuse_decoder();
/// Takes `content` off up to `start` times before and `stop` times behind each token.
TokenDecoder strip_decoder(std::string content, int start, int stop);

/// Ids around a text.
struct SpecialTokensTemplate {
  std::vector<int> before;
  std::vector<int> after;
};

struct Pipeline {
  AddedTokens added_tokens;             ///< found in the text as it is
  AddedTokens normalized_added_tokens;  ///< found in what the normalizers leave
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::unique_ptr<const SubwordModel> subword_model;
  SpecialTokensTemplate source;
  SpecialTokensTemplate target;
  std::vector<TokenDecoder> decoders;
  bool join_with_spaces = false;  ///< decoded tokens: there is no decoder
  bool clean_up_spaces = false;
  bool pieces_are_byte_level = false;        ///< pieces are of bytes written as characters
  std::vector<std::string> pieces;           ///< [V], by id
  std::map<int, std::string> decoded_texts;  ///< added tokens that a decoded text has otherwise
  std::vector<bool> is_special;              ///< [V]: left out of a decoded text
  std::set<int>
      ids_without_piece;  ///< ids of no piece: decoded as the unknown one, which else is left out
  SpecialTokens special;
  Languages languages;
};

std::unique_ptr<const TokenizerKind> pipeline_tokenizer(Pipeline pipeline);

/// Gives each token its id in `pieces` and a way to be found: tokens that are pieces already have
/// their ids, others follow the last piece. `tokens` are in order of their ids. InputError,
/// beginning with `where`, where an id is another piece's, or one is left out.
void add_tokens(Pipeline& pipeline, const std::vector<AddedToken>& tokens,
                const std::string& where);

/// pipeline_languages.cpp: where the settings' tokenizer_class is one that knows languages: which
/// of the special pieces are theirs, and the frames of texts as that class makes them, whatever a
/// file's own template says. InputError, beginning with `where`, for a src_lang or tgt_lang without
/// a token.
void add_language_tokens(Pipeline& pipeline, const TokenizerSettings& settings,
                         const std::string& where);

}  // namespace attn
