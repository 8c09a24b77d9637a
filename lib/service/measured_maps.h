// Value-weighted and ALTI maps in the place of a record's weights, for --show cross:2:1@value.
#pragma once

#include "analysis/map_selection.h"
#include "model/transformer.h"
#include "record/attention_record.h"

namespace attn {

/// Returns the record with the measured maps of the item's kind, of all layers; the other kinds
/// have none. An item that names a head, or "best", has a map per head, others a map per layer.
/// `scaled` divides lengths by the largest one. Every hypothesis is run once more. Throws
/// InputError, naming the part, if the model's values are not those of tokens, and MemoryError if
/// the maps do not fit.
MeasuredRecord measure_record(const Transformer& model, const AttentionRecord& record,
                              const MeasuredItem& item, bool scaled);

}  // namespace attn
