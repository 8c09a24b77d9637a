// The options for showing attention and writing it to files, as typed on translate's command line.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/alignment.h"
#include "analysis/map_selection.h"
#include "translate/translator.h"
#include "view/terminal/map/map_text.h"

namespace attn {

/// A hint for readers of head statistics.
inline constexpr const char* align_note =
    "translate --align takes a head's name, or read:LAYER:HEAD, average, layer:LAYER, rollout.";

struct ViewOptions {
  std::vector<std::string> show;
  bool words = false, pieces = false, numbers = false;
  std::optional<int> top;
  std::size_t hypothesis = 1;  ///< in the n-best list, from 1
  std::string json, svg, png, pdf, csv, html;
  double png_scale = 2;
  bool vectors = false, tree = false, why = false;
  bool report = false;
  std::string align;
  std::optional<float> align_least;
  bool align_weights = false;
  const CLI::Option* png_scale_option = nullptr;
  const CLI::Option* align_option = nullptr;  ///< its value is optional; default: the best head

  void add_to(CLI::App& command);        ///< all of them
  void add_maps_to(CLI::App& command);   ///< which maps the terminal shows and which are drawn
  void add_files_to(CLI::App& command);  ///< outputs that saved records also support

  /// Throws UsageError if options contradict each other or a value is invalid.
  void check() const;

  /// Returns the outputs that are one file, or the first of several; "-" is stdout, empty means not
  /// requested.
  std::array<const std::string*, 5> files() const { return {&json, &html, &svg, &png, &pdf}; }
  /// Returns how the terminal draws maps, except for limits of the default selection.
  MapTextOptions map_text() const;
  /// True if stdout gets something other than the translations.
  bool stdout_alone() const;
  /// True if any option but --show needs a record of the sentence. In that case the terminal shows
  /// maps only if --show asks for them.
  bool need_records() const;
  bool aligns() const;
  bool draws() const { return pictures() || !csv.empty() || !html.empty(); }
  bool pictures() const { return !svg.empty() || !png.empty() || !pdf.empty(); }
  /// Returns the contents of records besides the maps. Throws UsageError if a search tree is
  /// requested but there is only one beam.
  RecordDetail detail(int beams) const;
  /// Returns nothing if no word alignment is requested.
  std::optional<AlignmentOptions> alignment() const;
  std::size_t hypothesis_index() const { return hypothesis - 1; }  ///< from 0
};

}  // namespace attn
