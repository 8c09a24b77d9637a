// Receipts summed by words as JSON: docs/json.md describes the keys of `why`.
#pragma once

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "record/json/maps_reader.h"
#include "record/word_receipt.h"

namespace attn {

/// Writes {"words":[…]}, and "decoder_lens" and "maps" if there are any; maps as text if `packed`.
void write_receipts(JsonWriter& json, const WordReceipts& receipts, bool packed = false);

/// The array sizes of a record's maps.
struct SiteShapes {
  MapShape encoder_self, decoder_self, cross;
};

/// Reads what write_receipts() wrote, but for packed maps. Throws InputError naming the place.
WordReceipts read_receipts(const JsonReader& receipts, const SiteShapes& shapes);

}  // namespace attn
