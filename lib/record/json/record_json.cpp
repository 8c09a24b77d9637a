#include "record/json/record_json.h"
#include "record/json/receipts_json.h"

#include <algorithm>
#include <numeric>

#include "base/at.h"
#include "base/strings/base64.h"
#include "record/json/json_parts.h"
#include "record/json/maps_json.h"
#include "record/words.h"

namespace attn {
namespace {

using Pieces = std::vector<std::string>;

void write_float_bytes(JsonWriter& json, std::string_view key, std::span<const float> values) {
  json.key(key);
  json.unescaped_string([&](std::string& out) { append_base64(out, values); });
}

void write_vectors(JsonWriter& json, const AttentionVectors& vectors) {
  json.object([&] {
    write_float_bytes(json, "query", vectors.query.values);
    write_float_bytes(json, "key", vectors.key.values);
    write_float_bytes(json, "value", vectors.value.values);
    const std::vector<float>& relative_bias = vectors.relative_bias.values;
    if (!relative_bias.empty()) write_float_bytes(json, "distances", relative_bias);
  });
}

/// Writes a member if there is a residual stream.
void write_residual_stream(JsonWriter& json,
                           const std::vector<ResidualStreamState>& residual_stream) {
  if (residual_stream.empty()) return;
  json.key("way");
  json.array(residual_stream, [&](const ResidualStreamState& step) {
    json.object([&] {
      json.member("stage", step.stage);
      if (!step.block.empty()) {
        json.member("block", step.block);
        json.member("layer", step.layer);
      }
      json.member("columns", step.columns);
      write_float_bytes(json, "values", step.values);
    });
  });
}

void write_decoding(JsonWriter& json, const Decoding& decoding) {
  json.object([&] {
    if (decoding.given) return json.member("given", true);
    json.member("beams", decoding.beams);
    json.member("length_penalty", decoding.length_penalty);
  });
}

void write_part(JsonWriter& json, const LinePart& part) {
  json.object([&] {
    json.member("line", part.line);
    json.member("number", part.number);
    json.member("of", part.of);
    json.member("text", part.text);
    json.member("gap", part.gap);
  });
}

/// Writes the maps of a site under its name: [layer][head][query][key]. Writes an empty array for
/// large maps of a pattern, whose computed cells are in `seen`, and for mixtures, which are in
/// `approximation`, because readers of maps expect tokens.
void write_maps(JsonWriter& json, std::string_view kind, const AttentionMaps& maps, bool packed) {
  json.key(kind);
  if (maps.sparse() || (maps.has_projected_keys() && !packed)) return json.array([] {});
  if (packed) return write_packed(json, maps.weights, maps.queries, maps.keys);
  write_heads(json, maps.layers, maps.heads, [&](int layer, int head) {
    const auto keys = to_size(maps.keys);
    json.array_of(maps.queries, [&](int query) {
      json.value(maps.map(layer, head).subspan(to_size(query) * keys, keys));
    });
  });
}

template <typename Value>
struct OfKind {
  std::string_view kind;
  const Value& value;
};

/// Writes a member: an object with one value per site, written by `write`.
template <typename Value, typename Write>
void write_kinds(JsonWriter& json, std::string_view name,
                 std::initializer_list<OfKind<Value>> kinds, Write write) {
  json.key(name);
  json.object([&] {
    for (const OfKind<Value>& each : kinds) {
      json.key(each.kind);
      write(json, each.value);
    }
  });
}

/// Writes the members for the pattern and the approximation of a site's maps.
void write_beside(JsonWriter& json, std::string_view kind, const AttentionMaps& maps, bool packed) {
  const auto member = [&](std::string_view name, auto write, bool how) {
    json.key(name);
    json.object([&] { json.member(kind, [&] { write(json, maps, how); }); });
  };
  if (maps.seen) member("seen", write_pattern, !packed);
  if (maps.approximation) member("approximation", write_approximation, packed);
}

/// Writes one record with the given options.
class RecordWriter {
 public:
  RecordWriter(JsonWriter& json, const RecordJsonOptions& form, const AttentionRecord& record)
      : json_(json), form_(form), model_(record.model) {
    const auto add = [&](const Pieces& pieces, bool last) {
      if (!pieces.empty()) special_.push_back(last ? pieces.back() : pieces.front());
    };
    add(record.source.tokens, true);
    for (const HypothesisRecord& found : record.hypotheses) add(found.decoder_input.tokens, false);
  }

  void write(const AttentionRecord& record);
  void write_hypothesis(const HypothesisRecord& hypothesis);

