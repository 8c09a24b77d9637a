// The program's JSON back as a record, for tests that look at what it wrote.
#pragma once

#include <string>
#include <vector>

#include "base/at.h"
#include "base/json.h"
#include "record/attention_record.h"

namespace attn::test {

inline AttentionMaps maps_from_json(const Json& json) {
  AttentionMaps maps;
  maps.layers = to_int(json.size());
  for (const Json& layer : json) {
    maps.heads = to_int(layer.size());
    for (const Json& head : layer) {
      maps.queries = to_int(head.size());
      for (const Json& row : head) {
        maps.keys = to_int(row.size());
        for (const Json& weight : row) maps.weights.push_back(weight.get<float>());
      }
    }
  }
  return maps;
}

inline TokenSequence tokens_from_json(const Json& json) {
  return {json["tokens"].get<std::vector<std::string>>(), json["ids"].get<std::vector<int>>()};
}

/// What analysis reads of a record: texts, tokens and maps.
inline AttentionRecord record_from_json(const std::string& line) {
  const Json json = Json::parse(line);
  AttentionRecord record;
  record.model.name = json["model"]["name"].get<std::string>();
  record.model.encoder_layers = json["model"]["encoder_layers"].get<int>();
  record.model.decoder_layers = json["model"]["decoder_layers"].get<int>();
  record.model.encoder_heads = json["model"]["encoder_heads"].get<int>();
  record.model.decoder_heads = json["model"]["decoder_heads"].get<int>();
  record.source_text = json["source"]["text"].get<std::string>();
  record.source = tokens_from_json(json["source"]);
  record.encoder_self = maps_from_json(json["encoder_self"]);
  for (const Json& found : json["hypotheses"]) {
    HypothesisRecord hypothesis;
    hypothesis.text = found["text"].get<std::string>();
    hypothesis.produced = tokens_from_json(found);
    hypothesis.decoder_input = tokens_from_json(found["decoder_input"]);
    hypothesis.decoder_self = maps_from_json(found["decoder_self"]);
    hypothesis.cross = maps_from_json(found["cross"]);
    record.hypotheses.push_back(std::move(hypothesis));
  }
  return record;
}

}  // namespace attn::test
