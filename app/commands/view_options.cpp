#include "commands/view_options.h"
#include "commands/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "raster/svg_export.h"
#include "translate/recorder.h"

namespace attn {

void ViewOptions::add_maps_to(CLI::App& command) {
  command
      .add_option("--show", show,
                  "Maps to print: a kind (encoder, decoder, cross), a head (cross:2:1), a mean "
                  "(cross:2:mean), another measure (cross:2:1@value, cross:2@alti), best, all or "
                  "none [best]")
      ->type_name("KIND[:LAYER[:HEAD]]")
      ->take_all()
      ->allow_extra_args(false)
      ->group(help_group::terminal);
  command
      .add_flag("--words", words,
                "Maps by whole words, on the terminal and in files; --json holds both")
      ->group(help_group::terminal);
  command.add_flag("--pieces", pieces, "Maps by tokens even if only words fit the window's height")
      ->group(help_group::terminal);
  add_number(command, top, WholeField{"top", 1, 10'000},
             "List each row's N largest weights instead of printing a grid")
      ->type_name("N")
      ->group(help_group::terminal);
  command
      .add_flag("--numbers", numbers,
                "Print numbers even if a map is too wide and has to be folded")
      ->group(help_group::terminal);
  add_number(command, hypothesis, WholeField{"hypothesis", 1, 1'000'000},
             "Which of the n best translations the maps, pictures and --report show [1]")
      ->type_name("N")
      ->group(help_group::terminal);
}

void ViewOptions::add_files_to(CLI::App& command) {
  const auto file = [&](const char* name, std::string& value, const char* text) {
    command.add_option(name, value, text)->type_name("FILE")->group(help_group::files);
  };
  file("--html", html, "Write a page to look at in a browser");
  file("--svg", svg, "Draw all heads of the kind that --show names, one of them large [cross]");
  file("--png", png, "The same picture as PNG");
  file("--pdf", pdf, "The same picture as PDF, with vector graphics and text");
  png_scale_option =
      add_number(command, png_scale, DecimalField{"png_scale", min_png_scale, max_png_scale},
                 "PNG pixels per SVG pixel [2]")
          ->type_name("A")
          ->group(help_group::files);
  command.add_option("--csv", csv, "Write the maps as tables into a directory")
      ->type_name("DIR")
      ->group(help_group::files);
}

void ViewOptions::add_to(CLI::App& command) {
  add_maps_to(command);
  command.add_option("--json", json, "Write attention records; - is stdout, with nothing else")
      ->type_name("FILE")
      ->group(help_group::files);
  add_files_to(command);
  command
      .add_flag("--vectors", vectors,
                "Include every query, key and value vector in JSON and pages [only in pages that "
                "stay small]")
      ->group(help_group::files);
  command
      .add_flag(
          "--tree", tree,
          "With --beam: include the search in JSON, pictures and pages [only in pages that stay "
          "small]")
      ->group(help_group::files);
  command
      .add_flag("--why", why,
                "Include in JSON and pages what contributed to each written word's logit [only in "
                "pages that stay small]")
      ->group(help_group::files);
  command
      .add_flag("--report", report,
                "Describe each head by metrics, and name the heads that align best")
      ->group(help_group::terminal);
  command
      .add_option("--align", align,
                  "Word alignments (0-0 1-1 ...) by the best head, or: average, layer:LAYER, "
                  "cross:LAYER:HEAD, read:LAYER:HEAD, rollout")
      ->type_name("[FROM]")
      ->expected(0, 1)
      ->group(help_group::terminal);
  align_option = command.get_option("--align");
  command.add_flag("--align-weights", align_weights, "Alignments with weights: 0-0:0.93")
      ->group(help_group::terminal);
  add_number(command, align_least, DecimalField{"align_least", 0, 1},
             "Also link every pair of words with at least this weight")
      ->type_name("A")
      ->group(help_group::terminal);
}

void ViewOptions::check() const {
  int on_stdout = 0;
  for (const std::string* file : files()) on_stdout += *file == "-" ? 1 : 0;
  if (on_stdout > 1) {
    throw UsageError(
        "only one of --json, --svg, --png, --pdf and --html can write to stdout; name files for "
        "the others");
  }
  if (csv == "-") throw UsageError("--csv -: expected a directory, since there are five tables");
  if (png.empty() && png_scale_option->count() > 0) throw UsageError("--png-scale needs --png");
  if (!aligns() && (align_weights || align_least)) {
    throw UsageError("{} needs --align", align_weights ? "--align-weights" : "--align-least");
  }
  if (tree && !pictures() && json.empty() && html.empty()) {
    throw UsageError("--tree needs --svg, --png, --pdf, --json or --html, which show the search");
  }
  if (vectors && json.empty() && html.empty()) {
    throw UsageError("--vectors needs --json or --html");
  }
  if (why && json.empty() && html.empty()) {
    throw UsageError("--why needs --json or --html; attn-demo why prints the same receipts");
  }
  check_png_scale(png_scale);
  if (numbers && top) {
    throw UsageError("leave --numbers out: --top already shows numbers");
  }
  if (words && pieces) throw UsageError("--words and --pieces exclude each other; choose one");
  alignment();
}

bool ViewOptions::aligns() const {
  return align_option != nullptr && align_option->count() > 0;
}

bool ViewOptions::stdout_alone() const {
  const auto all = files();
  return std::any_of(all.begin(), all.end(), [](const std::string* file) { return *file == "-"; });
}

bool ViewOptions::need_records() const {
  return !json.empty() || draws() || report || aligns();
}

MapTextOptions ViewOptions::map_text() const {
  MapTextOptions options;
  options.numbers = numbers;
  if (top) options.top = *top;
  return options;
}

RecordDetail ViewOptions::detail(int beams) const {
  if (tree && beams == 1) {
    throw UsageError("--tree shows a search with several beams; add --beam 4");
  }
  const bool records = !json.empty() || !html.empty();
  return {vectors || !html.empty(), tree || (!html.empty() && beams > 1),
          records ? recorded_alternatives : 0};
}

std::optional<AlignmentOptions> ViewOptions::alignment() const {
  if (!aligns()) return std::nullopt;
  AlignmentOptions options;
  if (!align.empty()) {
    options.choice = for_field("align", [&] { return parse_alignment_method(align); });
  }
  if (align_least) options.least = *align_least;
  return options;
}

}  // namespace attn
