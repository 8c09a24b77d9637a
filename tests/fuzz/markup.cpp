// Fuzzes text with markup: HTML and plain text are split, and put together with any translation.
#include <algorithm>

#include "markup/html_tokenizer.h"
#include "markup/marked_text.h"
#include "markup/placement.h"
#include "markup/stand_ins.h"
#include "markup/text_layout.h"

#include "fuzz.h"

using namespace attn;

namespace {

/// True for whitespace, which a translation need not have at the same places.
bool may_be_left_out(const MarkupItem& item) {
  return item.type == ItemType::space || std::ranges::all_of(item.bytes, is_ascii_space);
}

/// Returns links between bytes of a segment's text and of its translation.
std::vector<AlignedSpan> links_of(std::string_view bytes, const MarkedSegment& segment,
                                  std::string_view translation) {
  std::vector<AlignedSpan> spans;
  constexpr std::size_t kMost = 64;
  for (std::size_t i = 0; i + 1 < bytes.size() && i < kMost; i += 2) {
    const std::size_t from = byte_value(bytes[i]) % (segment.text.size() + 1);
    const std::size_t to = byte_value(bytes[i + 1]) % (translation.size() + 1);
    spans.push_back({to, std::min(to + 3, translation.size()), from,
                     std::min(from + 4, segment.text.size()), 0.5F});
  }
  return spans;
}

/// Translates a segment with words in the place of its placeholders.
void check_stand_ins(const MarkedSegment& segment, const std::string& translation,
                     std::string_view links) {
  const std::optional<StandIns> made = with_stand_ins(segment);
  if (!made) return;
  std::string words = translation;
  for (const auto& [word, placeholder] : made->words) {
    fuzz::require(segment.text.find(word) == segment.text.npos, "the word is new");
    words = word + " " + words;
  }
  for (const MarkupItem& item : made->segment.items) {
    fuzz::require(item.offset <= made->segment.text.size(), "items are in the text");
  }
  if (!keeps_stand_ins(*made, words)) return;  // the translation has such words
  const std::string out = restore_placeholders(
      *made, place_markup(made->segment, words, links_of(links, made->segment, words)));
  for (const MarkupItem& item : segment.items) {
    if (may_be_left_out(item)) continue;
    fuzz::require(out.find(item.bytes) != out.npos, "all markup is in the result");
  }
}

/// Puts a text together; `links` also aligns it.
void check(const MarkedText& text, std::string_view source, std::string_view translation,
           std::string_view links) {
  std::size_t markup = 0;  // bytes that must be in the result
  std::string out;
  for (const MarkedSegment& segment : text.segments) {
    fuzz::require(is_valid_utf8(segment.text), "a segment is UTF-8");
    fuzz::require(has_words(segment.text), "a segment has words");
    for (const MarkupItem& item : segment.items) {
      fuzz::require(item.offset <= segment.text.size(), "items are in the text");
      fuzz::require(source.find(item.bytes) != source.npos, "items are bytes of the source");
      if (!may_be_left_out(item)) markup += item.bytes.size();
    }
    check_stand_ins(segment, std::string(translation), links);
    out +=
        segment.before + place_markup(segment, translation, links_of(links, segment, translation));
  }
  out += text.tail;
  fuzz::require(is_valid_utf8(out), "the result is UTF-8");
  fuzz::require(out.size() >= markup, "all markup is in the result");
}

}  // namespace

FUZZ(bytes) {
  const std::string_view raw = fuzz::take_part(bytes);
  const std::string translation = clean_text(fuzz::take_part(bytes)).text;
  const std::string source = clean_markup(raw).text;
  std::string tokens;
  for (const HtmlToken& token : tokenize_html(source)) tokens += token.bytes;
  fuzz::require(tokens == source, "HTML's tokens are the source");
  std::string lines;
  for (const LayoutLine& line : split_text(source)) {
    lines += std::string(line.before) + std::string(line.content) + std::string(line.after);
  }
  fuzz::require(lines == source, "a text's lines are the text");
  check(read_html(source), source, translation, bytes);
  check(read_plain_text(source), source, translation, bytes);
}
