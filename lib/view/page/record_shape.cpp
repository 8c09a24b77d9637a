#include "view/page/record_shape.h"

#include <algorithm>
#include <initializer_list>

#include "base/checked.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "view/page/json_place.h"
#include "view/page/map_shape.h"

namespace attn {
namespace {

constexpr std::size_t kMostSide = 1'000'000;  // of anything that is counted

std::size_t count(const JsonPlace& model, std::string_view stack, std::string_view what) {
  const std::string key = fmt::format("{}_{}", stack, what);
  const JsonPlace place = model[key];
  const std::uint64_t number = place.whole();
  if (number == 0 || number > kMostSide) {
    place.fail(fmt::format("{}", number), fmt::format("1 to {}", kMostSide));
  }
  return number;
}

MapShape stack_shape(const JsonPlace& model, std::string_view stack) {
  const std::string scale = fmt::format("{}_scale", stack);
  if (const auto place = model.find(scale)) place->number();
  return {count(model, stack, "layers"), count(model, stack, "heads"),
          count(model, stack, "head_dim")};
}

void check_model(const JsonPlace& model) {
  model["d_model"].whole();
  if (const auto name = model.find("name")) name->text();
  if (const auto precision = model.find("precision")) precision->text();
  if (const auto ensemble = model.find("ensemble")) {
    for (std::size_t i = 0; i < ensemble->array().size(); ++i) (*ensemble)[i].text();
  }
  if (const auto update = model.find("update")) update->whole();
  if (const auto seed = model.find("seed"); seed && !seed->value().is_null()) seed->whole();
}

/// The number of tokens, each with its id.
std::size_t check_tokens(const JsonPlace& sequence) {
  const JsonPlace tokens = sequence["tokens"];
  for (std::size_t i = 0; i < tokens.array().size(); ++i) tokens[i].text();
  const JsonPlace ids = sequence["ids"];
  ids.array(tokens.size(), "ids, one a token");
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i].whole();
  return tokens.size();
}

/// Base64 of as many float32 as the product of `sides`; `of` says what they are.
void check_float_text(const JsonPlace& place, std::initializer_list<std::size_t> sides,
                      const std::string& of) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string_view text = place.text();
  std::optional<std::uint64_t> bytes = sizeof(float);
  for (const std::size_t side : sides) {
    if (bytes) bytes = checked_multiply(*bytes, std::uint64_t{side});
  }
  // Four letters hold three bytes; "=" fills up the last four.
  const std::size_t fill = bytes ? (3 - *bytes % 3) % 3 : 0;
  if (!bytes || text.size() % 4 != 0 || text.size() / 4 != *bytes / 3 + (*bytes % 3 > 0)) {
    place.fail(fmt::format("a text of {} letters", text.size()), "base64 of " + of);
  }
  const std::string_view letters = text.substr(0, text.size() - fill);
  if (letters.find_first_not_of(kDigits) != letters.npos ||
      text.substr(letters.size()).find_first_not_of('=') != text.npos) {
    place.fail("another text", "base64 of " + of);
  }
}

/// Of [layer][head][row][head_dim].
void check_vector(const JsonPlace& place, const MapShape& shape, std::size_t rows) {
  check_float_text(place, {shape.layers, shape.heads, shape.head_dim, rows},
                   fmt::format("{} layers, {} heads and {} rows of {} floats", shape.layers,
                               shape.heads, rows, shape.head_dim));
}

void check_vectors(const JsonPlace& vectors, const MapShape& shape) {
  check_vector(vectors["query"], shape, shape.queries);
  check_vector(vectors["key"], shape, shape.keys);
  check_vector(vectors["value"], shape, shape.keys);
}

/// The vectors of `rows` tokens, stage by stage.
void check_way(const JsonPlace& way, std::size_t rows) {
  for (std::size_t i = 0; i < way.array().size(); ++i) {
    const JsonPlace step = way[i];
    step["stage"].text();
    if (const auto block = step.find("block")) {
      block->text();
      step["layer"].whole();
    }
    const std::uint64_t columns = step["columns"].whole();
    check_float_text(step["values"], {rows, columns},
                     fmt::format("{} rows of {} floats", rows, columns));
  }
}

/// The likeliest pieces of each of `steps` steps.
void check_alternatives(const JsonPlace& alternatives, std::size_t steps) {
  const JsonPlace tokens = alternatives["tokens"];
  tokens.array(steps, "lists, one a step");
  for (std::size_t t = 0; t < steps; ++t) {
    const JsonPlace pieces = tokens[t];
    for (std::size_t i = 0; i < pieces.array().size(); ++i) pieces[i].text();
  }
  for (const char* key : {"ids", "log_probs", "logits"}) {
    if (key == std::string_view("logits") && !alternatives.find(key)) continue;
    const JsonPlace lists = alternatives[key];
    lists.array(steps, "lists, one a step");
    for (std::size_t t = 0; t < steps; ++t) {
      check_numbers(lists[t], tokens[t].size(), "numbers, one a piece");
    }
  }
  const JsonPlace ranks = alternatives["ranks"];
  ranks.array(steps, "ranks, one a step");
  for (std::size_t t = 0; t < steps; ++t) ranks[t].whole();
}

/// An object of figures, each a number or null where nothing defines it.
void check_figures(const JsonPlace& figures) {
  for (const auto& [key, value] : figures.object().value().items()) {
    if (!value.is_number() && !value.is_null()) figures[key].fail("a number or null");
  }
}

