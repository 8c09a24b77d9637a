#include "view/map_view.h"

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

std::string_view kind_name(AttentionKind kind) {
  if (kind == AttentionKind::encoder_self) return "encoder self-attention";
  return kind == AttentionKind::decoder_self ? "decoder self-attention" : "cross-attention";
}

bool GridAxes::has_continuations() const {
  const auto any = [](const std::vector<std::string>& labels) {
    return std::any_of(labels.begin(), labels.end(), continues_word);
  };
  return any(reads) || any(writes) || any(columns);
}

const AttentionMaps* find_maps(const AttentionRecord& record, AttentionKind kind,
                               std::size_t hypothesis) {
  if (kind == AttentionKind::encoder_self) return &record.encoder_self;
  if (hypothesis >= record.hypotheses.size()) return nullptr;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  return kind == AttentionKind::decoder_self ? &found.decoder_self : &found.cross;
}

std::vector<std::string> mixture_labels(int count) {
  std::vector<std::string> labels;
  for (int i = 0; i < count; ++i) labels.push_back(fmt::format("m{}", i));
  return labels;
}

GridAxes axes_of(const AttentionRecord& record, AttentionKind kind, std::size_t hypothesis) {
  const AttentionMaps* maps = find_maps(record, kind, hypothesis);
  GridAxes axes;
  axes.causal = kind == AttentionKind::decoder_self;
  if (maps == nullptr) return axes;
  if (kind == AttentionKind::encoder_self) {
    axes.reads = labels_of(record.source, maps->queries);
    axes.columns =
        maps->mixed() ? mixture_labels(maps->keys) : labels_of(record.source, maps->keys);
    return axes;
  }
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  axes.reads = labels_of(found.decoder_input, maps->queries);
  axes.writes = labels_of(found.produced, maps->queries);
  axes.columns = labels_of(axes.causal ? found.decoder_input : record.source, maps->keys);
  return axes;
}

}  // namespace attn