 private:
  void write_sequence(const TokenSequence& sequence, const std::string& text) {
    write_tokens(json_, sequence);
    write_ends(sequence.tokens, text);
  }
  void write_ends(const Pieces& pieces, const std::string& text);
  void write_best(const std::optional<SiteReport>& cross);
  void write_alternatives(const Alternatives& alternatives);
  void write_search(const SearchTree& tree);
  void write_node(const SearchNode& node, std::vector<Pieces>& paths);
  void write_words(const AttentionRecord& words);
  void write_step_rows(std::string_view kind, const std::vector<float>& rows);

  JsonWriter& json_;
  const RecordJsonOptions& form_;
  const ModelSummary& model_;
  Pieces special_;
};

/// Writes, for the page, where the words of `pieces` end.
void RecordWriter::write_ends(const Pieces& pieces, const std::string& text) {
  if (!form_.packed) return;
  const bool marked = std::any_of(pieces.begin(), pieces.end(),
                                  [](const std::string& piece) { return piece.starts_with("▁"); });
  std::vector<int> ends(marked ? 0 : pieces.size());
  std::iota(ends.begin(), ends.end(), 1);
  if (marked) {
    for (const Word& word : split_words(pieces, text, special_)) {
      ends.push_back(word.first + word.count);
    }
  }
  json_.member("ends", ends);
}

/// Writes, for the page, the heads that align best.
void RecordWriter::write_best(const std::optional<SiteReport>& cross) {
  if (!form_.packed) return;
  json_.key("best");
  write_head_indices(json_, cross && form_.report ? best_heads(*cross) : std::vector<HeadIndex>());
}

void RecordWriter::write_alternatives(const Alternatives& alternatives) {
  const auto steps = [&](std::string_view key, const auto& values) {
    json_.key(key);
    write_rows(json_, std::span(values), alternatives.count);
  };
  json_.object([&] {
    steps("ids", alternatives.ids);
    steps("tokens", alternatives.tokens);
    steps("log_probs", alternatives.log_probs);
    if (form_.vectors && !alternatives.logits.empty()) steps("logits", alternatives.logits);
    json_.member("ranks", alternatives.ranks);
  });
}

/// Writes a member with the rows of one step, [layer][head][…], if they were recorded.
void RecordWriter::write_step_rows(std::string_view kind, const std::vector<float>& rows) {
  if (rows.empty()) return;
  json_.key(kind);
  const int layers = model_.decoder_layers, heads = model_.decoder_heads;
  const std::size_t width = rows.size() / to_size(layers * heads);
  if (form_.packed) return write_packed(json_, rows, 1, to_int(width));
  write_heads(json_, layers, heads, [&](int layer, int head) {
    json_.value(std::span(rows).subspan(to_size(layer * heads + head) * width, width));
  });
}

/// `paths` holds the tokens from the start to each node so far; parents come before their children.
void RecordWriter::write_node(const SearchNode& node, std::vector<Pieces>& paths) {
  json_.object([&] {
    json_.member("parent", node.parent);
    json_.member("step", node.step);
    json_.member("id", node.id);
    json_.member("token", node.token);
    json_.member("log_prob", node.log_prob);
    json_.member("sum", node.sum);
    json_.member("score", node.score);
    json_.member("kept", node.kept);
    json_.member("ended", node.ended);
    write_step_rows("decoder_self", node.decoder_self);
    write_step_rows("cross", node.cross);
    if (!form_.packed) return;
    Pieces path = node.parent >= 0 ? at(paths, node.parent) : Pieces();
    path.push_back(node.token);
    write_ends(path, "");
    paths.push_back(std::move(path));
  });
}

void RecordWriter::write_search(const SearchTree& tree) {
  json_.object([&] {
    json_.member("beams", tree.beams);
    json_.member("length_penalty", tree.length_penalty);
    std::vector<Pieces> paths;
    json_.key("nodes");
    json_.array(tree.nodes, [&](const SearchNode& node) { write_node(node, paths); });
  });
}

void RecordWriter::write_hypothesis(const HypothesisRecord& hypothesis) {
  json_.object([&] {
    json_.member("text", hypothesis.text);
    if (hypothesis.teacher_forced) json_.member("replayed", true);
    write_sequence(hypothesis.produced, hypothesis.text);
    json_.member("score", hypothesis.score);
    json_.member("log_probs", hypothesis.log_probs);
    json_.key("decoder_input");
    json_.object([&] { write_sequence(hypothesis.decoder_input, hypothesis.text); });
    write_maps(json_, "decoder_self", hypothesis.decoder_self, form_.packed);
    write_maps(json_, "cross", hypothesis.cross, form_.packed);
    write_best(hypothesis.cross_report);
    if (hypothesis.alternatives) {
      json_.key("alternatives");
      write_alternatives(*hypothesis.alternatives);
    }
    if (form_.vectors && hypothesis.decoder_self_vectors && hypothesis.cross_vectors) {
      write_kinds<AttentionVectors>(json_, "vectors",
                                    {{"decoder_self", *hypothesis.decoder_self_vectors},
                                     {"cross", *hypothesis.cross_vectors}},
                                    write_vectors);
    }
    write_beside(json_, "decoder_self", hypothesis.decoder_self, form_.packed);
    if (form_.vectors) write_residual_stream(json_, hypothesis.residual_stream);
    if (form_.report && hypothesis.decoder_report && hypothesis.cross_report) {
      write_kinds<SiteReport>(
          json_, "report",
          {{"decoder_self", *hypothesis.decoder_report}, {"cross", *hypothesis.cross_report}},
          write_site_report);
    }
    if (form_.alignment && hypothesis.alignment) {
      json_.key("alignment");
      write_alignment(json_, *hypothesis.alignment, !form_.packed);
    }
    if (form_.receipts && hypothesis.receipts) {
      json_.member("why", [&] { write_receipts(json_, *hypothesis.receipts, form_.packed); });
    }
  });
}

/// Writes the second set of maps, by words.
void RecordWriter::write_words(const AttentionRecord& words) {
  json_.object([&] {
    json_.member("source", words.source.tokens);
    write_maps(json_, "encoder_self", words.encoder_self, false);
    json_.key("hypotheses");
    json_.array(words.hypotheses, [&](const HypothesisRecord& hypothesis) {
      json_.object([&] {
        json_.member("target", hypothesis.produced.tokens);
        json_.member("decoder_input", hypothesis.decoder_input.tokens);
        write_maps(json_, "decoder_self", hypothesis.decoder_self, false);
        write_maps(json_, "cross", hypothesis.cross, false);
      });
    });
  });
}

void RecordWriter::write(const AttentionRecord& record) {
  json_.object([&] {
    json_.member("format", "attn-demo.attention");
    json_.member("version", 1);
    json_.key("model");
    write_model(json_, record.model);
    if (!record.changes.empty()) json_.member("changes", record.changes);
    if (record.part) json_.member("part", [&] { write_part(json_, *record.part); });
    if (record.decoding) json_.member("decoding", [&] { write_decoding(json_, *record.decoding); });
    json_.member("source", [&] {
      json_.object([&] {
        json_.member("text", record.source_text);
        write_sequence(record.source, record.source_text);
      });
    });
    write_maps(json_, "encoder_self", record.encoder_self, form_.packed);
    json_.key("hypotheses");
    json_.array(record.hypotheses, [&](const HypothesisRecord& each) { write_hypothesis(each); });
    if (form_.vectors && record.encoder_vectors) {
      write_kinds<AttentionVectors>(json_, "vectors", {{"encoder_self", *record.encoder_vectors}},
                                    write_vectors);
    }
    write_beside(json_, "encoder_self", record.encoder_self, form_.packed);
    if (form_.vectors) write_residual_stream(json_, record.residual_stream);
    if (form_.report && record.encoder_report) {
      write_kinds<SiteReport>(json_, "report", {{"encoder_self", *record.encoder_report}},
                              write_site_report);
    }
    if (form_.search && record.search) {
      json_.member("search", [&] { write_search(*record.search); });
    }
    if (form_.words != nullptr) json_.member("words", [&] { write_words(*form_.words); });
  });
}

/// Estimates the length of the line in bytes: a weight is seldom longer than 13 characters.
std::size_t estimated_size(const AttentionRecord& record) {
  std::size_t weights = record.encoder_self.weights.size();
  for (const HypothesisRecord& hypothesis : record.hypotheses) {
    weights += hypothesis.decoder_self.weights.size() + hypothesis.cross.weights.size();
  }
  return 4096 + 13 * weights;
}

}  // namespace

std::string to_json_line(const AttentionRecord& record, const RecordJsonOptions& form) {
  std::string out;
  out.reserve(form.packed ? 0 : estimated_size(record));
  JsonWriter json(out);
  RecordWriter(json, form, record).write(record);
  return out += '\n';
}

std::string what_if_json(const WhatIfRecord& record, const RecordJsonOptions& form) {
  return json_line([&](JsonWriter& json) {
    RecordWriter before(json, form, record.before), after(json, form, record.after);
    json.object([&] {
      json.member("format", "attn-demo.what_if");
      json.member("version", 1);
      json.member("changes", record.after.changes);
      json.member("before", [&] { before.write(record.before); });
      json.member("after", [&] { after.write(record.after); });
      json.member("replayed", [&] { after.write_hypothesis(record.teacher_forced); });
    });
  });
}

}  // namespace attn
