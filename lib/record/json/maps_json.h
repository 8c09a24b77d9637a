// The cells that a pattern left out of maps, as JSON: docs/json.md describes the keys of `seen`.
#pragma once

#include <span>

#include "base/json_writer.h"
#include "record/attention_maps.h"

namespace attn {

/// Writes {"reasons":[…],"patterns":[…],"of":[…],…} for maps that have a pattern; for large maps
/// with the computed cells if `cells` is true.
void write_pattern(JsonWriter& json, const AttentionMaps& maps, bool cells);

// The data of linformer, performer and lsh besides their weights, as JSON: docs/json.md describes
// the keys of `approximation`.

/// Writes {"type":"lsh",…} for maps that have an approximation. With `packed`, matrices are written
/// as text, and of mixtures only their number, because their weights are in the maps.
void write_approximation(JsonWriter& json, const AttentionMaps& maps, bool packed);

// Attention weights as short text, exact to the last bit of their float32.

/// Writes consecutive maps of `queries` rows and `keys` columns as a string of printable ASCII
/// without quotes, "\" and "<". A weight takes 4.3 bytes, compared with 13 in JSON and 5.3 in
/// base64 of float32; its 23 bits of mantissa are nearly random, so no compression gets far below
/// that.
///
/// The text is a stream of bits, 13 per two letters. The letters are the 91 from '!' to '~' without
/// `"`, `<` and `\`; the first one counts 1, the second 91, and the lowest bit comes first. The
/// first bit of the stream is 1 if all maps are square and 0 after the diagonal; those cells are
/// then left out. A weight begins with a number s as a Rice code (s/8 in ones, a zero, s%8 in three
/// bits) for its magnitude, followed by more bits:
///  - 0: the weight is 0;
///  - 1 to 127: it is in [2^(1-s), 2^(2-s)), and 23 bits of mantissa follow;
///  - 128: anything else, as the 32 bits of a float.
void write_packed(JsonWriter& json, std::span<const float> weights, int queries, int keys);

}  // namespace attn
