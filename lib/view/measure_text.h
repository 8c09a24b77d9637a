// Maps of measures that are not weights, in words.
#pragma once

#include <string>

#include "record/shown_maps.h"

namespace attn {

/// Returns a sentence on the numbers of a measured map. `largest` is the length that is drawn as 1.
std::string measure_sentence(MapMeasure measure, float largest);

}  // namespace attn
