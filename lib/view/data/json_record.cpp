#include "view/data/json_record.h"

#include <algorithm>

#include "base/at.h"
#include "view/data/approximation_json.h"
#include "view/data/head_report_json.h"
#include "view/data/json_parts.h"
#include "view/data/seen_json.h"
#include "view/data/word_alignment.h"

namespace attn {
namespace {

/// [layer][head][query][key]; nothing of large maps of a pattern, of which `seen` has what was
/// computed, and of mixtures, which are in `approximation`: a reader of maps expects tokens.
void append_maps(std::string& out, const AttentionMaps& maps) {
  if (maps.sparse() || maps.mixed()) {
    out += "[]";
    return;
  }
  const auto keys = to_size(maps.keys);
  out += '[';
  for (int layer = 0; layer < maps.layers; ++layer) {
    out += layer == 0 ? "[" : ",[";
    for (int head = 0; head < maps.heads; ++head) {
      out += head == 0 ? "[" : ",[";
      const std::span<const float> map = maps.map(layer, head);
      for (int query = 0; query < maps.queries; ++query) {
        if (query > 0) out += ',';
        append_floats(out, map.subspan(to_size(query) * keys, keys));
      }
      out += ']';
    }
    out += ']';
  }
  out += ']';
}

/// {"query":"…","key":"…","value":"…"}
void append_vectors(std::string& out, const AttentionVectors& vectors) {
  out += "{\"query\":";
  append_float_bytes(out, vectors.query.values);
  out += ",\"key\":";
  append_float_bytes(out, vectors.key.values);
  out += ",\"value\":";
  append_float_bytes(out, vectors.value.values);
  out += '}';
}

/// [{"stage":"added","block":"cross","layer":0,"columns":256,"values":"…"},…]
void append_way(std::string& out, const std::vector<WayStep>& way) {
  append_list(out, way, [](std::string& to, const WayStep& step) {
    to += "{\"stage\":";
    append_string(to, step.stage);
    if (!step.block.empty()) {
      to += ",\"block\":";
      append_string(to, step.block);
      append_format(to, ",\"layer\":{}", step.layer);
    }
    append_format(to, ",\"columns\":{},\"values\":", step.columns);
    append_float_bytes(to, step.values);
    to += '}';
  });
}

/// [[a,b,…],…]: `values` a step, `count` of them each, written by `append`.
template <typename Values, typename Append>
void append_steps(std::string& out, const Values& values, int count, Append&& append) {
  out += '[';
  for (std::size_t first = 0; first < values.size(); first += to_size(count)) {
    if (first > 0) out += ',';
    append_list(out, std::span(values).subspan(first, to_size(count)), append);
  }
  out += ']';
}

void append_alternatives(std::string& out, const Alternatives& alternatives) {
  const int count = alternatives.count;
  const auto number = [](std::string& to, float value) { append_number(to, value); };
  const auto integer = [](std::string& to, int value) { append_integer(to, value); };
  out += "{\"ids\":";
  append_steps(out, alternatives.ids, count, integer);
  out += ",\"tokens\":";
  append_steps(out, alternatives.tokens, count,
               [](std::string& to, const std::string& text) { append_string(to, text); });
  out += ",\"log_probs\":";
  append_steps(out, alternatives.log_probs, count, number);
  if (!alternatives.logits.empty()) {
    out += ",\"logits\":";
    append_steps(out, alternatives.logits, count, number);
  }
  out += ",\"ranks\":";
  append_list(out, alternatives.ranks, integer);
  out += '}';
}

void append_decoding(std::string& out, const Decoding& decoding) {
  if (decoding.given) {
    out += "{\"given\":true}";
    return;
  }
  append_format(out, "{{\"beams\":{},\"length_penalty\":", decoding.beams);
  append_number(out, decoding.length_penalty);
  out += '}';
}

/// [layer][head][…] of the rows of one step.
void append_step_rows(std::string& out, const std::vector<float>& rows, int layers, int heads) {
  const auto count = to_size(std::max(1, layers * heads));
  const std::size_t width = rows.size() / count;
  out += '[';
  for (std::size_t i = 0; i < count && !rows.empty(); ++i) {
    const std::size_t head = i % to_size(heads);
    if (i > 0) out += ',';
    if (head == 0) out += '[';
    append_floats(out, std::span(rows).subspan(i * width, width));
    if (head + 1 == to_size(heads)) out += ']';
  }
  out += ']';
}

void append_node(std::string& out, const SearchNode& node, const ModelSummary& model) {
  append_format(out, "{{\"parent\":{},\"step\":{},\"id\":{},\"token\":", node.parent, node.step,
                node.id);
  append_string(out, node.token);
  const std::pair<const char*, float> numbers[] = {
      {"log_prob", node.log_prob}, {"sum", node.sum}, {"score", node.score}};
  for (const auto& [key, value] : numbers) {
    append_format(out, ",\"{}\":", key);
    append_number(out, value);
  }
  append_format(out, ",\"kept\":{},\"ended\":{}", node.kept, node.ended);
  out += ",\"decoder_self\":";
  append_step_rows(out, node.decoder_self, model.decoder_layers, model.decoder_heads);
  out += ",\"cross\":";
  append_step_rows(out, node.cross, model.decoder_layers, model.decoder_heads);
  out += '}';
}

void append_search(std::string& out, const SearchTree& tree, const ModelSummary& model) {
  append_format(out, ",\"search\":{{\"beams\":{},\"length_penalty\":", tree.beams);
  append_number(out, tree.length_penalty);
  out += ",\"nodes\":";
  append_list(out, tree.nodes,
              [&](std::string& to, const SearchNode& node) { append_node(to, node, model); });
  out += '}';
}

/// Bytes that the line will take, roughly: a weight is seldom longer than 13 characters.
std::size_t estimated_size(const AttentionRecord& record) {
  std::size_t weights = record.encoder_self.weights.size();
  for (const HypothesisRecord& hypothesis : record.hypotheses) {
    weights += hypothesis.decoder_self.weights.size() + hypothesis.cross.weights.size();
  }
  return 4096 + 13 * weights;
}

void append_part(std::string& out, const LinePart& part) {
  append_format(out, "{{\"line\":{},\"number\":{},\"of\":{},\"text\":", part.line, part.number,
                part.of);
  append_string(out, part.text);
  out += ",\"gap\":";
  append_string(out, part.gap);
  out += '}';
}

}  // namespace

void append_hypothesis(std::string& out, const HypothesisRecord& hypothesis) {
  out += "{\"text\":";
  append_string(out, hypothesis.text);
  if (hypothesis.replayed) out += ",\"replayed\":true";
  out += ',';
  append_tokens(out, hypothesis.produced);
  out += ",\"score\":";
  append_number(out, hypothesis.score);
  out += ",\"log_probs\":";
  append_floats(out, hypothesis.log_probs);
  out += ",\"decoder_input\":{";
  append_tokens(out, hypothesis.decoder_input);
  out += "},\"decoder_self\":";
  append_maps(out, hypothesis.decoder_self);
  out += ",\"cross\":";
  append_maps(out, hypothesis.cross);
  if (hypothesis.alternatives) {
    out += ",\"alternatives\":";
    append_alternatives(out, *hypothesis.alternatives);
  }
  if (hypothesis.decoder_self_vectors && hypothesis.cross_vectors) {
    out += ",\"vectors\":{\"decoder_self\":";
    append_vectors(out, *hypothesis.decoder_self_vectors);
    out += ",\"cross\":";
    append_vectors(out, *hypothesis.cross_vectors);
    out += '}';
  }
  if (hypothesis.decoder_self.seen) {
    out += ",\"seen\":{\"decoder_self\":";
    append_seen(out, hypothesis.decoder_self);
    out += '}';
  }
  if (hypothesis.decoder_self.approximation) {
    out += ",\"approximation\":{\"decoder_self\":";
    append_approximation(out, hypothesis.decoder_self);
    out += '}';
  }
  if (!hypothesis.way.empty()) {
    out += ",\"way\":";
    append_way(out, hypothesis.way);
  }
  if (hypothesis.decoder_report && hypothesis.cross_report) {
    out += ",\"report\":{\"decoder_self\":";
    append_kind_report(out, *hypothesis.decoder_report);
    out += ",\"cross\":";
    append_kind_report(out, *hypothesis.cross_report);
    out += '}';
  }
  if (hypothesis.alignment) {
    out += ",\"alignment\":";
    append_alignment_json(out, *hypothesis.alignment);
  }
  out += '}';
}

std::string to_json_line(const AttentionRecord& record) {
  std::string out;
  out.reserve(estimated_size(record));
  out += "{\"format\":\"attn-demo.attention\",\"version\":1,\"model\":";
  append_model(out, record.model);
  if (!record.changes.empty()) {
    out += ",\"changes\":";
    append_strings(out, record.changes);
  }
  if (record.part) {
    out += ",\"part\":";
    append_part(out, *record.part);
  }
  if (record.decoding) {
    out += ",\"decoding\":";
    append_decoding(out, *record.decoding);
  }
  out += ",\"source\":{\"text\":";
  append_string(out, record.source_text);
  out += ',';
  append_tokens(out, record.source);
  out += "},\"encoder_self\":";
  append_maps(out, record.encoder_self);
  out += ",\"hypotheses\":";
  append_list(out, record.hypotheses, append_hypothesis);
  if (record.encoder_vectors) {
    out += ",\"vectors\":{\"encoder_self\":";
    append_vectors(out, *record.encoder_vectors);
    out += '}';
  }
  if (record.encoder_self.seen) {
    out += ",\"seen\":{\"encoder_self\":";
    append_seen(out, record.encoder_self);
    out += '}';
  }
  if (record.encoder_self.approximation) {
    out += ",\"approximation\":{\"encoder_self\":";
    append_approximation(out, record.encoder_self);
    out += '}';
  }
  if (!record.way.empty()) {
    out += ",\"way\":";
    append_way(out, record.way);
  }
  if (record.encoder_report) {
    out += ",\"report\":{\"encoder_self\":";
    append_kind_report(out, *record.encoder_report);
    out += '}';
  }
  if (record.search) append_search(out, *record.search, record.model);
  out += "}\n";
  return out;
}

}  // namespace attn
