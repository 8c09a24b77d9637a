// What the kinds of tokenizers share.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "text/tokenizer_kind.h"

namespace attn {

namespace {

/// As Python's str.isspace sees it, which str.strip goes by.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

}  // namespace

std::string strip(std::string_view text) {
  std::size_t begin = text.size();  // of the first character that is no blank
  std::size_t end = text.size();    // after the last one
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_code_point(text.substr(at));
    if (!is_python_space(c.value)) {
      begin = std::min(begin, at);
      end = at + c.length;
    }
    at += c.length;
  }
  return std::string(text.substr(begin, end - begin));
}

std::string read_tokenizer_file(const std::string& directory, const char* name) {
  const std::string path = directory + "/" + name;
  if (!file_exists(path)) {
    throw InputError("{}: no such file; a model directory needs it beside its other files",
                     printable(path));
  }
  return read_file(path);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find(from, begin)) != text.npos; begin = at + from.size()) {
    out.append(text, begin, at - begin).append(to);
  }
  text = out.append(text, begin);
}

void clean_up_spaces(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

int required_id(const Vocabulary& vocabulary, const std::string& piece, const std::string& where) {
  if (const auto id = vocabulary.find(piece)) return *id;
  throw InputError("{}: the special piece \"{}\" is missing; expected it with an id of its own",
                   where, excerpt(piece));
}

const Languages& TokenizerKind::languages() const {
  static const Languages none;
  return none;
}

void TokenizerKind::require_sampling(double sampling, const std::string& where) const {
  throw InputError(
      "{}: tokenizer.sampling {}: this tokenizer cuts a text in one way only; expected source.spm "
      "and target.spm of a unigram or BPE model, or tokenizer.sampling 0",
      where, sampling);
}

NormalizedText TokenizerKind::normalise(TextSide, std::string_view) const {
  throw std::logic_error("this tokenizer draws no cuts");
}

EncodedText TokenizerKind::sample(TextSide, const NormalizedText&, double, RandomGenerator&) const {
  throw std::logic_error("this tokenizer draws no cuts");
}

}  // namespace attn
