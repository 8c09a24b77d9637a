// Translates lines of text: splits them into sentences, translates those and joins the results.
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

struct LineSettings {
  Splitting split = Splitting::automatic;
  std::size_t batch = 32;  ///< sentences that are translated together
  /// Number of batches that a search gets at once. When one of their sentences ends, the next one
  /// takes its place, so short sentences do not wait for the longest of their batch.
  std::size_t window = 1;
  /// Batches sentences of similar length, which takes less time, and returns only the best
  /// translation of each; otherwise translates them in order.
  bool by_length = false;
};

/// Functions to call during the translation, if set.
struct LineHooks {
  /// Receives each line, in order, before any is searched.
  std::function<void(const PreparedLine&)> prepared = nullptr;
  /// Called after each batch; an exception from it ends the translation.
  std::function<void(const TranslationProgress&)> searched = nullptr;
};

/// Returns the translations of each line, best first. Accepts any bytes. The translations are valid
/// UTF-8 without control characters, whatever the model's tokens contain.
std::vector<std::vector<LineTranslation>> translate_lines(const Translator& translator,
                                                          const TranslationSettings& settings,
                                                          const std::vector<std::string>& lines,
                                                          const LineSettings& line_settings,
                                                          const LineHooks& hooks = {});

// Collects what the user should know about the sentences that were read: whether they were cut or
/// cleaned, and unknown tokens. Each kind of note is said once, not per sentence.
class SentenceNotes {
 public:
  using NoteHandler = std::function<void(const FieldText&)>;
  explicit SentenceNotes(NoteHandler say) : say_(std::move(say)) {}

  /// Counts a line, of which `dropped` bytes were not read. `positions` is the model's limit.
  void add(const PreparedLine& line, std::size_t positions, std::size_t dropped = 0);

  /// Lets the note about lost text suggest the field `split`, for callers that have it.
  void suggest_split() { offer_parts_ = true; }

  /// The number of lines so far.
  std::size_t lines() const { return lines_; }

  /// Notes replaced bytes and control characters in a text, each only the first time.
  void note_cleaning(const FieldText& text, std::size_t invalid_bytes, std::size_t controls);

  /// Counts what to note about a given translation, whose tokens became `ids`.
  void add_target(std::string_view target, const std::vector<int>& ids, int unk);

  /// Notes the totals.
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

/// Returns a handler for TranslationSettings::term_note that passes each note on once, however many
/// sentences it is about.
std::function<void(const std::string&, const std::string&)> once_each(
    SentenceNotes::NoteHandler say);

/// Returns the note for a text that is shown as a whole although translations split it, as `line`
/// does; nothing if they do not.
std::optional<std::string> whole_line_note(const PreparedLine& line);

}  // namespace attn
