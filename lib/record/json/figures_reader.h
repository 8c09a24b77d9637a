// What was read out of maps, of a record from outside: figures of heads, and word alignments.
#pragma once

#include "record/head_report.h"
#include "record/json/maps_reader.h"

namespace attn {

/// [layer][head] of figures, each a number, or null where nothing defines it.
SiteReport read_site_report(const JsonReader& layers, AttentionSite site, const MapShape& shape);

/// Links name words by their index.
WordAlignment read_alignment(const JsonReader& alignment);

}  // namespace attn
