#include "markup/unit_alignment.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

bool is_punctuation_at(std::string_view text) {
  return u_ispunct(static_cast<UChar32>(decode_code_point(text).value)) != 0;
}

/// Adds the units of a word without whitespace. Punctuation at its ends becomes separate units.
void add_units(std::vector<Unit>& units, std::string_view text, std::size_t begin,
               std::size_t end) {
  std::vector<Unit> behind;
  while (begin < end && is_punctuation_at(text.substr(begin))) {
    const std::size_t length = decode_code_point(text.substr(begin)).length;
    units.push_back({begin, begin + length, true});
    begin += length;
  }
  while (begin < end) {
    std::size_t last = end - 1;
    while (last > begin && is_continuation_byte(text[last])) --last;
    if (!is_punctuation_at(text.substr(last))) break;
    behind.push_back({last, end, true});
    end = last;
  }
  if (begin < end) units.push_back({begin, end, false});
  units.insert(units.end(), behind.rbegin(), behind.rend());
}

/// Splits a text into units; `cuts`, in ascending order, are further borders between them.
std::vector<Unit> split_units(std::string_view text, std::span<const std::size_t> cuts) {
  std::vector<Unit> units;
  auto cut = cuts.begin();
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t space = whitespace_length(text.substr(at)); space > 0) {
      at += space;
      continue;
    }
    while (cut != cuts.end() && *cut <= at) ++cut;
    const std::size_t most = cut == cuts.end() ? text.size() : std::min(*cut, text.size());
    std::size_t end = at;
    while (end < most && whitespace_length(text.substr(end)) == 0) {
      end += decode_code_point(text.substr(end)).length;
    }
    end = std::min(end, most);
    add_units(units, text, at, end);
    at = end;
  }
  return units;
}

/// Splits the words of a translation that are words of the source with tags inside, such as
/// "H2O" for "H<sub>2</sub>O", where the source's are split.
std::vector<Unit> split_like(std::span<const Unit> source, std::string_view source_text,
                             std::span<const Unit> target, std::string_view target_text) {
  std::map<std::string_view, std::pair<std::size_t, std::size_t>> words;  // first and end unit
  for (std::size_t i = 0; i < source.size();) {
    std::size_t end = i + 1;
    while (end < source.size() && source[end].begin == source[end - 1].end &&
           !source[end].punctuation && !source[end - 1].punctuation) {
      ++end;
    }
    if (end > i + 1) {
      words[source_text.substr(source[i].begin, source[end - 1].end - source[i].begin)] = {i, end};
    }
    i = end;
  }
  std::vector<Unit> units;
  for (const Unit& unit : target) {
    const auto word = words.find(target_text.substr(unit.begin, unit.end - unit.begin));
    if (word == words.end()) {
      units.push_back(unit);
      continue;
    }
    const auto [first, end] = word->second;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t word_begin = source[first].begin;
      units.push_back({unit.begin + (source[i].begin - word_begin),
                       unit.begin + (source[i].end - word_begin), false});
    }
  }
  return units;
}

}  // namespace

UnitAlignment::UnitAlignment(const MarkedSegment& segment, std::string_view translation,
                             std::span<const AlignedSpan> alignment) {
  std::vector<std::size_t> cuts;
  for (const MarkupItem& item : segment.items) cuts.push_back(item.offset);
  source = split_units(segment.text, cuts);
  target = split_like(source, segment.text, split_units(translation, {}), translation);
  partners.assign(target.size(), kNowhere);
  link_equal_units(segment.text, translation);
  follow(alignment);
  first_.assign(source.size(), kNowhere);
  last_.assign(source.size(), kNowhere);
  for (std::size_t k = 0; k < target.size(); ++k) {
    if (partners[k] == kNowhere) continue;
    if (first_[partners[k]] == kNowhere) first_[partners[k]] = k;
    last_[partners[k]] = k;
  }
}

std::size_t UnitAlignment::source_at(std::size_t offset) const {
  return to_size(std::ranges::upper_bound(source, offset, {}, &Unit::end) - source.begin());
}

/// Links numbers, names and punctuation that occur equally often on both sides.
void UnitAlignment::link_equal_units(std::string_view source_text, std::string_view target_text) {
  std::map<std::string_view, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> equal;
  for (std::size_t i = 0; i < source.size(); ++i) {
    equal[source_text.substr(source[i].begin, source[i].end - source[i].begin)].first.push_back(i);
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    equal[target_text.substr(target[i].begin, target[i].end - target[i].begin)].second.push_back(i);
  }
  for (const auto& [text, units] : equal) {
    if (units.first.size() != units.second.size()) continue;
    for (std::size_t i = 0; i < units.first.size(); ++i) {
      partners[units.second[i]] = units.first[i];
    }
  }
}

/// Links the other words by the strongest span of the alignment.
void UnitAlignment::follow(std::span<const AlignedSpan> alignment) {
  std::vector<float> weights(target.size(), -1);
  for (const AlignedSpan& span : alignment) {
    const std::size_t unit = middle_unit(span);
    if (unit == kNowhere) continue;
    const auto first = std::ranges::upper_bound(target, span.target_begin, {}, &Unit::end);
    for (auto it = first; it != target.end() && it->begin < span.target_end; ++it) {
      const auto k = to_size(it - target.begin());
      const bool fixed = partners[k] != kNowhere && weights[k] < 0;
      if (it->punctuation || fixed || span.weight <= weights[k]) continue;
      partners[k] = unit;
      weights[k] = span.weight;
    }
  }
}

/// Returns the source unit in the middle of a span, without punctuation at its ends.
std::size_t UnitAlignment::middle_unit(const AlignedSpan& span) const {
  std::size_t first = source_at(span.source_begin);
  std::size_t end = first;
  while (end < source.size() && source[end].begin < span.source_end) ++end;
  while (first < end && source[first].punctuation) ++first;
  while (end > first && source[end - 1].punctuation) --end;
  if (first == end) return kNowhere;
  const std::size_t middle = (source[first].begin + source[end - 1].end) / 2;
  return std::clamp(source_at(middle), first, end - 1);
}

}  // namespace attn
