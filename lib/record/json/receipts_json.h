// Receipts summed by words as JSON: docs/json.md describes the keys of `why`.
#pragma once

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "record/word_receipt.h"

namespace attn {

/// Writes {"words":[…]}, and "decoder_lens" if there is one.
void write_receipts(JsonWriter& json, const WordReceipts& receipts);

/// Reads what write_receipts() wrote. Throws InputError naming the place.
WordReceipts read_receipts(const JsonReader& receipts);

}  // namespace attn
