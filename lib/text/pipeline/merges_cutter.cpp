#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/sentencepiece_model.h"
#include "text/pipeline/subword_model.h"

namespace attn {
namespace {

class BpeModel : public SubwordModel {
 public:
  BpeModel(std::shared_ptr<const Vocabulary> vocabulary, BpeMerges merges,
               UnknownHandling unknown)
      : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), unknown_(unknown) {}

  void tokenize(std::string_view word, EncodedText& out) const override {
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
        const bool joined = after_unknown && unknown_.fuse_unk;
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
  BpeMerges merges_;
  UnknownHandling unknown_;
};

}  // namespace

std::unique_ptr<const SubwordModel> bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                                 BpeMerges merges, UnknownHandling unknown) {
  return std::make_unique<BpeModel>(std::move(vocabulary), std::move(merges), unknown);
}

}  // namespace attn
