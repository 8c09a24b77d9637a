#include "view/page/page_notes.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include "base/at.h"
#include "base/json.h"
#include "record/words.h"
#include "view/append_text.h"

namespace attn {
namespace {

using Pieces = std::vector<std::string>;

/// A record without its maps and vectors: they are nearly all of it.
Json without_numbers(std::string_view record) {
  bool report = false;  // whether a hypothesis's figures are being read
  return Json::parse(
      record,
      [&](int depth, Json::parse_event_t event, Json& value) {
        if (event != Json::parse_event_t::key) return true;
        const auto key = value.get<std::string>();
        if (depth == 1 || depth == 3) report = depth == 3 && key == "report";
        const bool maps = key == "encoder_self" || key == "decoder_self" || key == "cross";
        return key != "vectors" && (!maps || (report && depth == 4));
      },
      false);
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

void append_ends(std::string& out, const Pieces& pieces, const std::string& text,
                 const Pieces& special) {
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
  append_format(out, "[{}]", fmt::join(ends, ","));
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

void append_best(std::string& out, const Json& cross) {
  out += '[';
  if (cross.is_array()) {
    for (const HeadPlace place : best_heads(cross_of(cross))) {
      append_format(out, "{}[{},{}]", out.back() == '[' ? "" : ",", place.layer, place.head);
    }
  }
  out += ']';
}

/// What each node of a search ends: the pieces from the start to it. Parents come before children.
void append_nodes(std::string& out, const Json& search, const Pieces& special) {
  std::vector<Pieces> paths;
  out += '[';
  for (const Json& node : value_or_null(search, "nodes")) {
    const Json& parent = value_or_null(node, "parent");
    Pieces path;
    if (parent.is_number_unsigned() && parent.get<std::size_t>() < paths.size()) {
      path = paths[parent.get<std::size_t>()];
    }
    path.push_back(text_at(node, "token"));
    if (!paths.empty()) out += ',';
    append_ends(out, path, "", special);
    paths.push_back(std::move(path));
  }
  out += ']';
}

}  // namespace

std::string page_notes(std::string_view record) {
  const Json json = without_numbers(record);
  const Json& source = value_or_null(json, "source");
  const Pieces pieces = pieces_at(source);
  Pieces special;
  if (!pieces.empty()) special.push_back(pieces.back());
  std::string out = "{\"source\":";
  append_ends(out, pieces, text_at(source, "text"), special);
  out += ",\"hypotheses\":[";
  bool first = true;
  for (const Json& hypothesis : value_or_null(json, "hypotheses")) {
    const Pieces input = pieces_at(value_or_null(hypothesis, "decoder_input"));
    const std::string text = text_at(hypothesis, "text");
    if (!input.empty()) special.push_back(input.front());
    out += first ? "{\"tokens\":" : ",{\"tokens\":";
    first = false;
    append_ends(out, pieces_at(hypothesis), text, special);
    out += ",\"input\":";
    append_ends(out, input, text, special);
    out += ",\"best\":";
    append_best(out, value_or_null(value_or_null(hypothesis, "report"), "cross"));
    out += '}';
  }
  out += ']';
  if (const Json& search = value_or_null(json, "search"); search.is_object()) {
    out += ",\"nodes\":";
    append_nodes(out, search, special);
  }
  return out + '}';
}

std::string page_best_heads(std::string_view heads) {
  std::string out;
  append_best(out, value_or_null(Json::parse(heads, nullptr, false), "cross"));
  return out;
}

}  // namespace attn
