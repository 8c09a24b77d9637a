#include "view/terminal/map/map_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "view/map_labels.h"
#include "view/terminal/map/map_cells.h"
#include "view/terminal/map/map_grid.h"
#include "view/terminal/map/map_lists.h"

namespace attn {
namespace {

constexpr int few_lines = 2;             // lines of names above columns
constexpr int estimated_maps = 3;        // estimated, exact, and their difference
constexpr int lines_without_names = 20;  // after this many lines the column names are repeated

struct SiteText {
  std::string_view by_tokens;
  std::string_view by_words;
};

/// Describes the rows and columns of each site, in the order of AttentionSite.
constexpr std::array<SiteText, 3> kinds = {{
    {"Encoder self-attention: each source token (row) looks at all source tokens.",
     "Encoder self-attention: each source word (row) looks at all source words."},
    {"Decoder self-attention: each step looks at the tokens read so far; · is masked.",
     "Decoder self-attention: the steps that write a word look at those read so far."},
    {"Cross-attention: each step (reads → writes) looks at the source tokens.",
     "Cross-attention: the steps that write a word (row) look at the source words."},
}};

/// For the encoder if a sparse pattern leaves keys out.
constexpr SiteText patterned = {
    "Encoder self-attention: each source token (row) looks at those of its pattern.",
    "Encoder self-attention: each source word (row) looks at those of its pattern."};

std::string site_line(const ShownMaps& shown, const AttentionMaps& of, int width) {
  if (of.has_projected_keys()) {
    return wrap_words(
        fmt::format("Encoder self-attention: each source {} (row) looks at {} mixtures "
                    "of all tokens.",
                    shown.by_words ? "word" : "token", of.keys),
        width);
  }
  const bool pattern = std::any_of(shown.maps.begin(), shown.maps.end(), [](const ShownMap& map) {
    return std::find(map.uncomputed.begin(), map.uncomputed.end(), 1) != map.uncomputed.end();
  });
  const bool encoder = shown.site == AttentionSite::encoder_self;
  if (pattern && of.hashed(0, 0) != nullptr) {
    return wrap_words(fmt::format("Encoder self-attention: each source {0} (row) looks at the {0}s "
                                  "with a similar hash.",
                                  shown.by_words ? "word" : "token"),
                      width);
  }
  const SiteText& text = encoder && pattern ? patterned : at(kinds, shown.site);
  return wrap_words(shown.by_words ? text.by_words : text.by_tokens, width);
}

int lines_of(std::string_view text) {
  return to_int(std::count(text.begin(), text.end(), '\n'));
}

/// Returns the maximum number of lines of a map that is shown alone in a text of at most `height`;
/// 0: no limit.
int map_height(const ShownMaps& shown, const AttentionMaps& of, int width, int height) {
  if (height == 0) return 0;
  const int scale = 1;
  return std::max(1, height - lines_of(site_line(shown, of, width)) - scale);
}

/// Renders all maps of one attention site, which share their axes and hence the layout. A row of
/// maps is called a band.
class SiteRenderer {
 public:
  SiteRenderer(const AttentionRecord& record, std::size_t hypothesis, const ShownMaps& shown,
               const MapLayoutRequest& room, const MapTextOptions& how)
      : shown_(shown),
        maps_(*find_maps(record, shown.site, hypothesis)),
        axes_(map_axes(record, hypothesis, shown)),
        layout_(plan_maps(axes_, below_hint(room))) {
    if (how.top > 0) top_ = plan_top_weights(axes_, room, how.top);
    const auto maps = to_int(shown.maps.size());
    const int maps_across = top_ ? top_->maps_across : layout_.maps_across;
    // Fill all bands equally; keep an exact map beside its estimate.
    const int bands = (maps + maps_across - 1) / maps_across;
    in_band_ = (maps + bands - 1) / bands;
    const bool estimated = maps > 1 && shown.maps[1].part == MapPart::exact;
    if (estimated && maps_across >= estimated_maps) {
      in_band_ =
          std::min(maps_across, in_band_ + estimated_maps - 1) / estimated_maps * estimated_maps;
    }
  }

  AttentionSite site() const { return shown_.site; }
  const MapLayout& layout() const { return layout_; }
  /// Returns a line that explains the shades of the maps; empty if they have none.
  TextLine scale(bool sums, ColorMode color, int width) const {
    if (top_) return {};
    const bool all_sum = sums && outside_keys() == nullptr && !has_signs(shown_.maps);
    return shade_legend_line({layout_.form, layout_.cell_width, all_sum}, color, width);
  }

