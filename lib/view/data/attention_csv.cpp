#include "view/data/attention_csv.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/map_labels.h"
#include "view/text_output.h"

namespace attn {
namespace {

constexpr std::string_view weights_header =
    "sentence,hypothesis,layer,head,query,key,query_token,query_writes,key_token,weight\r\n";
constexpr std::string_view tokens_header =
    "sentence,hypothesis,sequence,position,id,token,log_prob\r\n";
constexpr std::string_view sentences_header =
    "sentence,hypothesis,source_text,text,score,model,update,changes\r\n";

/// True if a spreadsheet may read the text as a formula after removing any apostrophes and
/// whitespace in front; some spreadsheets accept full-width signs as well.
bool looks_like_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.empty()) return false;
  const CodePoint first = decode_code_point(text);
  if (first.length == text.size()) return false;
  return first.value < 0x20 || std::u32string_view(U"=+-@＝＋－＠").find(first.value) != text.npos;
}

std::string csv_text(std::string_view text) {
  std::string out;
  append_csv_field(out, text);
  return out;
}

/// Returns the fields of the tokens, each followed by a comma; exactly `count` of them, whatever
/// the record holds.
std::vector<std::string> fields_of(const TokenSequence& sequence, int count) {
  std::vector<std::string> fields;
  for (const std::string& token : sequence.tokens) fields.push_back(csv_text(token) + ',');
  fields.resize(to_size(count), ",");
  return fields;
}

/// Calls f(query, key, weight) for the computed cells of a head.
template <typename F>
void for_each_cell(const AttentionMaps& maps, int layer, int head, F&& f) {
  auto weight = maps.cells(layer, head).begin();
  for (int query = 0; query < maps.queries; ++query) {
    for (const CellRun& run : maps.pattern_cells_of(layer, head)->row(query)) {
      for (int key = run.first; key < run.end; ++key) f(to_size(query), to_size(key), *weight++);
    }
  }
}

/// Appends one map after the other; for large maps with a sparse pattern only the computed cells.
/// Every row begins with `start`.
void append_maps(std::string& out, const AttentionMaps& maps, const std::string& start,
                 const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  for (int layer = 0; layer < maps.layers; ++layer) {
    for (int head = 0; head < maps.heads; ++head) {
      const std::string prefix = fmt::format("{}{},{},", start, layer, head);
      const auto append = [&](std::size_t query, std::size_t key, float weight) {
        out += prefix;
        append_format(out, "{},{},", query, key);
        out += queries[query];
        out += keys[key];
        append_float(out, weight);
        out += "\r\n";
      };
      if (maps.sparse()) {
        for_each_cell(maps, layer, head, append);
        continue;
      }
      const std::span<const float> map = maps.map(layer, head);
      for (std::size_t i = 0; i < map.size(); ++i) append(i / keys.size(), i % keys.size(), map[i]);
    }
  }
}

void append_encoder(std::string& out, const AttentionRecord& record, std::size_t sentence) {
  const AttentionMaps& maps = record.encoder_self;
  std::vector<std::string> queries = fields_of(record.source, maps.queries);
  for (std::string& field : queries) field += ',';  // an encoder's query has no output token
  const TokenSequence mixtures{
      maps.has_projected_keys() ? projected_key_labels(maps.keys) : std::vector<std::string>(), {}};
  append_maps(out, maps, fmt::format("{},,", sentence), queries,
              fields_of(maps.has_projected_keys() ? mixtures : record.source, maps.keys));
}

void append_decoder_kind(std::string& out, const AttentionRecord& record, std::size_t sentence,
                         AttentionSite kind) {
  for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
    const HypothesisRecord& hypothesis = record.hypotheses[i];
    const AttentionMaps& maps = *find_maps(record, kind, i);
    std::vector<std::string> queries = fields_of(hypothesis.decoder_input, maps.queries);
    const std::vector<std::string> outputs = fields_of(hypothesis.produced, maps.queries);
    for (std::size_t q = 0; q < queries.size(); ++q) queries[q] += outputs[q];
    const bool cross = kind == AttentionSite::cross;
    append_maps(out, maps, fmt::format("{},{},", sentence, i), queries,
                fields_of(cross ? record.source : hypothesis.decoder_input, maps.keys));
  }
}

