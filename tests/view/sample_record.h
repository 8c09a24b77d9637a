// Records for the views' tests, made here so that the tests need no other library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/at.h"
#include "record/attention_record.h"

namespace attn::test {

/// Returns rows that sum to 1, from a fixed sequence; with `causal`, 0 right of the diagonal.
inline AttentionMaps sample_maps(int layers, int heads, int queries, int keys, bool causal) {
  AttentionMaps maps{layers, heads, queries, keys, {}};
  maps.weights.resize(to_size(layers * heads * queries * keys));
  std::uint32_t state = 12345;
  for (int row = 0; row < layers * heads * queries; ++row) {
    float* weights = maps.weights.data() + to_index(row) * keys;
    float sum = 0;
    for (int key = 0; key < keys; ++key) {
      state = state * 1664525u + 1013904223u;
      const bool masked = causal && key > row % queries;
      weights[key] = masked ? 0.0f : std::exp(static_cast<float>(state >> 16) / 16384.0f);
      sum += weights[key];
    }
    for (int key = 0; key < keys; ++key) weights[key] /= sum;
  }
  return maps;
}

/// Returns a record of these source and produced tokens, with two layers and two heads everywhere.
inline AttentionRecord sample_record(std::vector<std::string> source,
                                     std::vector<std::string> produced) {
  AttentionRecord record;
  record.model.name = "sample";
  record.model.d_model = 12;
  record.model.encoder_layers = record.model.decoder_layers = 2;
  record.model.encoder_heads = record.model.decoder_heads = 2;
  const int source_length = to_int(source.size());
  const int target_length = to_int(produced.size());
  HypothesisRecord hypothesis;
  hypothesis.decoder_input.tokens = {"<pad>"};
  hypothesis.decoder_input.tokens.insert(hypothesis.decoder_input.tokens.end(), produced.begin(),
                                         produced.end() - 1);
  for (int id = 0; id < target_length; ++id) {
    hypothesis.produced.ids.push_back(id + 2);
    hypothesis.decoder_input.ids.push_back(id + 1);
    hypothesis.log_probs.push_back(-0.1f * static_cast<float>(id + 1));
  }
  for (int id = 0; id < source_length; ++id) record.source.ids.push_back(source_length - 1 - id);
  hypothesis.produced.tokens = std::move(produced);
  record.source.tokens = std::move(source);
  hypothesis.decoder_self = sample_maps(2, 2, target_length, target_length, true);
  hypothesis.cross = sample_maps(2, 2, target_length, source_length, false);
  record.encoder_self = sample_maps(2, 2, source_length, source_length, false);
  record.hypotheses.push_back(std::move(hypothesis));
  return record;
}

inline AttentionRecord demo_record() {
  AttentionRecord record = sample_record({"▁The", "▁group", "▁went", "▁home", "</s>"},
                                         {"▁Die", "▁Gruppe", "▁ging", "▁nach", "▁Hause", "</s>"});
  record.source_text = "The group went home";
  record.hypotheses[0].text = "Die Gruppe ging nach Hause";
  return record;
}

/// Returns a window of ±1 with the first token global: runs of `tokens` rows.
inline PatternCells small_longformer(int tokens) {
  PatternCells seen;
  for (int row = 0; row < tokens; ++row) {
    if (row == 0) {
      seen.runs.push_back({0, tokens, PatternReason::global});
    } else {
      seen.runs.push_back({0, 1, PatternReason::global});
      seen.runs.push_back({std::max(1, row - 1), std::min(tokens, row + 2), PatternReason::window});
    }
    seen.end_row();
  }
  return seen;
}

/// Returns a record whose encoder maps follow small_longformer(): other weights are 0.
inline AttentionRecord patterned_record() {
  AttentionRecord record = demo_record();
  AttentionMaps& maps = record.encoder_self;
  maps.seen = {{small_longformer(maps.keys)}, {0, 0, 0, 0}};
  const std::vector<std::uint8_t> out = maps.uncomputed(0, 0);
  for (std::size_t i = 0; i < maps.weights.size(); ++i) {
    if (out[i % out.size()] != 0) maps.weights[i] = 0;
  }
  return record;
}

/// Returns a record wider than any window, with subwords and long words.
inline AttentionRecord long_record() {
  return sample_record(
      {"▁Where", "▁do", "▁the", "▁re", "sea", "rchers", "▁keep", "▁all", "▁Donaudampfschifffahrts",
       "gesellschaft", "▁records", "▁of", "▁last", "▁year", ",", "▁my", "▁friend", "?", "</s>"},
      {"▁Wo", "▁bewahren", "▁die", "▁Forscher", "▁alle", "▁Aufzeichn", "ungen", "▁des", "▁letzten",
       "▁Jahres", "▁auf", ",", "▁mein", "▁Freund", "?", "</s>"});
}

/// Returns a record with tokens that try to break the grid or the terminal.
inline AttentionRecord hostile_record() {
  return sample_record({"▁\x1b[31mred", "\x1b]0;title\x07", "▁\u202Eevil", "\u2066x", "▁漢字かな",
                        "▁😀", std::string(200, 'x'), "", " ", "\n", "\r", "\u0085", "\u2028", "▁",
                        "e\u0301\u0301\u0301", "a\xff\xfe", "</s>"},
                       {"▁\x1b[2J", "漢字かな漢字かな漢字かな", "", "\t\t", "</s>"});
}

}  // namespace attn::test
