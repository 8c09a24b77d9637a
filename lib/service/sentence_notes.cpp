#include "service/sentence_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/at.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"

namespace attn {

void SentenceNotes::add(const PreparedLine& line, std::size_t positions, std::size_t dropped) {
  ++lines_;
  if (line.parts.size() > 1) ++parted_;
  bool cut = dropped > 0;
  for (const PreparedSentence& part : line.parts) {
    unknown_ += part.unknown;
    if (first_unknown_.empty()) first_unknown_ = part.first_unknown_token;
    cut = cut || part.truncated_tokens > 0;
  }
  if (cut && cut_++ == 0) {
    const std::string what = fmt::format(
        "sentence {} is longer than the model's {} positions and was cut", lines_, positions);
    if (offer_parts_ && !line.tried_to_split) {
      say_({what + "; ", Field{"split"}, " sentences translates all of it"});
    } else {
      say_(what);
    }
  }
  const PreparedSentence& first = line.parts.front();
  note_cleaning(fmt::format("sentence {}", lines_), first.invalid_bytes, first.controls);
}

void SentenceNotes::note_cleaning(const FieldText& text, std::size_t invalid_bytes,
                             std::size_t controls) {
  if (invalid_bytes > 0 && !invalid_noted_) {
    say_({text, " is not valid UTF-8; what is not was replaced by U+FFFD (said once)"});
    invalid_noted_ = true;
  }
  if (controls > 0 && !controls_noted_) {
    say_({text, " holds control characters; they were replaced by U+FFFD (said once)"});
    controls_noted_ = true;
  }
}

void SentenceNotes::add_target(std::string_view target, const std::vector<int>& ids, int unk) {
  const CleanedText cleaned = clean_text(target);
  note_cleaning("the target", cleaned.invalid_bytes, cleaned.controls);
  unknown_ += to_size(std::count(ids.begin(), ids.end(), unk));
}

void SentenceNotes::report() const {
  if (cut_ > 1) say_(fmt::format("{} sentences in all were cut", cut_));
  if (parted_ > 0) {
    say_({fmt::format("{} line{} translated sentence by sentence (", parted_,
                      parted_ == 1 ? " was" : "s were"),
          Field{"split"}, " never: as a whole)"});
  }
  if (unknown_ > 0) {
    const std::string named =
        first_unknown_.empty()
            ? ""
            : fmt::format(" ({}{})", unknown_ == 1 ? "" : "the first: ", excerpt(first_unknown_));
    say_(fmt::format(
        "{} piece{} not in the vocabulary became <unk>{}; translations leave out their own <unk>",
        unknown_, unknown_ == 1 ? "" : "s", named));
  }
}

std::optional<std::string> whole_line_note(const PreparedLine& line) {
  if (line.parts.size() < 2) return std::nullopt;
  return fmt::format(
      "the text is shown as one piece, which is longer than what the model has learned; translate "
      "takes it sentence by sentence, in {} parts",
      line.parts.size());
}

}  // namespace attn
