// Lines of text in, their translations out: prepared, cut into sentences, searched, put together
// again and clean.
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
  /// Batches that a search is given at once: as soon as one of its sentences has ended, the next
  /// takes its place, so that short ones do not wait for the longest of their batch.
  std::size_t window = 1;
  /// Sentences of like length together, which takes less time, and of each the best alone; else in
  /// their order.
  bool by_length = false;
};

/// Who follows, where set.
struct LineHooks {
  /// Each line in its order, before any is searched.
  std::function<void(const PreparedLine&)> prepared = nullptr;
  /// After each batch; what it throws ends the whole.
  std::function<void(const TranslationProgress&)> searched = nullptr;
};

/// The translations of each line, best first. Never throws for any bytes. Their texts are valid
/// UTF-8 without control characters, whatever a model's pieces hold.
std::vector<std::vector<LineTranslation>> translate_lines(const Translator& translator,
                                                          const std::vector<std::string>& lines,
                                                          const LineSettings& settings,
                                                          const LineHooks& hooks = {});

// What a person should know of the sentences that were read: cut, cleaned, unknown pieces. Each
// kind is said once, not once a sentence.

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
