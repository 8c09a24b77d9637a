#include "metrics/ngrams.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "metrics/unicode_text.h"

namespace attn {
namespace {

std::string_view ngram(const NgramUnits& units, std::size_t first, std::size_t n) {
  const std::size_t begin = units.ranges[first].begin;
  return std::string_view(units.text).substr(begin, units.ranges[first + n - 1].end - begin);
}

void add_word(NgramUnits& units, std::string_view word) {
  if (!units.text.empty()) units.text += ' ';  // one space, whatever the spaces were
  const std::size_t begin = units.text.size();
  units.text += word;
  units.ranges.push_back({begin, units.text.size()});
}

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

using Counts = std::unordered_map<std::string_view, std::size_t>;

Counts count_ngrams(const NgramUnits& units, std::size_t n) {
  Counts counts;
  const std::size_t all = ngram_count(units, n);
  counts.reserve(all);
  for (std::size_t i = 0; i < all; ++i) ++counts[ngram(units, i, n)];
  return counts;
}

/// Returns how many of the hypothesis's n-grams are in `left`, which is used up on the way.
std::uint64_t take_matching(const NgramUnits& hypothesis, std::size_t n, Counts left) {
  std::uint64_t matching = 0;
  for (std::size_t i = 0; i < ngram_count(hypothesis, n); ++i) {
    const auto found = left.find(ngram(hypothesis, i, n));
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++matching;
  }
  return matching;
}

}  // namespace

std::size_t ngram_count(const NgramUnits& units, std::size_t n) {
  return units.ranges.size() < n ? 0 : units.ranges.size() - n + 1;
}

NgramUnits word_units(std::string_view text) {
  NgramUnits units;
  for (const std::string_view word : split_at_spaces(text)) add_word(units, word);
  return units;
}

NgramUnits chrf_word_units(std::string_view text) {
  NgramUnits units;
  for (const std::string_view word : split_at_spaces(text)) {
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      add_word(units, word.substr(0, word.size() - 1));
      add_word(units, word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      add_word(units, word.substr(0, 1));
      add_word(units, word.substr(1));
    } else {
      add_word(units, word);
    }
  }
  return units;
}

NgramUnits character_units(std::string_view text) {
  NgramUnits units;
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

NgramOverlap count_overlap(const NgramUnits& hypothesis, const NgramUnits& reference,
                           std::size_t n) {
  NgramOverlap overlap{ngram_count(hypothesis, n), ngram_count(reference, n), 0};
  if (overlap.hypothesis == 0 || overlap.reference == 0) return overlap;
  overlap.matching = take_matching(hypothesis, n, count_ngrams(reference, n));
  return overlap;
}

std::uint64_t count_matching(const NgramUnits& hypothesis, std::span<const NgramUnits> references,
                             std::size_t n) {
  Counts most = count_ngrams(references.front(), n);
  for (const NgramUnits& reference : references.subspan(1)) {
    for (const auto& [ngram, count] : count_ngrams(reference, n)) {
      std::size_t& known = most[ngram];
      known = std::max(known, count);
    }
  }
  return take_matching(hypothesis, n, std::move(most));
}

void check_same_size(std::span<const std::string> hypotheses, References references) {
  if (references.empty()) {
    throw std::invalid_argument("no references; expected at least one list of them");
  }
  for (const std::vector<std::string>& lines : references) {
    if (hypotheses.size() == lines.size()) continue;
    throw std::invalid_argument(std::to_string(hypotheses.size()) + " hypotheses and " +
                                std::to_string(lines.size()) +
                                " references; expected one reference for each hypothesis");
  }
  if (hypotheses.empty()) {
    throw std::invalid_argument("nothing to score; expected at least one hypothesis");
  }
}

}  // namespace attn
