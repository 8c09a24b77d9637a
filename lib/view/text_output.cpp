#include "view/text_output.h"

#include <cmath>

#include "base/json_writer.h"

namespace attn {

void append_float(std::string& out, float weight) {
  if (std::isfinite(weight)) {
    append_number(out, weight);
  } else {
    out += std::isnan(weight) ? "NaN" : weight > 0 ? "Infinity" : "-Infinity";
  }
}

}  // namespace attn
