#include "sentence_notes.h"

#include <fmt/format.h>

#include "console.h"

namespace attn {

void SentenceNotes::add(const PreparedSentence& sentence, std::size_t dropped, int positions) {
  ++sentences_;
  unknown_ += sentence.unknown;
  if (dropped > 0 || sentence.cut_tokens > 0) {
    if (cut_++ == 0) {
      note(fmt::format("sentence {} is longer than the model's {} positions and was cut",
                       sentences_, positions));
    }
  }
  cleaning(fmt::format("sentence {}", sentences_), sentence.invalid_bytes, sentence.controls);
}

void SentenceNotes::cleaning(const std::string& text, std::size_t invalid_bytes,
                             std::size_t controls) {
  if (invalid_bytes > 0 && !invalid_noted_) {
    note(text + " is not valid UTF-8; what is not was replaced by U+FFFD (said once)");
    invalid_noted_ = true;
  }
  if (controls > 0 && !controls_noted_) {
    note(text + " holds control characters; they were replaced by U+FFFD (said once)");
    controls_noted_ = true;
  }
}

void SentenceNotes::report() const {
  if (cut_ > 1) note(fmt::format("{} sentences in all were cut", cut_));
  if (unknown_ > 0) {
    note(fmt::format("{} piece{} not in the vocabulary became <unk>", unknown_,
                     unknown_ == 1 ? "" : "s"));
  }
}

}  // namespace attn
