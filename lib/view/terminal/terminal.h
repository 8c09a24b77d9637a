// Attention maps on a terminal: a grid with the tokens on both axes, weights to two decimals, cells
// shaded by weight, wide maps folded to the window.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/head_name.h"
#include "record/attention_record.h"

namespace attn {

enum class ColorMode { none, shades_256, true_color };

struct TerminalStyle {
  int width = 80;  ///< columns of the window
  ColorMode color = ColorMode::none;
};

/// One --show argument after parsing.
using ShowItem = HeadName;

struct ShowSelection {
  bool all = false;             ///< every layer and head of every kind
  bool last_layers = true;      ///< the default: the last layer's heads of each kind
  std::vector<ShowItem> items;  ///< used when neither of the above is set; empty: show nothing
};

/// Parses the --show arguments: "encoder", "decoder:1", "cross:0:3", "all", "none". Numbers are
/// plain decimals. UsageError naming the bad argument and the form expected.
ShowSelection parse_show(const std::vector<std::string>& arguments);

/// UsageError where the selection names a layer or head that the record does not have
/// ("--show cross:3: layer 3 is asked for, but the model's decoder has layers 0 to 2").
void check_show(const ShowSelection& selection, const ModelSummary& model);

/// The chosen maps of one hypothesis (and the encoder's) as text, each headed by one line saying
/// which kind, layer and head it is; in the order encoder, decoder, cross, each map once. Ends with
/// a newline where anything was drawn. No line is wider than the window, or than 40 columns in a
/// narrower one. Without that hypothesis in the record, only the encoder's maps are drawn.
std::string render_maps(const AttentionRecord& record, std::size_t hypothesis,
                        const ShowSelection& selection, const TerminalStyle& style);

}  // namespace attn
