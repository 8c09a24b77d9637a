// What a person should know of the sentences that were read: cut, cleaned, unknown pieces. Each
// kind is said once, not once a sentence.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/field_text.h"
#include "translate/line_parts.h"

namespace attn {

class SentenceNotes {
 public:
  using NoteHandler = std::function<void(const FieldText&)>;
  explicit SentenceNotes(NoteHandler say) : say_(std::move(say)) {}

  /// Counts a line; `dropped` bytes of it were never read. `positions` is the model's limit.
  void add(const PreparedLine& line, std::size_t positions, std::size_t dropped = 0);

  /// From now on the note of lost text names the field `split`, for a caller that has it.
  void suggest_split() { offer_parts_ = true; }

  /// Lines so far.
  std::size_t lines() const { return lines_; }

  /// Says what was replaced in a text, the first time that each happens.
  void note_cleaning(const FieldText& text, std::size_t invalid_bytes, std::size_t controls);

  /// Counts what is to be said of a translation that was given, whose pieces became `ids`.
  void add_target(std::string_view target, const std::vector<int>& ids, int unk);

  /// The totals, at the end.
  void report() const;

 private:
  NoteHandler say_;
  std::size_t lines_ = 0;
  std::size_t parted_ = 0;  ///< lines in several parts
  bool invalid_noted_ = false;
  bool controls_noted_ = false;
  bool offer_parts_ = false;
  std::size_t unknown_ = 0;
  std::string first_unknown_;
  std::size_t cut_ = 0;  ///< lines with a sentence that is longer than the positions
};

/// What is to be said where a text is shown in one piece: nothing where translations, which take it
/// as `line`, do not cut it.
std::optional<std::string> whole_line_note(const PreparedLine& line);

}  // namespace attn
