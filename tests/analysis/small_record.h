// Records small enough to compute by hand.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/at.h"
#include "record/attention_record.h"

namespace attn::test {

using Tokens = std::vector<std::string>;

/// Returns one layer with these heads, each row-major.
inline AttentionMaps maps_of(int queries, int keys, const std::vector<std::vector<float>>& heads) {
  AttentionMaps maps{1, to_int(heads.size()), queries, keys, {}};
  for (const std::vector<float>& head : heads) {
    std::copy(head.begin(), head.end(), std::back_inserter(maps.weights));
  }
  return maps;
}

/// Returns maps with every weight 1/keys or, if causal, 1/(query + 1) up to the query.
inline AttentionMaps even_maps(int layers, int heads, int queries, int keys, bool causal = false) {
  AttentionMaps maps{layers, heads, queries, keys, {}};
  for (int row = 0; row < layers * heads * queries; ++row) {
    const int visible = causal ? row % queries + 1 : keys;
    for (int key = 0; key < keys; ++key) {
      maps.weights.push_back(key < visible ? 1.0F / static_cast<float>(visible) : 0.0F);
    }
  }
  return maps;
}

/// Returns rows of a softmax over numbers from a fixed sequence.
inline AttentionMaps random_maps(int layers, int heads, int queries, int keys, std::uint32_t state,
                                 bool causal = false) {
  AttentionMaps maps = even_maps(layers, heads, queries, keys, causal);
  for (std::size_t row = 0; row < maps.weights.size(); row += to_size(keys)) {
    float sum = 0;
    for (std::size_t i = row; i < row + to_size(keys); ++i) {
      state = state * 1664525U + 1013904223U;
      if (maps.weights[i] > 0) maps.weights[i] = std::exp(static_cast<float>(state >> 16) / 16384);
      sum += maps.weights[i];
    }
    for (std::size_t i = row; i < row + to_size(keys); ++i) maps.weights[i] /= sum;
  }
  return maps;
}

/// Returns the tokens as text: word-boundary characters become spaces, and "</s>" is left out.
inline std::string text_of(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    if (token == "</s>") continue;
    const bool marked = token.starts_with("▁");
    if (marked && !text.empty()) text += ' ';
    text += marked ? token.substr(std::string("▁").size()) : token;
  }
  return text;
}

/// Returns a record with uniform maps of one layer and one head, to be replaced.
inline AttentionRecord small_record(const Tokens& source, const Tokens& produced) {
  AttentionRecord record;
  record.model.name = "small";
  record.model.encoder_layers = record.model.decoder_layers = 1;
  record.model.encoder_heads = record.model.decoder_heads = 1;
  record.source_text = text_of(source);
  record.source.tokens = source;
  record.source.ids.resize(source.size());
  const int s = to_int(source.size());
  const int l = to_int(produced.size());
  record.encoder_self = even_maps(1, 1, s, s);
  HypothesisRecord hypothesis;
  hypothesis.text = text_of(produced);
  hypothesis.produced.tokens = produced;
  hypothesis.produced.ids.resize(produced.size());
  if (l > 0) {
    hypothesis.decoder_input.tokens = {"<pad>"};
    hypothesis.decoder_input.tokens.insert(hypothesis.decoder_input.tokens.end(), produced.begin(),
                                           produced.end() - 1);
  }
  hypothesis.decoder_self = even_maps(1, 1, l, l, true);
  hypothesis.cross = even_maps(1, 1, l, l == 0 ? 0 : s);
  record.hypotheses.push_back(hypothesis);
  return record;
}

}  // namespace attn::test
