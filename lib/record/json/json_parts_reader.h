// Reads and checks the vectors of a record from outside: those of the heads and of the residual
// stream.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "record/attention_record.h"
#include "record/head_report.h"
#include "record/json/maps_reader.h"

namespace attn {

/// Reads the query, key and value vectors of one attention site.
AttentionVectors read_vectors(const JsonReader& vectors, const MapShape& shape);

/// The blocks of a stack through which a residual stream passes.
struct ResidualStreamShape {
  std::size_t rows = 0;  ///< in tokens
  std::size_t layers = 0;
  std::vector<std::string_view> blocks;
};

/// Reads the vectors of all tokens, stage by stage. A stage inside a block names the block and its
/// layer.
std::vector<ResidualStreamState> read_residual_stream(const JsonReader& residual_stream,
                                                      const ResidualStreamShape& shape);

// Reads and checks the analysis in a record from outside: metrics of heads, and word alignments.

/// Reads [layer][head] of metrics, each a number, or null if it is not defined.
SiteReport read_site_report(const JsonReader& layers, AttentionSite site, const MapShape& shape);

/// Reads an alignment; its links name words by their index.
WordAlignment read_alignment(const JsonReader& alignment);

}  // namespace attn
