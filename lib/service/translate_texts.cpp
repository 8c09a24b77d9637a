#include "service/translate_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/keep_patterns.h"
#include "markup/placement.h"
#include "markup/stand_ins.h"
#include "markup/text_layout.h"
#include "service/field_text.h"
#include "service/marked_line.h"

namespace attn {
namespace {

/// A text split into segments, and the translations of the segments.
struct PendingText {
  MarkedText marked;
  std::size_t invalid_bytes = 0, controls = 0;      ///< replaced in the text
  std::vector<std::vector<LineTranslation>> found;  ///< translations of each segment
};

PendingText take_apart(const std::string& text, const TextSettings& settings) {
  PendingText pending;
  if (!settings.html && !settings.keep && is_one_plain_line(text)) {
    pending.marked.segments.emplace_back().text = text;
  } else {
    const CleanedMarkup clean = clean_markup(text);
    pending.invalid_bytes = clean.invalid_bytes;
    pending.controls = clean.controls;
    pending.marked = settings.html ? read_html(clean.text, settings.keep)
                                   : read_plain_text(clean.text, settings.keep);
    // A line with punctuation but no words is translated by the model, unless markup was removed
    // from it.
    if (pending.marked.segments.empty()) {
      const bool plain = !settings.html && pending.marked.counts.placeholders == 0 &&
                         pending.marked.counts.tags == 0;
      const std::vector<LayoutLine> lines = split_text(pending.marked.tail);
      MarkedSegment& segment = pending.marked.segments.emplace_back();
      if (plain && lines.size() == 1) {
        segment.before = lines.front().before;
        segment.text = lines.front().content;
        pending.marked.tail = std::string(lines.front().after);
      } else {
        segment.before = std::exchange(pending.marked.tail, {});
      }
    }
  }
  pending.found.resize(pending.marked.segments.size());
  return pending;
}

/// A segment of a text.
struct SegmentIndex {
  std::size_t text = 0;
  std::size_t segment = 0;
};

/// Reports a line. The first line of a text also reports what was replaced in all of it.
void note_line(const TextHooks& hooks, std::size_t text, PendingText& pending,
               const PreparedLine& line) {
  const std::size_t invalid = std::exchange(pending.invalid_bytes, 0);
  const std::size_t controls = std::exchange(pending.controls, 0);
  if (invalid + controls == 0) return hooks.prepared(text, line);
  PreparedLine noted = line;
  noted.parts.front().invalid_bytes += invalid;
  noted.parts.front().controls += controls;
  hooks.prepared(text, noted);
}

/// Translates the segments of all texts.
class SegmentTranslator {
 public:
  SegmentTranslator(const Translator& translator, const TranslationSettings& settings,
                    const TextSettings& text_settings, const TextHooks& hooks)
      : translator_(translator), settings_(settings), options_(text_settings), hooks_(hooks) {}

  SegmentTranslator with_hooks(const TextHooks& hooks) const {
    return {translator_, settings_, options_, hooks};
  }

  /// Translates all segments that have no translations yet.
  void translate(std::vector<PendingText>& texts) const {
    translate_plain(texts);
    translate_marked(texts);
  }

 private:
  /// Translates all segments without inner markup together.
  void translate_plain(std::vector<PendingText>& texts) const {
    const std::vector<SegmentIndex> segments = segments_of(texts, false);
    if (segments.empty()) return;
    std::vector<std::string> lines;
    for (const SegmentIndex& index : segments) {
      lines.push_back(texts[index.text].marked.segments[index.segment].text);
    }
    LineHooks line_hooks{.prepared = nullptr, .searched = hooks_.searched};
    std::size_t next = 0;
    if (hooks_.prepared) {
      line_hooks.prepared = [&](const PreparedLine& line) {
        hooks_.prepared(segments[next++].text, line);
      };
    }
    auto found = translate_lines(translator_, settings_, lines, options_.lines, line_hooks);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      PendingText& text = texts[segments[i].text];
      const MarkedSegment& segment = text.marked.segments[segments[i].segment];
      for (LineTranslation& each : found[i]) {
        if (!segment.html && segment.items.empty()) break;
        each.text = place_markup(segment, each.text, {});
      }
      text.found[segments[i].segment] = std::move(found[i]);
    }
  }

