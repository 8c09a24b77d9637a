// Maps of measures in the place of a record's weights: value-weighted and ALTI maps for --show
// cross:2:1@value, value-weighted maps and contributions for the page.
#pragma once

#include "analysis/map_selection.h"
#include "model/transformer.h"
#include "record/attention_record.h"
#include "why/receipt.h"
#include "why/trace.h"

namespace attn {

/// Returns the record with the measured maps of the item's kind, of all layers; the other kinds
/// have none. An item that names a head, or "best", has a map per head, others a map per layer.
/// `scaled` divides lengths by the largest one. Every hypothesis is run once more. Throws
/// InputError, naming the part, if the model's values are not those of tokens, and MemoryError if
/// the maps do not fit.
MeasuredRecord measure_record(const Transformer& model, const AttentionRecord& record,
                              const MeasuredItem& item, bool scaled);

/// Adds the maps that a page can show in the place of weights; `receipt` is that of the written
/// tokens' logits.
void add_measured_maps(const Transformer& model, const Trace& trace, const Receipt& receipt,
                       WordReceipts& receipts);

}  // namespace attn