  /// Returns sentences that explain the symbols of a sparse pattern, and where the rest of a row's
  /// weight went.
  std::vector<std::string> pattern_sentences(ColorMode color) const {
    std::vector<std::string> sentences;
    const std::vector<ShownMap>& drawn = shown_.maps;
    const bool marks =
        !top_ && std::any_of(drawn.begin(), drawn.end(),
                             [this](const ShownMap& map) { return leaves_out(map); });
    if (marks && layout_.form != CellStyle::half_blocks) {
      sentences.emplace_back("- is not computed: the pattern leaves it out.");
    } else if (marks && color != ColorMode::none) {
      sentences.emplace_back("What is unpainted is not computed.");
    }
    add_beside(sentences, drawn);
    if (has_signs(drawn) && color != ColorMode::none) {
      sentences.emplace_back("Warm colours: below 0.");
    } else if (has_signs(drawn) && layout_.form == CellStyle::shades) {
      sentences.emplace_back("− is below 0.");
    }
    const NonTokenKeys* keys = outside_keys();
    if (keys == nullptr) return sentences;
    float least = 1, most = 0;
    for (const ShownMap& map : drawn) {
      for (const float sum : map.non_token_weights.weights) {
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
    }
    sentences.push_back(
        fmt::format("{} take {:.2f} to {:.2f} of a row.", keys->name_at_start, least, most));
    return sentences;
  }

  int bands() const { return (to_int(shown_.maps.size()) + in_band_ - 1) / in_band_; }

  void render(ColorMode color, int width, std::string& out) const {
    if (!out.empty()) out += '\n';
    out += site_line(shown_, maps_, width);
    for (int band = 0; band < bands(); ++band) {
      if (band > 0) out += '\n';
      const auto first = to_size(band * in_band_);
      const auto maps =
          std::span(shown_.maps)
              .subspan(first, std::min(to_size(in_band_), shown_.maps.size() - first));
      const std::vector<TextLine> lines =
          top_ ? draw_top_weights(axes_, maps, *top_, color)
               : draw_map_grid(axes_, maps, layout_, color, has_heading(band));
      for (const TextLine& line : lines) out += line.trimmed() + '\n';
    }
  }

  /// Appends the buckets of the LSH heads.
  void add_hashes(std::span<const std::string> tokens, int width, std::string& out) const {
    for (const ShownMap& map : shown_.maps) {
      if (!map.name.layer || !map.name.head || maps_.hashed(0, 0) == nullptr) continue;
      out += '\n' + lsh_bucket_text(maps_, map.name, tokens, width);
    }
  }

  /// True if a title says "best" without room to explain it.
  bool cuts_best() const {
    if (top_) return false;
    const int room =
        layout_.heading == ColumnHeading::numbers_only ? layout_.rows.width - 1 : layout_.map_width;
    return std::ranges::any_of(shown_.maps, [&](const ShownMap& map) {
      return map.best && display_width(to_string(map.name).append(aligns_best)) > room;
    });
  }

  bool has_continuations() const { return !shown_.by_words && axes_.labels.has_continuations(); }

 private:
  int rows() const { return to_int(axes_.labels.inputs.size()); }
  /// Reserves a line for the explanation of continuations.
  MapLayoutRequest below_hint(MapLayoutRequest room) const {
    if (room.height > 1 && has_continuations()) --room.height;
    return room;
  }

  /// True if the column names are drawn above a band: always above the first, above others if the
  /// names need few lines or the last ones are far away.
  bool has_heading(int band) const {
    if (layout_.heading_lines <= few_lines) return true;
    const int apart = std::max(1, lines_without_names / (layout_.lines(rows(), false) + 1));
    return layout_.blocks > 1 || band % apart == 0;
  }

  /// Explains the numbers of Performer and Linformer.
  void add_beside(std::vector<std::string>& sentences, std::span<const ShownMap> drawn) const {
    double missed = 0;
    int counted = 0;
    for (const ShownMap& map : drawn) {
      if (map.part != MapPart::difference) continue;
      for (const float part : map.weights) missed += std::max(0.0, -static_cast<double>(part));
      counted += rows();
    }
    if (counted > 0) {
      sentences.push_back(fmt::format(
          "{} weights are what random features make of the exact ones; of a row's, "
          "{:.2f} lie elsewhere on average.",
          shown_.site == AttentionSite::encoder_self ? "Encoder" : "Decoder", missed / counted));
    }
    if (!has_part(drawn, MapPart::projected_keys)) return;
    sentences.push_back(
        fmt::format("E: how much of a token is in a mixture's key{}.",
                    has_part(drawn, MapPart::projected_values) ? "; F: in its value" : ""));
  }

  static bool has_part(std::span<const ShownMap> maps, MapPart part) {
    return std::any_of(maps.begin(), maps.end(),
                       [part](const ShownMap& map) { return map.part == part; });
  }
  static bool has_signs(std::span<const ShownMap> maps) {
    return std::any_of(maps.begin(), maps.end(), [](const ShownMap& map) {
      return map.part != MapPart::weights && map.part != MapPart::exact;
    });
  }
  /// Returns the keys outside the columns that rows attend to; null: none.
  const NonTokenKeys* outside_keys() const {
    const auto map = std::find_if(shown_.maps.begin(), shown_.maps.end(),
                                  [](const ShownMap& one) { return one.non_token_weights.any(); });
    return map == shown_.maps.end() ? nullptr : map->non_token_weights.keys;
  }
  /// True if a cell is left out that no mask hides.
  bool leaves_out(const ShownMap& map) const {
    const std::size_t columns = axes_.labels.columns.size();
    for (std::size_t i = 0; i < map.uncomputed.size(); ++i) {
      if (axes_.labels.is_left_out(map.uncomputed, i / columns, i % columns)) return true;
    }
    return false;
  }

  const ShownMaps& shown_;
  const AttentionMaps& maps_;
  MapAxes axes_;
  MapLayout layout_;
  std::optional<TopWeightsLayout> top_;  ///< lists instead of grids
  int in_band_ = 1;
};

/// True if all maps are weights and no head was switched off. Softmax never produces a map of
/// zeros, so any map of zeros belongs to a head that is off.
bool rows_sum_to_1(const std::vector<ShownMaps>& shown) {
  const auto is_off = [](const ShownMap& map) {
    return std::all_of(map.weights.begin(), map.weights.end(), [](float w) { return w == 0; });
  };
  return std::none_of(shown.begin(), shown.end(), [&](const ShownMaps& kind) {
    return std::any_of(kind.maps.begin(), kind.maps.end(), [&](const ShownMap& map) {
      return map.measure || (map.part == MapPart::weights && is_off(map));
    });
  });
}

}  // namespace

void MapText::add_sentence(std::string_view sentence, int width) {
  const int columns = display_width(sentence);
  if (last_line > 0 && last_line + 1 + columns <= width) {
    text.back() = ' ';
    text += std::string(sentence) + '\n';
    last_line += 1 + columns;
  } else {
    text += wrap_words(sentence, std::max(width, min_terminal_width));
    last_line = columns <= width ? columns : 0;
  }
}

MapText render_maps(const AttentionRecord& record, std::size_t hypothesis,
                    const std::vector<ShownMaps>& shown, const TerminalStyle& style,
                    const MapTextOptions& options) {
  const int width = std::max(style.width, min_terminal_width);
  const bool alone = shown.size() == 1 && shown.front().maps.size() == 1;
  std::vector<SiteRenderer> all;
  all.reserve(shown.size());
  for (const ShownMaps& kind : shown) {
    const MapLayoutRequest room{
        width,
        alone ? map_height(kind, *find_maps(record, kind.site, hypothesis), width, style.height)
              : 0,
        to_int(kind.maps.size()), options.numbers};
    all.emplace_back(record, hypothesis, kind, room, options);
  }

  MapText result;
  const std::vector<std::string> tokens = token_labels(record.source.tokens);
  bool continued = false, cuts_best = false;
  std::vector<std::string> sentences;
  const int note = options.note.empty() ? 0 : 1 + display_width(options.note);
  const bool sums = rows_sum_to_1(shown);
  TextLine scale;
  const auto add_scale = [&](TextLine next) {
    if (scale.columns > 0 && scale.text != next.text) result.text += scale.trimmed() + "\n";
    scale = std::move(next);
  };
  for (const SiteRenderer& kind : all) {
    add_scale(kind.scale(sums, style.color, width - note));
    kind.render(style.color, width, result.text);
    kind.add_hashes(tokens, width, result.text);
    continued = continued || kind.has_continuations();
    cuts_best = cuts_best || kind.cuts_best();
    for (std::string& sentence : kind.pattern_sentences(style.color)) {
      if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) {
        sentences.push_back(std::move(sentence));
      }
    }
  }
  if (result.text.empty()) return result;
  result.last_line = scale.columns;
  add_scale({});
  if (cuts_best) result.add_sentence("best: aligns words best.", width);
  for (const std::string& sentence : sentences) result.add_sentence(sentence, width);
  if (continued) result.add_sentence("‿ goes on with the word before it.", width);
  if (note > 0) result.add_sentence(options.note, width);
  result.lines = lines_of(result.text);
  if (alone && style.height > 0) result.spare_lines = style.height - result.lines;
  return result;
}

}  // namespace attn
