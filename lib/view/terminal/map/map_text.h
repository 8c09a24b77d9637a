// Attention maps on a terminal: names and numbers of the tokens on both axes, weights as numbers
// where a map fits in the window and as shades where it does not, heads side by side.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/terminal/styled_text.h"

namespace attn {

struct MapTextOptions {
  bool numbers = false;  ///< numbers in any case; a map that is too wide is folded
  int top = 0;           ///< more than 0: not a grid, but each row's so many largest weights
  bool brief = false;    ///< leaves out what would need too many lines
  /// Stands behind what the shades mean, which is shorter for it.
  std::string_view note = {};
};

/// Maps of a kind that a brief text has no room for.
struct OmittedMaps {
  AttentionSite site = AttentionSite::cross;
  std::size_t maps = 0;
  bool heads = true;  ///< all of them; else some stand beside a head's (E, exact, …)
};

struct MapText {
  std::string text;  ///< ends with a newline where anything was drawn
  std::vector<OmittedMaps> left_out;
  int last_line = 0;  ///< columns of the last line; 0: nothing goes behind it
  int lines = 0;      ///< of the text
  /// How many lines a map that is shown alone leaves of those it may have; negative: it has more.
  std::optional<int> spare_lines = {};

  /// On the last line if it has room in `width` columns, else on lines of its own.
  void add_sentence(std::string_view sentence, int width);
};

/// The chosen maps as text, in their order: a line that says what rows and columns are, the maps of
/// a kind under their names, and at the end a line that says what shades mean. A brief text has at
/// most 100 lines, and where several rows of maps are shown at most 56, or 48 in windows of 120
/// columns and more. A map that is shown alone shares lines between rows where it would have more
/// than `style.height`, the text's most. No line is wider than the window, or than 40 columns in a
/// narrower one. `shown` is of the same record and hypothesis.
MapText render_maps(const AttentionRecord& record, std::size_t hypothesis,
                    const std::vector<ShownMaps>& shown, const TerminalStyle& style,
                    const MapTextOptions& options = {});

}  // namespace attn
