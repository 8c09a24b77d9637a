#include "view/pharaoh_line.h"

#include "base/json.h"
#include "view/text_output.h"

namespace attn {

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
