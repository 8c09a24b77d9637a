// What of attention is shown, and where it is written, as typed on translate's command line.
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

/// What a reader of the heads' figures can do with them.
inline constexpr const char* align_note =
    "translate --align takes a head's name, or read:LAYER:HEAD, average, layer:LAYER, rollout.";

struct ViewOptions {
  std::vector<std::string> show;
  bool words = false, pieces = false, numbers = false;
  std::optional<int> top;
  std::size_t hypothesis = 1;  ///< of the n best, counted from 1
  std::string json, svg, png, pdf, csv, html;
  double png_scale = 2;
  bool vectors = false, tree = false;
  bool report = false;
  std::string align;
  std::optional<float> align_least;
  bool align_weights = false;
  const CLI::Option* png_scale_option = nullptr;
  const CLI::Option* align_option = nullptr;  ///< may be given without a value: the best head

  void add_to(CLI::App& command);        ///< all of them
  void add_maps_to(CLI::App& command);   ///< what the terminal shows of maps, and which are drawn
  void add_files_to(CLI::App& command);  ///< what can be made of saved records, too

  /// UsageError where two of them contradict each other or a value is none.
  void check() const;

  /// What is written as one file, or as the first of several; "-" is stdout, empty is not asked
  /// for.
  std::array<const std::string*, 5> files() const { return {&json, &html, &svg, &png, &pdf}; }
  /// How the terminal draws maps, but for what the default leaves out.
  MapTextOptions map_text() const;
  /// Whether something is written to stdout instead of the translations.
  bool stdout_alone() const;
  /// Whether any of them but --show needs a record of the sentence. Then the terminal shows no maps
  /// unless --show asks for some.
  bool need_records() const;
  bool aligns() const;
  bool draws() const { return pictures() || !csv.empty() || !html.empty(); }
  bool pictures() const { return !svg.empty() || !png.empty() || !pdf.empty(); }
  /// What records hold beside the maps. UsageError where a search tree is asked for and the search
  /// has one beam alone.
  RecordDetail detail(int beams) const;
  /// Nothing where no word alignment is asked for.
  std::optional<AlignmentOptions> alignment() const;
  std::size_t hypothesis_index() const { return hypothesis - 1; }  ///< counted from 0
};

}  // namespace attn
