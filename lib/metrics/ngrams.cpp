#include "metrics/ngrams.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "metrics/unicode_text.h"

namespace attn {
namespace {

std::size_t ngram_count(const Units& units, std::size_t n) {
  return units.ranges.size() < n ? 0 : units.ranges.size() - n + 1;
}

std::string_view ngram(const Units& units, std::size_t first, std::size_t n) {
  const std::size_t begin = units.ranges[first].begin;
  return std::string_view(units.text).substr(begin, units.ranges[first + n - 1].end - begin);
}

}  // namespace

Units word_units(std::string_view text) {
  Units units;
  for (const std::string_view word : split_at_spaces(text)) {
    if (!units.text.empty()) units.text += ' ';  // one blank, whatever the spaces were
    const std::size_t begin = units.text.size();
    units.text += word;
    units.ranges.push_back({begin, units.text.size()});
  }
  return units;
}

Units character_units(std::string_view text) {
  Units units;
  for (const std::string_view word : split_at_spaces(text)) {
    for (std::size_t at = 0; at < word.size(); ++at) {
      const bool continues = (static_cast<unsigned char>(word[at]) & 0xC0U) == 0x80U;
      if (!continues || units.ranges.empty()) {
        units.ranges.push_back({units.text.size(), units.text.size()});
      }
      units.text += word[at];
      units.ranges.back().end = units.text.size();
    }
  }
  return units;
}

NgramOverlap count_overlap(const Units& hypothesis, const Units& reference, std::size_t n) {
  NgramOverlap overlap{ngram_count(hypothesis, n), ngram_count(reference, n), 0};
  if (overlap.hypothesis == 0 || overlap.reference == 0) return overlap;
  std::unordered_map<std::string_view, std::size_t> unmatched;
  unmatched.reserve(overlap.reference);
  for (std::size_t i = 0; i < overlap.reference; ++i) ++unmatched[ngram(reference, i, n)];
  for (std::size_t i = 0; i < overlap.hypothesis; ++i) {
    const auto found = unmatched.find(ngram(hypothesis, i, n));
    if (found == unmatched.end() || found->second == 0) continue;
    --found->second;
    ++overlap.matching;
  }
  return overlap;
}

void check_pairs(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  if (hypotheses.size() != references.size()) {
    throw std::invalid_argument(std::to_string(hypotheses.size()) + " hypotheses and " +
                                std::to_string(references.size()) +
                                " references; expected one reference for each hypothesis");
  }
  if (hypotheses.empty()) {
    throw std::invalid_argument("nothing to score; expected at least one hypothesis");
  }
}

}  // namespace attn
