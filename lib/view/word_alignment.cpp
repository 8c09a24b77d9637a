#include "view/word_alignment.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/json.h"
#include "base/utf8.h"

namespace attn {
namespace {

void append_words(std::string& out, const std::vector<Word>& words) {
  out += '[';
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += i == 0 ? "{\"text\":" : ",{\"text\":";
    const std::string& text = words[i].text;
    append_string(out, is_valid_utf8(text) ? text : clean_text(text).text);
    fmt::format_to(std::back_inserter(out), ",\"index\":{}}}", words[i].text_index);
  }
  out += ']';
}

void append_link(std::string& out, const AlignmentLink& link) {
  fmt::format_to(std::back_inserter(out), "{{\"source\":{},\"target\":{},\"weight\":", link.source,
                 link.target);
  append_number(out, link.weight);
  out += '}';
}

void append_row(std::string& out, const float* weights, std::size_t count) {
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    if (std::isfinite(weights[i])) {
      append_number(out, weights[i]);
    } else {
      out += "null";
    }
  }
  out += ']';
}

}  // namespace

std::string pharaoh_line(const WordAlignment& alignment, bool with_weights) {
  std::string line;
  for (const AlignmentLink& link : alignment.links) {
    if (!line.empty()) line += ' ';
    fmt::format_to(std::back_inserter(line), "{}-{}", link.source, link.target);
    if (!with_weights) continue;
    line += ':';
    append_number(line, link.weight);
  }
  return line;
}

void append_alignment_json(std::string& out, const WordAlignment& alignment) {
  out += "{\"from\":";
  append_string(out, alignment.from);
  out += ",\"source\":";
  append_words(out, alignment.source);
  out += ",\"target\":";
  append_words(out, alignment.target);
  out += ",\"links\":[";
  for (std::size_t i = 0; i < alignment.links.size(); ++i) {
    if (i > 0) out += ',';
    append_link(out, alignment.links[i]);
  }
  out += "],\"weights\":[";
  const std::size_t columns = alignment.source.size();
  const std::size_t rows = columns == 0 ? 0 : alignment.weights.size() / columns;
  for (std::size_t row = 0; row < rows; ++row) {
    if (row > 0) out += ',';
    append_row(out, alignment.weights.data() + row * columns, columns);
  }
  out += "]}";
}

}  // namespace attn
