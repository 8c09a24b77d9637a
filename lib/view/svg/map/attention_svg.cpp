#include "view/svg/map/attention_svg.h"

#include "base/error.h"
#include "view/measure_text.h"
#include "view/svg/map/map_panels.h"

namespace attn {
namespace {

// Above this number of weights the overview is left out: no viewer opens a picture with so many
// cells.
constexpr std::size_t max_overview_weights = 4'000'000;

void check_index(int index, int count, std::string_view what, AttentionSite site) {
  if (index >= 0 && index < count) return;
  const std::string range =
      count == 1 ? fmt::format("only {} 0", what) : fmt::format("{}s 0 to {}", what, count - 1);
  throw UsageError("{}: no {} {}: there {} {}", site_name(site), what, index,
                   count == 1 ? "is" : "are", range);
}

/// Returns the record's relative position bias for this attention site; null: none.
const HeadVectors* relative_bias_of(const AttentionRecord& record,
                                    const AttentionSvgOptions& choice) {
  const std::optional<AttentionVectors>* found = nullptr;
  if (choice.site == AttentionSite::encoder_self) found = &record.encoder_vectors;
  if (choice.site == AttentionSite::decoder_self && choice.hypothesis < record.hypotheses.size()) {
    found = &record.hypotheses[choice.hypothesis].decoder_self_vectors;
  }
  if (found == nullptr || !*found || (*found)->relative_bias.values.empty()) return nullptr;
  return &(*found)->relative_bias;
}

/// The maps and the head that the options select; validated.
struct SelectedMap {
  MapSource source;
  HeadIndex place;
  bool drawable = false;
};

SelectedMap select_map(const AttentionRecord& record, const AttentionSvgOptions& choice) {
  static const AttentionMaps none;
  const bool encoder = choice.site == AttentionSite::encoder_self;
  const std::size_t count = record.hypotheses.size();
  if (!encoder && choice.hypothesis >= count && choice.hypothesis > 0) {
    throw UsageError("no hypothesis {}: there {} {} (counted from 0)", choice.hypothesis,
                     count == 1 ? "is" : "are", count);
  }
  const AttentionMaps* found = find_maps(record, choice.site, choice.hypothesis);
  const AttentionMaps& maps = found != nullptr ? *found : none;
  SelectedMap selected{
      {choice.site, maps, map_labels(record, choice.site, choice.hypothesis),
       relative_bias_of(record, choice), choice.measure, choice.of_layers, choice.largest},
      {}};
  if (maps.layers == 0 || maps.heads == 0) return selected;
  selected.place = {choice.layer.value_or(maps.layers - 1), choice.head.value_or(0)};
  check_index(selected.place.layer, maps.layers, "layer", choice.site);
  check_index(selected.place.head, maps.heads, "head", choice.site);
  if (!choice.mean.empty() && choice.mean.size() != to_size(maps.queries) * to_size(maps.keys)) {
    throw UsageError("the mean has {} weights, but its map has {} × {}", choice.mean.size(),
                     maps.queries, maps.keys);
  }
  selected.drawable = maps.queries > 0 && maps.keys > 0;
  return selected;
}

LargeMap large_map(const SelectedMap& selected, const AttentionSvgOptions& choice) {
  const AttentionMaps& maps = selected.source.maps;
  if (!choice.mean.empty()) {
    return {choice.layer, std::nullopt, choice.mean, maps.uncomputed(choice.layer, std::nullopt)};
  }
  const HeadIndex place = selected.place;
  return {place.layer, place.head, maps.map(place.layer, place.head),
          maps.uncomputed(place.layer, place.head)};
}

std::string_view explanation(AttentionSite site) {
  switch (site) {
    case AttentionSite::encoder_self:
      return "Each row is a source token (the query) and says how much it looks at each source "
             "token (the keys, columns). ";
    case AttentionSite::decoder_self:
      return "Each row is a step (the query: the token it reads, and the one it writes) and says "
             "how much it looks at each token read so far (the keys, columns). Hatched cells are "
             "masked. ";
    default:
      return "Each row is a step (the query: the token it reads, and the one it writes) and says "
             "how much it looks at each source token (the keys, columns). ";
  }
}

PictureText text_of(const AttentionRecord& record, const AttentionSvgOptions& choice) {
  PictureText text;
  text.title = site_name(choice.site);
  text.title[0] = static_cast<char>(text.title[0] - 'a' + 'A');
  const AttentionMaps* maps = find_maps(record, choice.site, choice.hypothesis);
  text.description = maps != nullptr && maps->has_projected_keys()
                         ? "Each row is a source token (the query) and says how much it looks at "
                           "each mixture of all tokens (columns). "
                         : explanation(choice.site);
  const bool non_token_weights =
      maps != nullptr && maps->seen && maps->seen->non_token_weights.any();
  if (choice.measure) {
    text.title += *choice.measure == MapMeasure::value ? ", value-weighted" : ", ALTI";
    text.description += measure_sentence(*choice.measure, choice.largest);
  } else {
    text.description += fmt::format(
        "A row's weights sum to 1{}; the darker a cell (in a dark viewer the brighter), the larger "
        "its weight.",
        non_token_weights ? fmt::format(" with those on {}, which are no columns",
                                        maps->seen->non_token_weights.keys->name)
                          : "");
  }
  text.sentences = sentence_lines(record, choice.hypothesis);
  if (choice.site == AttentionSite::encoder_self) text.sentences.resize(1);
  if (!record.changes.empty()) {
    text.sentences.push_back(fmt::format("changed: {}", fmt::join(record.changes, ", ")));
  }
  text.model = model_line(record.model);
  if (choice.site != AttentionSite::encoder_self && record.hypotheses.size() > 1) {
    text.model = fmt::format("translation {} of {} · {}", choice.hypothesis + 1,
                             record.hypotheses.size(), text.model);
  }
  return text;
}

Panel note_panel(std::string_view note) {
  return {fmt::format("<text class=\"quiet note\" x=\"0\" y=\"16\">{}</text>\n", note), 400, 24};
}

std::string empty_picture(const AttentionRecord& record, const AttentionSvgOptions& choice,
                          std::string_view note) {
  return framed_picture(text_of(record, choice), "attn-empty", {note_panel(note)}, {});
}

}  // namespace

std::string attention_svg(const AttentionRecord& record, const AttentionSvgOptions& choice) {
  const SelectedMap selected = select_map(record, choice);
  if (!selected.drawable)
    return empty_picture(record, choice, "no tokens here, so nothing is attended to");
  if (selected.source.maps.sparse()) {
    return empty_picture(
        record, choice,
        fmt::format("{} × {} cells are more than a picture shows; JSON and CSV have those that "
                    "were computed",
                    selected.source.maps.queries, selected.source.maps.keys));
  }
  std::vector<Panel> panels;
  const AttentionMaps& maps = selected.source.maps;
  const bool mean = !choice.mean.empty();
  const LargeMap large = large_map(selected, choice);
  Panel head = head_panel(selected.source, large);
  if (maps.weights.size() > max_overview_weights) {
    panels.push_back(
        note_panel("The overview of all heads is left out: it would have more than "
                   "four million cells."));
  } else if (maps.layers * maps.heads > 1) {
    // The panel is as tall as the large head beside it, unless that makes the picture very wide.
    const PixelSize room{head.width * 1.1, head.height};
    panels.push_back(overview_panel(selected.source, mean ? nullptr : &selected.place, room));
  }
  panels.push_back(std::move(head));
  for (Panel& panel : side_panels(selected.source, large, choice.exact_mean)) {
    panels.push_back(std::move(panel));
  }
  return framed_picture(text_of(record, choice), "attn-heads", panels,
                        color_legend_panel(selected.source));
}

}  // namespace attn
