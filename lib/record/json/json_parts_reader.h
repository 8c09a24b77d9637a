// Vectors of a record from outside, checked while they are read: those of the heads, and those on a
// token's way.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "record/attention_record.h"
#include "record/head_report.h"
#include "record/json/maps_reader.h"

namespace attn {

/// The query, key and value vectors of one kind of attention.
AttentionVectors read_vectors(const JsonReader& vectors, const MapShape& shape);

/// Where a way leads through: the blocks of a stack's layers.
struct ResidualStreamShape {
  std::size_t rows = 0;  ///< tokens
  std::size_t layers = 0;
  std::vector<std::string_view> blocks;
};

/// The vectors of all tokens, stage by stage. A stage inside a block names it and its layer.
std::vector<ResidualStreamState> read_residual_stream(const JsonReader& residual_stream,
                                                      const ResidualStreamShape& shape);

// What was read out of maps, of a record from outside: figures of heads, and word alignments.

/// [layer][head] of figures, each a number, or null where nothing defines it.
SiteReport read_site_report(const JsonReader& layers, AttentionSite site, const MapShape& shape);

/// Links name words by their index.
WordAlignment read_alignment(const JsonReader& alignment);

}  // namespace attn
