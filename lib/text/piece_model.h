// One SentencePiece file, checked and ready: text to pieces and pieces to text. The only door to
// the SentencePiece library but for training.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The library prints to stderr what it also returns as a status; this keeps it quiet.
void quiet_sentencepiece();

class PieceModel {
 public:
  /// `bytes` are the whole file. InputError, beginning with `where`, where it is damaged.
  PieceModel(std::string bytes, const std::string& where);
  ~PieceModel();
  PieceModel(const PieceModel&) = delete;
  PieceModel& operator=(const PieceModel&) = delete;

  const std::string& bytes() const { return bytes_; }

  /// The pieces of a clean text. InputError where the library gives up.
  std::vector<std::string> cut(std::string_view text) const;

  /// The text of the pieces, in which a piece that the model lacks stands as it is (its ▁ too).
  std::string join(const std::vector<std::string>& pieces) const;

 private:
  struct Parts;
  std::string bytes_;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace attn
