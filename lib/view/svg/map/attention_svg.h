// Attention as a picture: SVG that one can edit, for papers, slides and web pages.
//
// Every picture has the same colour scale from 0 to 1 with its legend, names both axes, is readable
// in light and dark viewers and in grey print, and holds the exact weights (docs/pictures.md says
// where). It is XML in UTF-8, valid on its own, with the sentence as real text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "record/attention_record.h"

namespace attn {

/// Which attention a picture shows.
struct AttentionSvgOptions {
  AttentionSite site = AttentionSite::cross;
  std::size_t hypothesis = 0;  ///< of the record's, best first; the encoder's maps have none
  std::optional<int> layer = std::nullopt;  ///< of the head drawn large; absent: the last one
  std::optional<int> head = std::nullopt;   ///< absent: 0
  /// Drawn large in place of a head: the mean of the layer's heads, or without a layer of all,
  /// [queries · keys].
  std::span<const float> mean = {};
  std::span<const float> exact_mean = {};  ///< of a performer's exact weights, likewise
};

/// The picture that tells the story: every head of the kind small, a row a layer and a column a
/// head, and one of them large, with tokens on both axes and a number in each cell where it fits.
/// A record without any token gives a picture that says so. UsageError where the record has no such
/// hypothesis, layer or head.
std::string attention_svg(const AttentionRecord& record, const AttentionSvgOptions& choice = {});

}  // namespace attn
