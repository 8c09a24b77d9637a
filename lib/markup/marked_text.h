// Text with markup, taken apart: the text that a model translates, and what it must not see.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "markup/placeholders.h"

namespace attn {

enum class ItemType {
  open,   ///< begins an element: "<b>", "**"
  close,  ///< ends one
  point,  ///< is at a single position: a void element, a comment, a placeholder
  space,  ///< whitespace other than one space: a line break, "&nbsp;"
};

/// A piece of markup in a segment.
struct MarkupItem {
  ItemType type = ItemType::point;
  std::string bytes;
  std::size_t offset = 0;                          ///< in MarkedSegment::text
  bool placeholder = false;                        ///< text for a reader, unlike a tag
  bool space_before = false, space_after = false;  ///< in the source
  /// For `open` and `close`: the index of the other one, if it is in this segment too; else −1.
  int partner = -1;
};

/// A part of a text that is translated by itself: a line, or what is between two blocks of HTML.
struct MarkedSegment {
  std::string before;             ///< what is copied before it
  std::string text;               ///< without markup, and with characters instead of entities
  std::vector<MarkupItem> items;  ///< in the order of the source
  bool html = false;              ///< `text` must be escaped
  /// The entities with which the source wrote characters, by character.
  std::map<std::string, std::string> entities = {};
  bool bare_ampersand = false;  ///< true if the source has "&" that is not part of an entity

  /// True if all items are before or after all text, so that no alignment is needed.
  bool items_are_outside() const;
};

/// Counts of the markup in a text.
struct MarkupCounts {
  std::size_t tags = 0;  ///< and comments, and delimiters of Markdown
  std::size_t placeholders = 0;
  void operator+=(const MarkupCounts& more) {
    tags += more.tags;
    placeholders += more.placeholders;
  }
};

struct MarkedText {
  std::vector<MarkedSegment> segments;  ///< with text that has a letter or a digit
  std::string tail;                     ///< copied after the last segment
  MarkupCounts counts;                  ///< of all of it
};

/// Splits HTML into segments. `html` must be clean (clean_markup()). An empty line ends a segment,
/// as tags of blocks do; other line breaks are whitespace.
MarkedText read_html(std::string_view html, const SpanFinder& keep = nullptr);

/// Takes plain text apart: lines, placeholders and Markdown. `text` must be clean. Segments whose
/// line has no markup have no items and the bytes of the line.
MarkedText read_plain_text(std::string_view text, const SpanFinder& keep = nullptr);

/// True if the text has a letter or digit of any script: something to translate.
bool has_words(std::string_view text);

/// True if read_plain_text() returns the text as one segment with nothing around and in it: a quick
/// check that may miss such texts.
bool is_one_plain_line(std::string_view text);

/// A text whose markup can be copied into a translation.
struct CleanedMarkup {
  std::string text;  ///< valid UTF-8 without control characters except tabs and line ends
  std::size_t invalid_bytes = 0;  ///< as in CleanedText
  std::size_t controls = 0;
};
CleanedMarkup clean_markup(std::string_view bytes);

}  // namespace attn
