// Attention maps on a terminal: names and numbers of the tokens on both axes, several heads side by
// side. Weights are numbers where a map fits in the window and shades where it does not.
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
  bool numbers = false;  ///< always show numbers; a map that is too wide is folded
  int top = 0;  ///< greater than 0: list this many largest weights of each row instead of a grid
  /// Printed after the explanation of the shades, which is shortened for it.
  std::string_view note = {};
};

struct MapText {
  std::string text;   ///< ends with a newline if anything was drawn
  int last_line = 0;  ///< columns of the last line; 0: nothing may be appended to it
  int lines = 0;      ///< number of lines of the text
  /// Lines left over below a map that is shown alone; negative: it has more lines than allowed.
  std::optional<int> spare_lines = {};

  /// Appends a sentence to the last line if `width` columns suffice, otherwise on lines of its own.
  void add_sentence(std::string_view sentence, int width);
};

/// Draws the chosen maps as text, in their order: a line that explains rows and columns, the maps
/// of one attention site under their names, and finally a line that explains the shades. If a map
/// that is shown alone would be longer than `style.height`, which limits the whole text, two of its
/// rows share a line. No line is wider than the window, or than 40 columns if the window is
/// narrower. `shown` must come from the same record and hypothesis.
MapText render_maps(const AttentionRecord& record, std::size_t hypothesis,
                    const std::vector<ShownMaps>& shown, const TerminalStyle& style,
                    const MapTextOptions& options = {});

}  // namespace attn