void append_decoder(std::string& out, const AttentionRecord& record, std::size_t sentence) {
  append_decoder_kind(out, record, sentence, AttentionSite::decoder_self);
}

void append_cross(std::string& out, const AttentionRecord& record, std::size_t sentence) {
  append_decoder_kind(out, record, sentence, AttentionSite::cross);
}

/// Appends the rows of one token sequence. `start` contains the sentence, the hypothesis and the
/// sequence's name.
void append_sequence(std::string& out, const std::string& start, const TokenSequence& sequence,
                     std::span<const float> log_probs) {
  for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
    append_format(out, "{},{},", start, i);
    if (i < sequence.ids.size()) append_format(out, "{}", sequence.ids[i]);
    out += ',';
    append_csv_field(out, sequence.tokens[i]);
    out += ',';
    if (i < log_probs.size()) append_float(out, log_probs[i]);
    out += "\r\n";
  }
}

void append_tokens(std::string& out, const AttentionRecord& record, std::size_t sentence) {
  append_sequence(out, fmt::format("{},,source", sentence), record.source, {});
  for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
    const HypothesisRecord& hypothesis = record.hypotheses[i];
    append_sequence(out, fmt::format("{},{},decoder_input", sentence, i), hypothesis.decoder_input,
                    {});
    append_sequence(out, fmt::format("{},{},produced", sentence, i), hypothesis.produced,
                    hypothesis.log_probs);
  }
}

void append_sentences(std::string& out, const AttentionRecord& record, std::size_t sentence) {
  const std::string source = csv_text(record.source_text);
  std::string model = csv_text(record.model.name) + ',';
  if (record.model.update) append_format(model, "{}", *record.model.update);
  model += ',' + csv_text(fmt::format("{}", fmt::join(record.changes, "; ")));
  for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
    append_format(out, "{},{},{},{},", sentence, i, source, csv_text(record.hypotheses[i].text));
    append_float(out, record.hypotheses[i].score);
    append_format(out, ",{}\r\n", model);
  }
}

constexpr std::array<CsvTable, 5> csv_table_list = {{
    {"encoder.csv", weights_header, append_encoder},
    {"decoder.csv", weights_header, append_decoder},
    {"cross.csv", weights_header, append_cross},
    {"tokens.csv", tokens_header, append_tokens},
    {"sentences.csv", sentences_header, append_sentences},
}};

}  // namespace

std::span<const CsvTable> csv_tables() {
  return csv_table_list;
}

void append_csv_field(std::string& out, std::string_view text) {
  const bool formula = looks_like_formula(text);
  const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos ||
                      text.starts_with(' ') || text.ends_with(' ');
  if (quoted) out += '"';
  if (formula) out += '\'';
  while (!text.empty()) {
    const CodePoint point = decode_code_point(text);
    const std::string_view bytes = text.substr(0, point.length);
    if (!point.valid || point.value == 0) {
      append_code_point(out, U'\ufffd');
    } else {
      out += bytes;
      if (point.value == U'"') out += '"';
    }
    text.remove_prefix(point.length);
  }
  if (quoted) out += '"';
}

std::string attention_costs_csv(const AttentionCosts& costs) {
  std::string csv =
      "kind,length,causal,forward_seconds,backward_seconds,multiply_adds,peak_bytes\n";
  for (const AttentionCost& cost : costs.measured) {
    csv += fmt::format("{},{},{},{},{},{},{}\n", cost.kind, cost.length, costs.causal,
                       cost.forward_seconds,
                       costs.backward ? fmt::format("{}", cost.backward_seconds) : "",
                       cost.multiply_adds, cost.peak_bytes);
  }
  return csv;
}

}  // namespace attn
