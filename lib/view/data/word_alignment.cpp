#include "view/data/word_alignment.h"

#include <span>

#include "base/strings/utf8.h"
#include "view/data/json_parts.h"

namespace attn {
namespace {

void append_word(std::string& out, const Word& word) {
  out += "{\"text\":";
  append_string(out, is_valid_utf8(word.text) ? word.text : clean_text(word.text).text);
  append_format(out, ",\"index\":{}}}", word.text_index);
}

void append_link(std::string& out, const AlignmentLink& link) {
  append_format(out, "{{\"source\":{},\"target\":{},\"weight\":", link.source, link.target);
  append_number(out, link.weight);
  out += '}';
}

/// The weights of each target word: a row of them.
std::vector<std::span<const float>> rows_of(const WordAlignment& alignment) {
  std::vector<std::span<const float>> rows;
  const std::size_t width = alignment.source.size();
  for (std::size_t at = 0; width > 0 && at + width <= alignment.weights.size(); at += width) {
    rows.push_back(std::span(alignment.weights).subspan(at, width));
  }
  return rows;
}

}  // namespace

void append_alignment_json(std::string& out, const WordAlignment& alignment) {
  out += "{\"from\":";
  append_string(out, alignment.from);
  out += ",\"source\":";
  append_list(out, alignment.source, append_word);
  out += ",\"target\":";
  append_list(out, alignment.target, append_word);
  out += ",\"links\":";
  append_list(out, alignment.links, append_link);
  out += ",\"weights\":";
  append_list(out, rows_of(alignment), [](std::string& to, std::span<const float> row) {
    append_list(to, row, append_number_or_null);
  });
  out += '}';
}

}  // namespace attn
