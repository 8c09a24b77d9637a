#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/pieces/sentencepiece_check.h"
#include "text/pipeline/piece_cutter.h"

namespace attn {
namespace {

class MergesCutter : public PieceCutter {
 public:
  MergesCutter(std::shared_ptr<const Vocabulary> vocabulary, ByteMerges merges,
               UnknownCharacters unknown)
      : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), unknown_(unknown) {}

  void cut(std::string_view word, EncodedText& out) const override {
    std::vector<int> ids;
    bool after_unknown = false;
    for (std::size_t begin = 0; begin < word.size();) {
      const std::string_view character =
          word.substr(begin, decode_code_point(word.substr(begin)).length);
      begin += character.size();
      const std::optional<int> id = vocabulary_->find(character);
      // The library forgets byte pieces when it asks whether an unknown character came before.
      if (!id && unknown_.byte_fallback && add_bytes(character, ids)) continue;
      if (id) {
        ids.push_back(*id);
      } else {
        ++out.unknown;
        const bool joined = after_unknown && unknown_.fused;
        if (unknown_.unknown && !joined) ids.push_back(*unknown_.unknown);
      }
      after_unknown = !id;
    }
    merges_.join(ids);
    for (const int id : ids) {
      out.ids.push_back(id);
      out.pieces.push_back(vocabulary_->piece(id));
    }
  }

 private:
  bool add_bytes(std::string_view character, std::vector<int>& ids) const {
    std::vector<int> bytes;
    for (const char c : character) {
      const std::optional<int> id = vocabulary_->find(byte_piece(byte_value(c)));
      if (!id) return false;
      bytes.push_back(*id);
    }
    ids.insert(ids.end(), bytes.begin(), bytes.end());
    return true;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  ByteMerges merges_;
  UnknownCharacters unknown_;
};

}  // namespace

std::unique_ptr<const PieceCutter> merges_cutter(std::shared_ptr<const Vocabulary> vocabulary,
                                                 ByteMerges merges, UnknownCharacters unknown) {
  return std::make_unique<MergesCutter>(std::move(vocabulary), std::move(merges), unknown);
}

}  // namespace attn
