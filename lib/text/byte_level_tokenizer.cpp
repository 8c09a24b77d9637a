// The tokenizer of BART and LED: vocab.json and merges.txt.
#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/byte_level/byte_level.h"
#include "text/byte_level/byte_merges.h"
#include "text/pieces/sentencepiece_check.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

constexpr int kNoPiece = -1;

class ByteLevelTokenizer : public TokenizerKind {
 public:
  explicit ByteLevelTokenizer(const std::string& directory)
      : settings_(read_tokenizer_settings(directory)),
        vocabulary_(
            Vocabulary::parse(read_part(directory, "vocab.json"), directory + "/vocab.json")),
        merges_(read_part(directory, "merges.txt"), vocabulary_, directory + "/merges.txt") {
    find_special_tokens(directory + "/vocab.json");
    for (int byte = 0; byte < kByteValues; ++byte) {
      std::string piece;
      append_code_point(piece, character_of_byte(static_cast<unsigned char>(byte)));
      at(bytes_, byte) = vocabulary_.find(piece).value_or(kNoPiece);
    }
    shown_.reserve(to_size(vocabulary_.size()));
    for (int id = 0; id < vocabulary_.size(); ++id) {
      const bool special = at(is_special_, id);
      shown_.push_back(special ? vocabulary_.piece(id) : readable_piece(vocabulary_.piece(id)));
      if (!special) in_use_ = id + 1;
    }
    for (const int id : {begin_, end_, special_.pad}) in_use_ = std::max(in_use_, id + 1);
  }

  EncodedText encode(TextSide, std::string_view text) const override {
    EncodedText encoded;
    encoded.ids.push_back(begin_);
    std::string with_blank;
    if (settings_.add_prefix_space && !text.empty() && !text.starts_with(' ')) {
      text = with_blank = ' ' + std::string(text);
    }
    for (const std::string_view word : byte_level_words(text)) add_word(word, encoded);
    encoded.ids.push_back(end_);
    for (const int id : encoded.ids) encoded.pieces.push_back(at(shown_, id));
    return encoded;
  }

  std::string decode(const std::vector<int>& ids) const override {
    std::string bytes;
    for (const int id : ids) {
      if (at(is_special_, id)) continue;
      const std::string& piece = vocabulary_.piece(id);
      bytes += bytes_of_piece(piece).value_or(piece);
    }
    // A model may cut a character in two. The classes ignore clean_up_tokenization_spaces.
    return valid_text(bytes);
  }

  const std::string& piece(TextSide, int id) const override { return at(shown_, id); }
  int vocab_size(TextSide) const override { return vocabulary_.size(); }
  int ids_in_use(TextSide) const override { return in_use_; }
  SpecialTokens special_tokens() const override { return special_; }

 private:
  void find_special_tokens(const std::string& where) {
    const std::string begin = settings_.named_or("bos_token", "<s>").value_or("<s>");
    special_.eos = required_id(vocabulary_, settings_.eos_token, where);
    special_.unk = required_id(vocabulary_, settings_.unk_token, where);
    special_.pad = required_id(vocabulary_, settings_.pad_token, where);
    // The classes say that their first and last token are these.
    begin_ =
        required_id(vocabulary_, settings_.named_or("cls_token", "<s>").value_or(begin), where);
    end_ = required_id(
        vocabulary_, settings_.named_or("sep_token", "</s>").value_or(settings_.eos_token), where);
    is_special_.assign(to_size(vocabulary_.size()), false);
    for (const int id : {begin_, end_, special_.eos, special_.unk, special_.pad}) {
      at(is_special_, id) = true;
    }
    std::vector<std::string> others = settings_.more_special_tokens;
    others.push_back(begin);
    if (const auto mask = settings_.named_or("mask_token", "<mask>")) others.push_back(*mask);
    for (const std::string& piece : others) {
      if (const auto id = vocabulary_.find(piece)) at(is_special_, *id) = true;
    }
  }

  void add_word(std::string_view word, EncodedText& encoded) const {
    std::vector<int> ids;
    for (const char c : word) {
      const int id = at(bytes_, int{byte_value(c)});
      if (id != kNoPiece) {
        ids.push_back(id);
      } else {
        ++encoded.unknown;  // the classes leave such a byte out, too
      }
    }
    merges_.join(ids);
    encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
  }

  TokenizerSettings settings_;
  Vocabulary vocabulary_;
  ByteMerges merges_;
  SpecialTokens special_;
  int begin_ = 0;  ///< of every text
  int end_ = 0;
  int in_use_ = 0;
  std::vector<bool> is_special_;          ///< [V]
  std::vector<std::string> shown_;        ///< [V] pieces as people read them
  std::array<int, kByteValues> bytes_{};  ///< ids of single bytes
};

}  // namespace

std::unique_ptr<const TokenizerKind> byte_level_tokenizer(const std::string& directory) {
  return std::make_unique<ByteLevelTokenizer>(directory);
}

}  // namespace attn
