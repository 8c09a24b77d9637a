#include "view/svg/map/attention_svg.h"

#include "base/error.h"
#include "view/svg/map/map_panels.h"

namespace attn {
namespace {

// An overview of more weights is left out: no viewer opens a picture of so many cells.
constexpr std::size_t most_overview_weights = 4'000'000;

void check_index(int index, int count, std::string_view what, AttentionKind kind) {
  if (index >= 0 && index < count) return;
  const std::string range =
      count == 1 ? fmt::format("only {} 0", what) : fmt::format("{}s 0 to {}", what, count - 1);
  throw UsageError("{}: {} {} is asked for, but there {} {}", kind_name(kind), what, index,
                   count == 1 ? "is" : "are", range);
}

/// The biases of relative positions that the record has of this kind; null: none.
const HeadVectors* distances_of(const AttentionRecord& record, const MapChoice& choice) {
  const std::optional<AttentionVectors>* found = nullptr;
  if (choice.kind == AttentionKind::encoder_self) found = &record.encoder_vectors;
  if (choice.kind == AttentionKind::decoder_self && choice.hypothesis < record.hypotheses.size()) {
    found = &record.hypotheses[choice.hypothesis].decoder_self_vectors;
  }
  if (found == nullptr || !*found || (*found)->distances.values.empty()) return nullptr;
  return &(*found)->distances;
}

/// The maps of a choice and its head; checked.
struct Chosen {
  MapSubject subject;
  HeadPlace place;
  bool drawable = false;
};

Chosen chosen_from(const AttentionRecord& record, const MapChoice& choice) {
  static const AttentionMaps none;
  const bool encoder = choice.kind == AttentionKind::encoder_self;
  const std::size_t count = record.hypotheses.size();
  if (!encoder && choice.hypothesis >= count && choice.hypothesis > 0) {
    throw UsageError("hypothesis {} is asked for, but there {} {} (counted from 0)",
                     choice.hypothesis, count == 1 ? "is" : "are", count);
  }
  const AttentionMaps* found = find_maps(record, choice.kind, choice.hypothesis);
  const AttentionMaps& maps = found != nullptr ? *found : none;
  Chosen chosen{{choice.kind, maps, axes_of(record, choice.kind, choice.hypothesis),
                 distances_of(record, choice)},
                {}};
  if (maps.layers == 0 || maps.heads == 0) return chosen;
  chosen.place = {choice.layer.value_or(maps.layers - 1), choice.head.value_or(0)};
  check_index(chosen.place.layer, maps.layers, "layer", choice.kind);
  check_index(chosen.place.head, maps.heads, "head", choice.kind);
  if (!choice.mean.empty() && choice.mean.size() != to_size(maps.queries) * to_size(maps.keys)) {
    throw UsageError("the mean has {} weights, but its map has {} × {}", choice.mean.size(),
                     maps.queries, maps.keys);
  }
  chosen.drawable = maps.queries > 0 && maps.keys > 0;
  return chosen;
}

LargeMap large_map(const Chosen& chosen, const MapChoice& choice) {
  const AttentionMaps& maps = chosen.subject.maps;
  if (!choice.mean.empty()) {
    return {choice.layer, std::nullopt, choice.mean, maps.left_out(choice.layer, std::nullopt)};
  }
  const HeadPlace place = chosen.place;
  return {place.layer, place.head, maps.map(place.layer, place.head),
          maps.left_out(place.layer, place.head)};
}

std::string_view explanation(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "Each row is a source token (the query) and says how much it looks at each source "
             "token (the keys, columns). ";
    case AttentionKind::decoder_self:
      return "Each row is a step (the query: the token it reads, and the one it writes) and says "
             "how much it looks at each token read so far (the keys, columns). Hatched cells are "
             "masked. ";
    default:
      return "Each row is a step (the query: the token it reads, and the one it writes) and says "
             "how much it looks at each source token (the keys, columns). ";
  }
}

PictureText text_of(const AttentionRecord& record, const MapChoice& choice) {
  PictureText text;
  text.title = kind_name(choice.kind);
  text.title[0] = static_cast<char>(text.title[0] - 'a' + 'A');
  const AttentionMaps* maps = find_maps(record, choice.kind, choice.hypothesis);
  text.description = maps != nullptr && maps->mixed()
                         ? "Each row is a source token (the query) and says how much it looks at "
                           "each mixture of all tokens (columns). "
                         : explanation(choice.kind);
  const bool outside = maps != nullptr && maps->seen && maps->seen->outside.any();
  text.description += fmt::format(
      "A row's weights sum to 1{}; the darker a cell (in a dark viewer the brighter), the larger "
      "its weight.",
      outside
          ? fmt::format(" with those on {}, which are no columns", maps->seen->outside.keys->name)
          : "");
  text.sentences = sentence_lines(record, choice.hypothesis);
  if (choice.kind == AttentionKind::encoder_self) text.sentences.resize(1);
  if (!record.changes.empty()) {
    text.sentences.push_back(fmt::format("changed: {}", fmt::join(record.changes, ", ")));
  }
  text.model = model_line(record.model);
  if (choice.kind != AttentionKind::encoder_self && record.hypotheses.size() > 1) {
    text.model = fmt::format("translation {} of {} · {}", choice.hypothesis + 1,
                             record.hypotheses.size(), text.model);
  }
  return text;
}

Panel note_panel(std::string_view note) {
  return {fmt::format("<text class=\"quiet note\" x=\"0\" y=\"16\">{}</text>\n", note), 400, 24};
}

std::string empty_picture(const AttentionRecord& record, const MapChoice& choice,
                          std::string_view note) {
  return framed_picture(text_of(record, choice), "attn-empty", {note_panel(note)}, {});
}

}  // namespace

std::string attention_svg(const AttentionRecord& record, const MapChoice& choice) {
  const Chosen chosen = chosen_from(record, choice);
  if (!chosen.drawable)
    return empty_picture(record, choice, "no tokens here, so nothing is attended to");
  if (chosen.subject.maps.sparse()) {
    return empty_picture(
        record, choice,
        fmt::format("{} × {} cells are more than a picture shows; JSON and CSV have those that "
                    "were computed",
                    chosen.subject.maps.queries, chosen.subject.maps.keys));
  }
  std::vector<Panel> panels;
  const AttentionMaps& maps = chosen.subject.maps;
  const bool mean = !choice.mean.empty();
  const LargeMap large = large_map(chosen, choice);
  Panel head = head_panel(chosen.subject, large);
  if (maps.weights.size() > most_overview_weights) {
    panels.push_back(
        note_panel("The overview of all heads is left out: it would have more than "
                   "four million cells."));
  } else if (maps.layers * maps.heads > 1) {
    // As tall as the large head beside it, where that does not make the picture a ribbon.
    const Room room{head.width * 1.1, head.height};
    panels.push_back(overview_panel(chosen.subject, mean ? nullptr : &chosen.place, room));
  }
  panels.push_back(std::move(head));
  for (Panel& panel : beside_panels(chosen.subject, large, choice.exact_mean)) {
    panels.push_back(std::move(panel));
  }
  return framed_picture(text_of(record, choice), "attn-heads", panels, scale_panel(chosen.subject));
}

}  // namespace attn
