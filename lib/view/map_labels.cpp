#include "view/map_labels.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Returns exactly `count` labels.
std::vector<std::string> labels_of(const TokenSequence& sequence, int count) {
  std::vector<std::string> labels = token_labels(sequence.tokens);
  labels.resize(to_size(count), "?");
  return labels;
}

}  // namespace

std::string_view site_name(AttentionSite site) {
  if (site == AttentionSite::encoder_self) return "encoder self-attention";
  return site == AttentionSite::decoder_self ? "decoder self-attention" : "cross-attention";
}

bool MapLabels::has_continuations() const {
  const auto any = [](const std::vector<std::string>& labels) {
    return std::any_of(labels.begin(), labels.end(), continues_word);
  };
  return any(inputs) || any(outputs) || any(columns);
}

const AttentionMaps* find_maps(const AttentionRecord& record, AttentionSite site,
                               std::size_t hypothesis) {
  if (site == AttentionSite::encoder_self) return &record.encoder_self;
  if (hypothesis >= record.hypotheses.size()) return nullptr;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  return site == AttentionSite::decoder_self ? &found.decoder_self : &found.cross;
}

std::vector<std::string> projected_key_labels(int count) {
  std::vector<std::string> labels;
  for (int i = 0; i < count; ++i) labels.push_back(fmt::format("m{}", i));
  return labels;
}

MapLabels map_labels(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis) {
  const AttentionMaps* maps = find_maps(record, site, hypothesis);
  MapLabels axes;
  axes.causal = site == AttentionSite::decoder_self;
  if (maps == nullptr) return axes;
  if (site == AttentionSite::encoder_self) {
    axes.inputs = labels_of(record.source, maps->queries);
    axes.columns = maps->has_projected_keys() ? projected_key_labels(maps->keys)
                                              : labels_of(record.source, maps->keys);
    return axes;
  }
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  axes.inputs = labels_of(found.decoder_input, maps->queries);
  axes.outputs = labels_of(found.produced, maps->queries);
  axes.columns = labels_of(axes.causal ? found.decoder_input : record.source, maps->keys);
  return axes;
}

namespace {

constexpr std::string_view word_mark = "▁";
constexpr std::string_view continuation_mark = "‿";

bool is_special(std::string_view token) {
  if (token.size() < 3) return false;
  return (token.starts_with('<') && token.ends_with('>')) ||
         (token.starts_with(">>") && token.ends_with("<<"));
}

}  // namespace

std::vector<std::string> token_labels(const std::vector<std::string>& tokens) {
  // Without word markers in the vocabulary, words and continuations look the same.
  const bool marked = std::any_of(tokens.begin(), tokens.end(), [](const std::string& token) {
    return token.starts_with(word_mark);
  });
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  bool inside_word = false;  // true if the previous token is part of a word that may continue
  for (const std::string& token : tokens) {
    std::string_view text = token;
    const bool special = is_special(text);
    const bool starts_word = text.starts_with(word_mark);
    if (starts_word && text.size() > word_mark.size()) text.remove_prefix(word_mark.size());
    std::string label = printable(text);
    if (label.find_first_not_of(' ') == std::string::npos) label = '"' + label + '"';
    if (marked && inside_word && !starts_word && !special) label.insert(0, continuation_mark);
    labels.push_back(std::move(label));
    inside_word = !special;
  }
  return labels;
}

bool continues_word(std::string_view label) {
  return label.starts_with(continuation_mark);
}

}  // namespace attn
