#include "view/map_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/at.h"
#include "view/token_label.h"

namespace attn {
namespace {

/// Exactly `count` labels.
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
    axes.columns =
        maps->has_projected_keys() ? projected_key_labels(maps->keys) : labels_of(record.source, maps->keys);
    return axes;
  }
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  axes.inputs = labels_of(found.decoder_input, maps->queries);
  axes.outputs = labels_of(found.produced, maps->queries);
  axes.columns = labels_of(axes.causal ? found.decoder_input : record.source, maps->keys);
  return axes;
}

}  // namespace attn