void check_kind(const JsonPlace& owner, std::string_view kind, const MapShape& shape) {
  const auto seen = owner.find("seen");
  if (const auto of_kind = seen ? seen->find(kind) : std::nullopt) {
    check_seen(*of_kind, owner[kind], shape);
  } else {
    check_maps(owner[kind], shape);
  }
  if (const auto vectors = owner.find("vectors")) check_vectors((*vectors)[kind], shape);
  if (const auto report = owner.find("report")) {
    check_heads_of((*report)[kind], shape, check_figures);
  }
}

void check_alignment(const JsonPlace& alignment) {
  alignment["from"].text();
  const JsonPlace links = alignment["links"];
  for (std::size_t i = 0; i < links.array().size(); ++i) {
    const JsonPlace link = links[i];
    link["source"].whole();
    link["target"].whole();
    link["weight"].number();
  }
}

void check_hypothesis(const JsonPlace& hypothesis, MapShape decoder, std::size_t source) {
  hypothesis["text"].text();
  hypothesis["score"].number();
  if (const auto replayed = hypothesis.find("replayed")) replayed->truth();
  const std::size_t length = check_tokens(hypothesis);
  check_numbers(hypothesis["log_probs"], length, "numbers, one a token");
  const JsonPlace input = hypothesis["decoder_input"];
  if (check_tokens(input) != length) {
    input["tokens"].array(length, "tokens, one a token that was produced");
  }
  decoder.queries = decoder.keys = length;
  check_kind(hypothesis, "decoder_self", decoder);
  decoder.keys = source;
  check_kind(hypothesis, "cross", decoder);
  if (const auto alignment = hypothesis.find("alignment")) check_alignment(*alignment);
  if (const auto found = hypothesis.find("alternatives")) check_alternatives(*found, length);
  if (const auto way = hypothesis.find("way")) check_way(*way, length);
}

/// How the translations were come by.
void check_decoding(const JsonPlace& decoding) {
  if (const auto given = decoding.find("given")) {
    given->truth();
    return;
  }
  decoding["beams"].whole();
  decoding["length_penalty"].number();
}

/// One row of every head.
void check_step(const JsonPlace& rows, const MapShape& shape) {
  check_heads_of(rows, shape, [&](const JsonPlace& row) {
    check_numbers(row, shape.keys, "weights, one a key");
  });
}

/// A node at `index`; its parent stands before it, and `step` counts the tokens before it.
void check_node(const JsonPlace& nodes, std::size_t index, MapShape decoder, std::size_t source) {
  const JsonPlace node = nodes[index];
  const JsonPlace parent = node["parent"];
  std::size_t step = 0;
  if (parent.value() != -1) {
    const std::uint64_t above = parent.whole();
    if (above >= index) {
      parent.fail(fmt::format("{}", above), "-1 or the index of a node before this one");
    }
    step = nodes.value()[above]["step"].get<std::size_t>() + 1;  // it has been checked
  }
  if (node["step"].whole() != step) {
    node["step"].fail(node["step"].value().dump(),
                      fmt::format("{}, one more than its parent's", step));
  }
  node["id"].whole();
  node["token"].text();
  for (const char* key : {"log_prob", "sum", "score"}) node[key].number();
  node["kept"].truth();
  node["ended"].truth();
  decoder.keys = step + 1;
  if (const auto rows = node.find("decoder_self")) check_step(*rows, decoder);
  decoder.keys = source;
  if (const auto rows = node.find("cross")) check_step(*rows, decoder);
}

void check_search(const JsonPlace& search, const MapShape& decoder, std::size_t source) {
  search["beams"].whole();
  search["length_penalty"].number();
  const JsonPlace nodes = search["nodes"];
  for (std::size_t i = 0; i < nodes.array().size(); ++i) check_node(nodes, i, decoder, source);
}

}  // namespace

void check_record(const Json& record, const std::string& where) {
  if (!record.is_object() || !record.contains("format") ||
      record["format"] != "attn-demo.attention" || !record.contains("version") ||
      record["version"] != 1) {
    throw InputError(
        "{}: expected an attention record (\"format\": \"attn-demo.attention\", \"version\": 1)",
        where);
  }
  const JsonPlace top(record, where);
  const JsonPlace model = top["model"];
  check_model(model);
  MapShape encoder = stack_shape(model, "encoder");
  const MapShape decoder = stack_shape(model, "decoder");
  const JsonPlace source = top["source"];
  source["text"].text();
  const std::size_t length = check_tokens(source);
  encoder.queries = encoder.keys = length;
  check_kind(top, "encoder_self", encoder);
  if (const auto changes = top.find("changes")) {
    for (std::size_t i = 0; i < changes->array().size(); ++i) (*changes)[i].text();
  }
  if (const auto part = top.find("part")) {
    for (const char* key : {"line", "number", "of"}) (*part)[key].whole();
    for (const char* key : {"text", "gap"}) (*part)[key].text();
  }
  if (const auto way = top.find("way")) check_way(*way, length);
  if (const auto decoding = top.find("decoding")) check_decoding(*decoding);
  const JsonPlace hypotheses = top["hypotheses"];
  for (std::size_t i = 0; i < hypotheses.array().size(); ++i) {
    check_hypothesis(hypotheses[i], decoder, length);
  }
  if (const auto search = top.find("search")) check_search(*search, decoder, length);
}

std::size_t check_heads(const Json& heads, const std::string& where) {
  const JsonPlace top(heads, where);
  if (top["version"].value() != 1) top["version"].fail(excerpt(heads["version"].dump()), "1");
  for (const char* kind : {"encoder_self", "decoder_self", "cross"}) {
    const JsonPlace layers = top[kind];
    for (std::size_t layer = 0; layer < layers.array().size(); ++layer) {
      const JsonPlace row = layers[layer];
      for (std::size_t head = 0; head < row.array().size(); ++head) check_figures(row[head]);
    }
  }
  return top["sentences"].whole();
}

}  // namespace attn
