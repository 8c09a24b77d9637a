#include "service/translate_lines.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

using Translations = std::vector<std::vector<Translation>>;

Translations search_by_length(const Translator& translator, const TranslationSettings& settings,
                              std::vector<PreparedSentence> parts, std::size_t batch,
                              const LineHooks& hooks) {
  Translations found;
  const auto best = translate_all(translator, settings, std::move(parts), batch,
                                  [&](const TranslationProgress& done) {
                                    if (hooks.searched) hooks.searched(done);
                                    return true;
                                  });
  for (const Translation& translation : *best) found.push_back({translation});
  return found;
}

Translations search_in_order(const Translator& translator, const TranslationSettings& settings,
                             std::span<const PreparedSentence> parts,
                             const LineSettings& line_settings, const LineHooks& hooks) {
  Translations found;
  const std::size_t window = line_settings.window * line_settings.batch;
  const std::size_t max_active = line_settings.window > 1 ? line_settings.batch : 0;
  while (found.size() < parts.size()) {
    const auto next = parts.subspan(found.size(), std::min(window, parts.size() - found.size()));
    std::ranges::move(translator.translate({next, settings, max_active}),
                      std::back_inserter(found));
    const auto fraction = static_cast<double>(found.size()) / static_cast<double>(parts.size());
    if (hooks.searched) hooks.searched({found.size(), fraction});
  }
  return found;
}

}  // namespace

std::vector<std::vector<LineTranslation>> translate_lines(const Translator& translator,
                                                          const TranslationSettings& settings,
                                                          const std::vector<std::string>& lines,
                                                          const LineSettings& line_settings,
                                                          const LineHooks& hooks) {
  std::vector<PreparedLine> prepared;
  for (const std::string& line : lines) {
    prepared.push_back(prepare_line(translator, settings, line, line_settings.split));
    if (hooks.prepared) hooks.prepared(prepared.back());
  }
  std::vector<PreparedSentence> all = all_parts(prepared);
  Translations found =
      line_settings.by_length
          ? search_by_length(translator, settings, std::move(all), line_settings.batch, hooks)
          : search_in_order(translator, settings, all, line_settings, hooks);
  std::vector<std::vector<LineTranslation>> translated;
  auto next = found.begin();
  for (const PreparedLine& line : prepared) {
    const auto end = next + to_index(line.parts.size());
    const Translations parts(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
    translated.push_back(join_parts(parts, line.gaps, settings.decode));
    for (LineTranslation& each : translated.back()) each.text = clean_text(each.text).text;
  }
  return translated;
}

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
    say_({text, " is not valid UTF-8; invalid bytes were replaced by U+FFFD (reported once)"});
    invalid_noted_ = true;
  }
  if (controls > 0 && !controls_noted_) {
    say_({text, " holds control characters; they were replaced by U+FFFD (reported once)"});
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

std::function<void(const std::string&, const std::string&)> once_each(
    SentenceNotes::NoteHandler say) {
  return [say = std::move(say), said = std::set<std::string>()](const std::string&,
                                                                const std::string& note) mutable {
    if (said.insert(note).second) say(note);
  };
}

std::optional<std::string> whole_line_note(const PreparedLine& line) {
  if (line.parts.size() < 2) return std::nullopt;
  return fmt::format(
      "the text is shown as a whole, and is longer than any that the model has learned; translate "
      "splits it into sentences, in {} parts",
      line.parts.size());
}

}  // namespace attn
