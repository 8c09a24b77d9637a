#include "view/page/page_record.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include "base/at.h"
#include "base/json.h"
#include "record/words.h"
#include "view/page/packed_maps.h"

namespace attn {
namespace {

using Pieces = std::vector<std::string>;

/// A record without what is left out: it would take memory only to be thrown away.
Json wanted_of(std::string_view record, PageDetail detail) {
  return Json::parse(record, [&](int, Json::parse_event_t event, Json& value) {
    if (event != Json::parse_event_t::key) return true;
    const auto& key = value.get_ref<const std::string&>();
    const bool vectors = key == "vectors" || key == "way" || key == "logits";
    return (detail.vectors || !vectors) && (detail.search || key != "search");
  });
}

/// A value inside an object, or null.
const Json& value_or_null(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = value_or_null(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Pieces pieces_at(const Json& object) {
  Pieces pieces;
  for (const Json& piece : value_or_null(object, "tokens")) {
    pieces.push_back(piece.is_string() ? piece.get<std::string>() : std::string());
  }
  return pieces;
}

/// Where the words of `pieces` end.
Json ends_of(const Pieces& pieces, const std::string& text, const Pieces& special) {
  const bool marked = std::any_of(pieces.begin(), pieces.end(),
                                  [](const std::string& piece) { return piece.starts_with("▁"); });
  std::vector<int> ends;
  if (marked) {
    for (const Word& word : split_words(pieces, text, special)) {
      ends.push_back(word.first + word.count);
    }
  } else {
    ends.resize(pieces.size());
    std::iota(ends.begin(), ends.end(), 1);
  }
  return ends;
}

std::optional<float> figure_at(const Json& figures, const char* key) {
  const Json& value = value_or_null(figures, key);
  return value.is_number() ? std::optional(value.get<float>()) : std::nullopt;
}

/// Figures of cross-attention, [layer][head]; none where layers have different numbers of heads.
KindReport cross_of(const Json& layers) {
  KindReport report;
  report.layers = to_int(layers.size());
  for (const Json& heads : layers) {
    if (heads.size() != layers.front().size()) return {};
    for (const Json& figures : heads) {
      HeadFigures& head = report.figures.emplace_back();
      head.alignment = figure_at(figures, "alignment");
      head.read_alignment = figure_at(figures, "read_alignment");
    }
    report.heads = to_int(heads.size());
  }
  return report;
}

Json best_of(const Json& cross) {
  Json best = Json::array();
  if (!cross.is_array()) return best;
  for (const HeadPlace place : best_heads(cross_of(cross))) {
    best.push_back({place.layer, place.head});
  }
  return best;
}

/// What a kind has beside its weights, packed; linformer's weights, which are there, too, become
/// the maps.
void pack_approximation(Json& owner, const char* key) {
  const auto all = owner.find("approximation");
  if (all == owner.end() || !all->contains(key)) return;
  Json& approximation = (*all)[key];
  if (text_at(approximation, "type") == "linformer") {
    const Json& first = approximation["weights"].at(0).at(0);
    approximation["mixtures"] = first.empty() ? 0 : first.front().size();
    owner[key] = std::move(approximation["weights"]);
    approximation.erase("weights");
  }
  for (const char* matrices : {"keys", "values"}) {
    const auto found = approximation.find(matrices);
    if (found != approximation.end()) *found = packed_maps(Json::array({*found}));
  }
  const auto exact = approximation.find("exact");
  if (exact != approximation.end()) *exact = packed_maps(*exact);
}

/// Maps under `key`, packed. Of large maps of a pattern the page says that they are large.
void pack(Json& owner, const char* key) {
  pack_approximation(owner, key);
  const auto found = owner.find(key);
  if (found == owner.end()) return;
  const auto seen = owner.find("seen");
  const bool has_pattern = seen != owner.end() && seen->contains(key);
  if (has_pattern && found->is_array() && found->empty()) {
    (*seen)[key].erase("weights");
  } else {
    *found = packed_maps(*found);
  }
}

/// Each node's pieces from the start to it; parents come before children.
void finish_nodes(Json& search, const Pieces& special) {
  std::vector<Pieces> paths;
  for (Json& node : search["nodes"]) {
    const Json& parent = value_or_null(node, "parent");
    Pieces path;
    if (parent.is_number_unsigned() && parent.get<std::size_t>() < paths.size()) {
      path = paths[parent.get<std::size_t>()];
    }
    path.push_back(text_at(node, "token"));
    node["ends"] = ends_of(path, "", special);
    pack(node, "decoder_self");
    pack(node, "cross");
    paths.push_back(std::move(path));
  }
}

void finish_hypothesis(Json& hypothesis, Pieces& special) {
  const std::string text = text_at(hypothesis, "text");
  {  // a new member of the hypothesis moves the others
    Json& input = hypothesis["decoder_input"];
    const Pieces read = pieces_at(input);
    if (!read.empty()) special.push_back(read.front());
    input["ends"] = ends_of(read, text, special);
  }
  hypothesis["ends"] = ends_of(pieces_at(hypothesis), text, special);
  hypothesis["best"] = best_of(value_or_null(value_or_null(hypothesis, "report"), "cross"));
  pack(hypothesis, "decoder_self");
  pack(hypothesis, "cross");
  if (const auto alignment = hypothesis.find("alignment"); alignment != hypothesis.end()) {
    alignment->erase("weights");
  }
}

}  // namespace

std::string page_record(std::string_view line, PageDetail detail) {
  Json record = wanted_of(line, detail);
  Json& source = record["source"];
  const Pieces pieces = pieces_at(source);
  Pieces special;
  if (!pieces.empty()) special.push_back(pieces.back());
  source["ends"] = ends_of(pieces, text_at(source, "text"), special);
  pack(record, "encoder_self");
  for (Json& hypothesis : record["hypotheses"]) finish_hypothesis(hypothesis, special);
  if (const auto search = record.find("search"); search != record.end()) {
    finish_nodes(*search, special);
  }
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string page_best_heads(std::string_view heads) {
  return best_of(value_or_null(Json::parse(heads, nullptr, false), "cross")).dump();
}

}  // namespace attn