  /// Translates the segments with inner markup one by one.
  void translate_marked(std::vector<PendingText>& texts) const {
    const std::vector<SegmentIndex> segments = segments_of(texts, true);
    std::size_t done = 0;
    for (const SegmentIndex& index : segments) {
      PendingText& text = texts[index.text];
      text.found[index.segment] = translate_marked(text.marked.segments[index.segment], index.text);
      if (!hooks_.searched) continue;
      const auto fraction = static_cast<double>(++done) / static_cast<double>(segments.size());
      hooks_.searched({done, fraction});
    }
  }

  std::vector<LineTranslation> translate_marked(const MarkedSegment& segment,
                                                std::size_t text) const {
    // Records hold the maps of all heads, so only few are made at a time.
    constexpr std::size_t kMostAtOnce = 8;
    const std::size_t batch = std::min(options_.lines.batch, kMostAtOnce);
    MarkedLine line(segment,
                    prepare_line(translator_, settings_, segment.text, options_.lines.split));
    if (hooks_.prepared) hooks_.prepared(text, line.line());
    const std::span<const PreparedSentence> parts = line.line().parts;
    for (std::size_t first = 0; first < parts.size(); first += batch) {
      const auto next = parts.subspan(first, std::min(batch, parts.size() - first));
      for (AttentionRecord& record : translator_.record({next, settings_})) {
        line.add(std::move(record));
      }
    }
    return line.translations(settings_.decode, options_.alignment);
  }

  static std::vector<SegmentIndex> segments_of(const std::vector<PendingText>& texts,
                                               bool marked_inside) {
    std::vector<SegmentIndex> found;
    for (std::size_t text = 0; text < texts.size(); ++text) {
      const std::vector<MarkedSegment>& segments = texts[text].marked.segments;
      for (std::size_t i = 0; i < segments.size(); ++i) {
        if (!texts[text].found[i].empty()) continue;
        if (segments[i].items_are_outside() != marked_inside) found.push_back({text, i});
      }
    }
    return found;
  }

  const Translator& translator_;
  const TranslationSettings& settings_;
  const TextSettings& options_;
  const TextHooks& hooks_;
};

/// Translates the segments that have placeholders with words in their place, and stores the
/// translations that keep these words.
void translate_with_stand_ins(const SegmentTranslator& translator, const TextHooks& hooks,
                              std::vector<PendingText>& texts) {
  std::vector<SegmentIndex> indices;
  std::vector<StandIns> stand_ins;
  std::vector<PendingText> shadows;  // a text of one segment each
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::vector<MarkedSegment>& segments = texts[text].marked.segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      std::optional<StandIns> made = with_stand_ins(segments[i]);
      if (!made) continue;
      indices.push_back({text, i});
      PendingText& shadow = shadows.emplace_back();
      shadow.marked.segments.push_back(made->segment);
      shadow.found.resize(1);
      stand_ins.push_back(std::move(*made));
    }
  }
  if (indices.empty()) return;
  std::vector<std::optional<PreparedLine>> lines(indices.size());
  const TextHooks own{
      .prepared = [&](std::size_t text, const PreparedLine& line) { lines[text] = line; },
      .searched = hooks.searched};
  translator.with_hooks(own).translate(shadows);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::vector<LineTranslation>& found = shadows[i].found.front();
    const auto keeps = [&](const LineTranslation& each) {
      return keeps_stand_ins(stand_ins[i], each.text);
    };
    if (found.empty() || !std::ranges::all_of(found, keeps)) continue;
    for (LineTranslation& each : found) {
      each.text = restore_placeholders(stand_ins[i], std::move(each.text));
    }
    if (hooks.prepared && lines[i]) hooks.prepared(indices[i].text, *lines[i]);
    texts[indices[i].text].found[indices[i].segment] = std::move(found);
  }
}

/// Notes the terms in text that is copied, such as placeholders: the model does not see them.
void note_copied_terms(const TranslationSettings& settings, const std::vector<PendingText>& texts) {
  if (settings.terms.empty() || !settings.term_note) return;
  for (const PendingText& text : texts) {
    for (const MarkedSegment& segment : text.marked.segments) {
      for (const MarkupItem& item : segment.items) {
        if (!item.placeholder) continue;
        const std::vector<int> counts = count_terms(settings.terms, item.bytes);
        for (std::size_t i = 0; i < counts.size(); ++i) {
          if (counts[i] == 0) continue;
          settings.term_note(segment.text, unfulfilled_note(term_name(settings.terms[i])));
        }
      }
    }
  }
}

// The whole text.

/// One of the best combinations of translations for the first segments.
struct Partial {
  double sum = 0;  ///< sum of log-probabilities
  std::size_t tokens = 0;
  float score = 0;
  std::size_t before = 0;  ///< index of the combination that it extends
  std::size_t rank = 0;    ///< rank of the segment's translation that it adds
};

