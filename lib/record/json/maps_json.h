// What a pattern left of maps, as JSON: docs/json.md describes the keys of `seen`.
#pragma once

#include <span>

#include "base/json_writer.h"
#include "record/attention_maps.h"

namespace attn {

/// {"reasons":[…],"patterns":[…],"of":[…],…} of maps that have a pattern; of large ones with the
/// computed cells, where `cells` says so.
void write_pattern(JsonWriter& json, const AttentionMaps& maps, bool cells);

// What linformer, performer and lsh have beside their weights, as JSON: docs/json.md describes the
// keys of `approximation`.

/// {"type":"lsh",…} of maps that have an approximation. `packed`: matrices as text, and of mixtures
/// only how many they are, for their weights are the maps.
void write_approximation(JsonWriter& json, const AttentionMaps& maps, bool packed);

// Attention weights as short text, exact to the last bit of their float32.

/// Maps of `queries` rows and `keys` columns, one after the other, as a text of printable ASCII
/// without quotes, "\" and "<". A weight takes 4.3 bytes where JSON takes 13 and base64 of float32
/// 5.3; its 23 bits of mantissa are as good as random, so no compression gets far below.
///
/// The text is a stream of bits, 13 in two letters: the letters are the 91 of '!' to '~' without
/// `"`, `<` and `\`, the first counts 1, the second 91, and the lowest bit comes first. First bit
/// of the stream: whether all maps are square and 0 after the diagonal; then those cells are left
/// out. A weight is a number s as a Rice code (s/8 in ones, a zero, s%8 in three bits), which tells
/// its size, and what it needs beside that:
///  - 0: the weight is 0;
///  - 1 to 127: it lies in [2^(1-s), 2^(2-s)), and 23 bits of mantissa follow;
///  - 128: anything else, as the 32 bits of a float.
void write_packed(JsonWriter& json, std::span<const float> weights, int queries, int keys);

}  // namespace attn
