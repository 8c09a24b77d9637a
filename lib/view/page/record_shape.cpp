#include "view/page/record_shape.h"

#include <set>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "config/model_config.h"
#include "view/page/approximation_shape.h"
#include "view/page/json_place.h"
#include "view/page/map_shape.h"
#include "view/page/vector_shape.h"

namespace attn {
namespace {

/// A size of the model, at most what the program takes of it.
std::size_t size_of(const JsonPlace& model, const std::string& key, std::int64_t most) {
  const JsonPlace place = model[key];
  const std::uint64_t number = place.whole();
  if (number == 0 || number > static_cast<std::uint64_t>(most)) {
    place.fail(fmt::format("{}", number), fmt::format("1 to {}", most));
  }
  return number;
}

MapShape stack_shape(const JsonPlace& model, const std::string& stack) {
  const std::string scale = stack + "_scale";
  if (const auto place = model.find(scale)) place->number();
  size_of(model, stack + "_ffn_dim", ModelLimits::ffn_dim);
  return {size_of(model, stack + "_layers", ModelLimits::layers),
          size_of(model, stack + "_heads", ModelLimits::d_model),
          size_of(model, stack + "_head_dim", ModelLimits::d_model)};
}

void check_model(const JsonPlace& model) {
  const JsonPlace weights = model["weights"];
  if (weights.text() != "loaded" && weights.text() != "random") {
    weights.fail("\"" + excerpt(weights.text()) + "\"", "\"loaded\" or \"random\"");
  }
  size_of(model, "d_model", ModelLimits::d_model);
  size_of(model, "vocab_size", ModelLimits::vocab_size);
  size_of(model, "decoder_vocab_size", ModelLimits::vocab_size);
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

void check_kind(const JsonPlace& owner, std::string_view kind, MapShape shape) {
  const auto all = owner.find("approximation");
  const auto approximation = all ? all->find(kind) : std::nullopt;
  if (approximation) shape.keys = check_approximation(*approximation, shape);
  const std::string_view type =
      approximation ? std::string_view((*approximation)["type"].text()) : std::string_view();
  if (type == "lsh") owner["seen"][kind].object();
  const auto seen = owner.find("seen");
  if (type == "linformer") {
    owner[kind].array(0, "layers: approximation has the weights of mixtures");
  } else if (const auto of_kind = seen ? seen->find(kind) : std::nullopt) {
    check_seen(*of_kind, owner[kind], shape);
  } else {
    check_maps(owner[kind], shape);
  }
  if (const auto vectors = owner.find("vectors")) check_vectors((*vectors)[kind], shape);
  if (const auto report = owner.find("report")) {
    const JsonPlace heads = (*report)[kind];
    const bool nothing_counted = heads.value().is_array() && heads.size() == 0;
    if (!nothing_counted) check_heads_of(heads, shape, check_figures);
  }
}

/// The numbers of an alignment's words, by which links name them.
std::set<std::uint64_t> check_words(const JsonPlace& words) {
  std::set<std::uint64_t> numbers;
  for (std::size_t i = 0; i < words.array().size(); ++i) {
    words[i]["text"].text();
    numbers.insert(words[i]["index"].whole());
  }
  return numbers;
}

void check_alignment(const JsonPlace& alignment) {
  alignment["from"].text();
  const std::set<std::uint64_t> source = check_words(alignment["source"]);
  const std::set<std::uint64_t> target = check_words(alignment["target"]);
  const auto check_end = [](const JsonPlace& end, const std::set<std::uint64_t>& words) {
    const std::uint64_t number = end.whole();
    if (!words.contains(number)) end.fail(fmt::format("{}", number), "the index of a word");
  };
  const JsonPlace links = alignment["links"];
  for (std::size_t i = 0; i < links.array().size(); ++i) {
    const JsonPlace link = links[i];
    check_end(link["source"], source);
    check_end(link["target"], target);
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
  if (const auto way = hypothesis.find("way")) {
    check_way(*way, {length, decoder.layers, {"decoder_self", "cross", "feed_forward"}});
  }
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

void check_record_shape(const Json& record, const std::string& where) {
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
  if (const auto way = top.find("way")) {
    check_way(*way, {length, encoder.layers, {"encoder_self", "feed_forward"}});
  }
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
