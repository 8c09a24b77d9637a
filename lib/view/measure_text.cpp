#include "view/measure_text.h"

#include <fmt/format.h>

namespace attn {

std::string measure_sentence(MapMeasure measure, float largest) {
  if (measure == MapMeasure::value) {
    return fmt::format(
        "@value: the length of weight · value · W_O; 1 is the largest of this kind, {:.4g}.",
        largest);
  }
  return "@alti: how much closer a key's vector brings you to the block's output, as shares of a "
         "row; in a layer's cross-attention, the residual connection has the rest.";
}

}  // namespace attn