/// Returns the translations of a text with their scores, each combined from one translation per
/// segment. The result is that of join_parts(), in time linear in the number of segments.
std::vector<LineTranslation> join_segments(const std::vector<std::vector<LineTranslation>>& found,
                                           const DecodeConfig& decode) {
  std::vector<std::vector<Partial>> steps{{Partial{}}};
  for (const std::vector<LineTranslation>& segment : found) {
    std::vector<Partial> longer;
    for (std::size_t b = 0; b < steps.back().size(); ++b) {
      for (std::size_t rank = 0; rank < segment.size(); ++rank) {
        const LineTranslation& part = segment[rank];
        Partial next{steps.back()[b].sum, steps.back()[b].tokens + part.tokens,
                     steps.back()[b].score, b, rank};
        if (part.tokens > 0) {
          next.sum +=
              part.score * length_penalty_divisor(to_index(part.tokens), decode.length_penalty);
          next.score = next.tokens == part.tokens
                           ? part.score
                           : hypothesis_score(static_cast<float>(next.sum), next.tokens,
                                              decode.length_penalty);
        }
        longer.push_back(next);
      }
    }
    std::ranges::stable_sort(longer, std::ranges::greater{}, &Partial::score);
    longer.resize(std::min(longer.size(), to_size(decode.num_return_sequences)));
    steps.push_back(std::move(longer));
  }
  std::vector<LineTranslation> joined;
  for (std::size_t way = 0; way < steps.back().size(); ++way) {
    LineTranslation& line = joined.emplace_back();
    line.tokens = steps.back()[way].tokens;
    line.score = steps.back()[way].score;
    line.ranks.resize(found.size());
    std::size_t at = way;
    for (std::size_t i = found.size(); i > 0; --i) {
      line.ranks[i - 1] = steps[i][at].rank;
      at = steps[i][at].before;
    }
  }
  return joined;
}

std::vector<LineTranslation> put_together(PendingText& text, const DecodeConfig& decode) {
  const std::vector<MarkedSegment>& segments = text.marked.segments;
  std::vector<LineTranslation> joined;
  if (segments.size() == 1) {
    joined = std::move(text.found.front());
    for (LineTranslation& each : joined) {
      each.text = segments.front().before + each.text + text.marked.tail;
    }
    return joined;
  }
  joined = join_segments(text.found, decode);
  for (LineTranslation& each : joined) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      each.text += segments[i].before + text.found[i][each.ranks[i]].text;
    }
    each.text += text.marked.tail;
  }
  return joined;
}

}  // namespace

TextSettings text_settings(const SearchOptions& given, const LineSettings& lines) {
  TextSettings settings{lines, given.html_input};
  if (!given.keep.empty()) {
    const auto patterns =
        for_field("keep", [&] { return std::make_shared<const KeepPatterns>(given.keep); });
    settings.keep = [patterns](std::string_view text) { return patterns->find(text); };
  }
  return settings;
}

std::vector<TranslatedText> translate_texts(const Translator& translator,
                                            const TranslationSettings& settings,
                                            const std::vector<std::string>& texts,
                                            const TextSettings& text_settings,
                                            const TextHooks& hooks) {
  std::vector<PendingText> pending;
  for (const std::string& text : texts) pending.push_back(take_apart(text, text_settings));
  TextHooks noting = hooks;
  if (hooks.prepared) {
    noting.prepared = [&](std::size_t text, const PreparedLine& line) {
      note_line(hooks, text, pending[text], line);
    };
  }
  const SegmentTranslator segments(translator, settings, text_settings, noting);
  note_copied_terms(settings, pending);
  translate_with_stand_ins(segments, noting, pending);
  segments.translate(pending);
  std::vector<TranslatedText> translated;
  for (PendingText& text : pending) {
    translated.push_back({put_together(text, settings.decode), text.marked.counts});
  }
  return translated;
}

std::string markup_note(const MarkupCounts& counts) {
  const auto count = [](std::size_t number, const char* what) {
    return number == 0 ? std::string()
                       : fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const std::string tags = count(counts.tags, "tag");
  const std::string placeholders = count(counts.placeholders, "placeholder");
  if (tags.empty() && placeholders.empty()) return "";
  return fmt::format("{}{}{} kept: taken out before the translation and put back into it", tags,
                     tags.empty() || placeholders.empty() ? "" : " and ", placeholders);
}

}  // namespace attn
