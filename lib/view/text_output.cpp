#include "view/text_output.h"

#include <cmath>

#include "base/json.h"
#include "base/json_writer.h"

namespace attn {

void append_float(std::string& out, float weight) {
  if (std::isfinite(weight)) {
    append_number(out, weight);
  } else {
    out += std::isnan(weight) ? "NaN" : weight > 0 ? "Infinity" : "-Infinity";
  }
}

std::string pharaoh_line(const WordAlignment& alignment, bool with_weights) {
  std::string line;
  for (const AlignmentLink& link : alignment.links) {
    if (!line.empty()) line += ' ';
    append_format(line, "{}-{}", link.source, link.target);
    if (!with_weights) continue;
    line += ':';
    append_number(line, link.weight);
  }
  return line;
}

}  // namespace attn
