#include "record/json/record_reader.h"

#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/model_config.h"
#include "record/json/json_parts_reader.h"
#include "record/json/receipts_json.h"

namespace attn {
namespace {

/// Reads a size of the model, with the program's limit `most`.
int read_size(const JsonReader& model, const std::string& key, std::int64_t most) {
  const JsonReader place = model[key];
  const std::uint64_t number = place.unsigned_integer();
  if (number == 0 || number > static_cast<std::uint64_t>(most)) {
    place.fail(fmt::format("{}", number), fmt::format("1 to {}", most));
  }
  return to_int(number);
}

/// Reads "alignment_heads" [[layer, head], ...], if it is there.
std::vector<HeadIndex> read_alignment_heads(const JsonReader& parent, int layers, int heads) {
  std::vector<HeadIndex> places;
  if (const auto list = parent.find("alignment_heads")) {
    list->for_each([&](const JsonReader& pair) {
      pair.array(2, "numbers: a layer and a head");
      places.push_back({to_int(pair[0].index_below(to_size(layers))),
                        to_int(pair[1].index_below(to_size(heads)))});
    });
  }
  return places;
}

/// Reads the sizes of a stack into `summary`.
void read_stack(const JsonReader& model, const std::string& stack, ModelSummary& summary) {
  const bool encoder = stack == "encoder";
  int& layers = encoder ? summary.encoder_layers : summary.decoder_layers;
  int& heads = encoder ? summary.encoder_heads : summary.decoder_heads;
  (encoder ? summary.encoder_ffn_dim : summary.decoder_ffn_dim) =
      read_size(model, stack + "_ffn_dim", ModelLimits::ffn_dim);
  layers = read_size(model, stack + "_layers", ModelLimits::layers);
  heads = read_size(model, stack + "_heads", ModelLimits::d_model);
  const std::string key = stack + "_head_dim";
  const int head_dim = read_size(model, key, ModelLimits::d_model);
  const int expected = encoder ? summary.encoder_head_dim() : summary.decoder_head_dim();
  if (head_dim != expected) {
    const std::string why =
        summary.head_dim > 0 ? "head_dim" : fmt::format("d_model / {}_heads", stack);
    model[key].fail(fmt::format("{}", head_dim), fmt::format("{}, {}", expected, why));
  }
  const auto scale = model.find(stack + "_scale");
  (encoder ? summary.encoder_scale : summary.decoder_scale) =
      scale ? scale->number()
            : 1 / std::sqrt(static_cast<float>(head_dim));  // the default of most models
}

ModelSummary read_model(const JsonReader& model) {
  ModelSummary summary;
  const JsonReader weights = model["weights"];
  summary.random_weights = weights.string() == "random";
  if (weights.string() != "loaded" && !summary.random_weights) {
    weights.fail("\"" + excerpt(weights.string()) + "\"", "\"loaded\" or \"random\"");
  }
  summary.d_model = read_size(model, "d_model", ModelLimits::d_model);
  if (model.find("head_dim")) summary.head_dim = read_size(model, "head_dim", ModelLimits::d_model);
  summary.vocab_size = read_size(model, "vocab_size", ModelLimits::vocab_size);
  summary.decoder_vocab_size = read_size(model, "decoder_vocab_size", ModelLimits::vocab_size);
  if (const auto name = model.find("name")) summary.name = name->string();
  if (const auto precision = model.find("precision")) summary.precision = precision->string();
  if (const auto ensemble = model.find("ensemble")) summary.ensemble = ensemble->strings();
  if (const auto update = model.find("update")) summary.update = update->unsigned_integer();
  if (const auto seed = model.find("seed"); seed && !seed->value().is_null()) {
    summary.seed = seed->unsigned_integer();
  }
  read_stack(model, "encoder", summary);
  read_stack(model, "decoder", summary);
  summary.alignment_heads =
      read_alignment_heads(model, summary.decoder_layers, summary.decoder_heads);
  return summary;
}

MapShape shape_of(const ModelSummary& model, AttentionSite kind) {
  const bool encoder = kind == AttentionSite::encoder_self;
  return {to_size(encoder ? model.encoder_layers : model.decoder_layers),
          to_size(encoder ? model.encoder_heads : model.decoder_heads),
          to_size(encoder ? model.encoder_head_dim() : model.decoder_head_dim())};
}

TokenSequence read_tokens(const JsonReader& sequence) {
  TokenSequence read;
  read.tokens = sequence["tokens"].strings();
  sequence["ids"].for_each(read.tokens.size(), "ids, one per token",
                           [&](const JsonReader& id) { read.ids.push_back(id.integer()); });
  return read;
}

/// Reads the likeliest tokens of each of `steps` steps, the same number per step; nullopt if there
/// are none.
std::optional<Alternatives> read_alternatives(const JsonReader& alternatives, std::size_t steps) {
  Alternatives read;
  const JsonReader tokens = alternatives["tokens"];
  const std::size_t count =
      tokens.array(steps, "lists, one per step").size() > 0 ? tokens[0].array().size() : 0;
  read.count = to_int(count);
  tokens.for_each([&](const JsonReader& pieces) {
    pieces.for_each(count, "pieces, as in the first step",
                    [&](const JsonReader& piece) { read.tokens.push_back(piece.string()); });
  });
  const auto floats = [&](std::string_view key, std::vector<float>& out) {
    alternatives[key].for_each(steps, "lists, one per step", [&](const JsonReader& list) {
      list.numbers(count, "numbers, one per piece", out);
    });
  };
  alternatives["ids"].for_each(steps, "lists, one per step", [&](const JsonReader& list) {
    list.for_each(count, "numbers, one per piece",
                  [&](const JsonReader& id) { read.ids.push_back(id.integer()); });
  });
  floats("log_probs", read.log_probs);
  if (alternatives.find("logits")) floats("logits", read.logits);
  alternatives["ranks"].for_each(steps, "ranks, one per step", [&](const JsonReader& rank) {
    read.ranks.push_back(rank.integer());
  });
  return count > 0 || steps == 0 ? std::optional(std::move(read)) : std::nullopt;
}

/// Everything that a record says about one attention site.
struct Attention {
  AttentionMaps maps;
  std::optional<AttentionVectors> vectors;
  std::optional<SiteReport> report;
};

Attention read_attention(const JsonReader& owner, AttentionSite kind, std::string_view key,
                         MapShape shape) {
  Attention read;
  read.maps = read_maps(owner, key, shape);
  if (const auto vectors = owner.find("vectors")) {
    read.vectors = read_vectors((*vectors)[key], shape);
  }
  if (const auto report = owner.find("report")) {
    const JsonReader heads = (*report)[key];
    const bool nothing_counted = heads.value().is_array() && heads.size() == 0;
    read.report = nothing_counted ? SiteReport{.site = kind} : read_site_report(heads, kind, shape);
  }
  return read;
}

HypothesisRecord read_hypothesis(const JsonReader& hypothesis, const AttentionRecord& record) {
  HypothesisRecord read;
  read.text = hypothesis["text"].string();
  read.score = hypothesis["score"].number();
  if (const auto teacher_forced = hypothesis.find("replayed"))
    read.teacher_forced = teacher_forced->boolean();
  read.produced = read_tokens(hypothesis);
  const std::size_t length = read.produced.tokens.size();
  hypothesis["log_probs"].numbers(length, "numbers, one per token", read.log_probs);
  const JsonReader input = hypothesis["decoder_input"];
  read.decoder_input = read_tokens(input);
  input["tokens"].array(length, "tokens, one per token that was produced");
  MapShape shape = shape_of(record.model, AttentionSite::decoder_self);
  shape.queries = shape.keys = length;
  SiteShapes shapes{shape_of(record.model, AttentionSite::encoder_self), shape, shape};
  shapes.encoder_self.queries = shapes.encoder_self.keys = shapes.cross.keys =
      record.source.tokens.size();
  Attention decoder =
      read_attention(hypothesis, AttentionSite::decoder_self, "decoder_self", shape);
  shape.keys = record.source.tokens.size();
  Attention cross = read_attention(hypothesis, AttentionSite::cross, "cross", shape);
  for (Attention* kind : {&decoder, &cross}) {
    if (kind->vectors) kind->vectors->scale = record.model.decoder_scale;
  }
  read.decoder_self = std::move(decoder.maps);
  read.decoder_self_vectors = std::move(decoder.vectors);
  read.decoder_report = std::move(decoder.report);
  read.cross = std::move(cross.maps);
  if (length == 0) read.cross.keys = 0;  // the recorder does the same
  read.cross_vectors = std::move(cross.vectors);
  read.cross_report = std::move(cross.report);
  if (const auto alignment = hypothesis.find("alignment")) {
    read.alignment = read_alignment(*alignment);
  }
  if (const auto receipts = hypothesis.find("why")) {
    read.receipts = read_receipts(*receipts, shapes);
  }
  if (const auto found = hypothesis.find("alternatives")) {
    read.alternatives = read_alternatives(*found, length);
  }
  if (const auto residual_stream = hypothesis.find("way")) {
    read.residual_stream = read_residual_stream(
        *residual_stream, {length, shape.layers, {"decoder_self", "cross", "feed_forward"}});
  }
  return read;
}

/// Reads how the translations were obtained.
Decoding read_decoding(const JsonReader& decoding) {
  Decoding read;
  if (const auto given = decoding.find("given")) read.given = given->boolean();
  if (read.given) return read;
  read.beams = decoding["beams"].integer();
  read.length_penalty = decoding["length_penalty"].number();
  return read;
}

/// Reads one row of every head.
std::vector<float> read_step(const JsonReader& node, std::string_view key, const MapShape& shape) {
  std::vector<float> weights;
  if (const auto rows = node.find(key)) {
    read_heads(*rows, shape, [&](const JsonReader& row) {
      row.numbers(shape.keys, "weights, one per key", weights);
    });
  }
  return weights;
}

/// Reads a node; its parent must be among `before`, and `step` counts the tokens before it.
SearchNode read_node(const JsonReader& node, const std::vector<SearchNode>& before,
                     MapShape shape) {
  SearchNode read;
  const JsonReader parent = node["parent"];
  if (parent.value() != -1) {
    const std::uint64_t above = parent.unsigned_integer();
    if (above >= before.size()) {
      parent.fail(fmt::format("{}", above), "-1 or the index of a node before this one");
    }
    read.parent = to_int(above);
    read.step = before[above].step + 1;
  }
  if (node["step"].unsigned_integer() != to_size(read.step)) {
    node["step"].fail(node["step"].value().dump(),
                      fmt::format("{}, one more than its parent's", read.step));
  }
  read.id = node["id"].integer();
  read.token = node["token"].string();
  read.log_prob = node["log_prob"].number();
  read.sum = node["sum"].number();
  read.score = node["score"].number();
  read.kept = node["kept"].boolean();
  read.ended = node["ended"].boolean();
  const std::size_t source = shape.keys;
  shape.keys = to_size(read.step) + 1;
  read.decoder_self = read_step(node, "decoder_self", shape);
  shape.keys = source;
  read.cross = read_step(node, "cross", shape);
  return read;
}

SearchTree read_search(const JsonReader& search, const AttentionRecord& record) {
  SearchTree tree;
  tree.beams = search["beams"].integer();
  tree.length_penalty = search["length_penalty"].number();
  MapShape shape = shape_of(record.model, AttentionSite::cross);
  shape.keys = record.source.tokens.size();
  search["nodes"].for_each(
      [&](const JsonReader& node) { tree.nodes.push_back(read_node(node, tree.nodes, shape)); });
  return tree;
}

LinePart read_part(const JsonReader& part) {
  return {to_size(part["line"].unsigned_integer()), to_size(part["number"].unsigned_integer()),
          to_size(part["of"].unsigned_integer()), part["text"].string(), part["gap"].string()};
}

Json parsed_line(std::string_view line, const std::string& where) {
  try {
    // A record has as many numbers as its maps have cells. Each takes at least two bytes of the
    // line, and the caller limits the length of the line.
    return parse_json(line, where, {.max_bytes = line.size(), .max_values = line.size() / 2 + 1});
  } catch (const InputError& error) {
    // The parser counts lines within its text, which is a single line.
    std::string message = error.what();
    if (message.starts_with(where + ":1:")) message.erase(where.size(), 2);
    throw InputError("{}", message);
  }
}

const Json& member_or_null(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

bool has_format(const Json& json, std::string_view format) {
  return json.is_object() && json.contains("format") && json["format"] == format;
}

}  // namespace

AttentionRecord record_from_json(const Json& json, const std::string& where) {
  if (!has_format(json, "attn-demo.attention") || !json.contains("version") ||
      json["version"] != 1) {
    throw InputError(
        "{}: expected an attention record (\"format\": \"attn-demo.attention\", \"version\": 1)",
        where);
  }
  const JsonReader top(json, where);
  AttentionRecord record;
  record.model = read_model(top["model"]);
  const JsonReader source = top["source"];
  record.source_text = source["text"].string();
  record.source = read_tokens(source);
  MapShape shape = shape_of(record.model, AttentionSite::encoder_self);
  shape.queries = shape.keys = record.source.tokens.size();
  Attention encoder = read_attention(top, AttentionSite::encoder_self, "encoder_self", shape);
  if (encoder.vectors) encoder.vectors->scale = record.model.encoder_scale;
  record.encoder_self = std::move(encoder.maps);
  record.encoder_vectors = std::move(encoder.vectors);
  record.encoder_report = std::move(encoder.report);
  if (const auto changes = top.find("changes")) record.changes = changes->strings();
  if (const auto part = top.find("part")) record.part = read_part(*part);
  if (const auto residual_stream = top.find("way")) {
    record.residual_stream = read_residual_stream(
        *residual_stream, {shape.queries, shape.layers, {"encoder_self", "feed_forward"}});
  }
  if (const auto decoding = top.find("decoding")) record.decoding = read_decoding(*decoding);
  top["hypotheses"].for_each([&](const JsonReader& hypothesis) {
    record.hypotheses.push_back(read_hypothesis(hypothesis, record));
  });
  if (const auto search = top.find("search")) record.search = read_search(*search, record);
  return record;
}

RecordLine read_record_line(std::string_view line, const std::string& where) {
  const Json json = parsed_line(line, where);
  if (!has_format(json, "attn-demo.what_if")) return record_from_json(json, where);
  WhatIfRecord record;
  record.before = record_from_json(member_or_null(json, "before"), where + ": before");
  record.after = record_from_json(member_or_null(json, "after"), where + ": after");
  record.teacher_forced = read_hypothesis(JsonReader(json, where)["replayed"], record.after);
  return record;
}

bool is_head_report_line(std::string_view line) {
  return line.starts_with(R"({"format":"attn-demo.heads")");
}

HeadReportLine read_head_report_line(std::string_view line, const std::string& where) {
  const Json json = parsed_line(line, where);
  const JsonReader top(json, where);
  const JsonReader version = top["version"];
  if (version.value() != 1) version.fail(excerpt(version.value().dump()), "1");
  const auto report = [&](std::string_view key, AttentionSite kind) {
    const JsonReader layers = top[key];
    const std::size_t count = layers.array().size();
    return read_site_report(layers, kind, {count, count > 0 ? layers[0].array().size() : 0});
  };
  report("encoder_self", AttentionSite::encoder_self);
  report("decoder_self", AttentionSite::decoder_self);
  SiteReport cross = report("cross", AttentionSite::cross);
  cross.alignment_heads = read_alignment_heads(top, cross.layers, cross.heads);
  return {to_size(top["sentences"].unsigned_integer()), std::move(cross)};
}

}  // namespace attn
