#include "analysis/pharaoh.h"

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"

namespace attn {
namespace {

std::optional<float> parse_weight(std::string_view text) {
  float value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !(value >= 0) || std::isinf(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<GoldLink> parse_link(std::string_view text) {
  GoldLink link;
  if (const std::size_t colon = text.find(':'); colon != text.npos) {
    const std::optional<float> weight = parse_weight(text.substr(colon + 1));
    if (!weight) return std::nullopt;
    link.weight = *weight;
    text = text.substr(0, colon);
  }
  const std::size_t middle = text.find_first_of("-p");
  if (middle == text.npos) return std::nullopt;
  const std::optional<int> source = parse_index(text.substr(0, middle));
  const std::optional<int> target = parse_index(text.substr(middle + 1));
  if (!source || !target) return std::nullopt;
  link.source = *source;
  link.target = *target;
  link.sure = text[middle] == '-';
  return link;
}

/// Removes the part before the first of `ends`, and that character, from `text` and returns the
/// part.
std::string_view take_part(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

GoldAlignment parse_pharaoh_line(std::string_view line, const std::string& where) {
  GoldAlignment links;
  while (!line.empty()) {
    const std::string_view word = take_part(line, " \t\r");
    if (word.empty()) continue;
    const std::optional<GoldLink> link = parse_link(word);
    if (!link) {
      throw InputError(
          "{}: found \"{}\", expected links SOURCE-TARGET, words counted from 0; as in 0-0 1-2",
          printable(where), truncate_to_width(printable(word), 40));
    }
    links.push_back(*link);
  }
  return links;
}

std::vector<GoldAlignment> parse_pharaoh(std::string_view bytes, const std::string& path) {
  std::vector<GoldAlignment> lines;
  while (!bytes.empty()) {
    const std::string_view line = take_part(bytes, "\n");
    lines.push_back(parse_pharaoh_line(line, fmt::format("{}:{}", path, lines.size() + 1)));
  }
  return lines;
}

void add_to_score(GoldScore& score, const std::vector<AlignmentLink>& found,
                  const GoldAlignment& gold) {
  std::map<std::pair<int, int>, bool> sure;  // by link; true if sure
  for (const GoldLink& link : gold) {
    bool& known = sure[{link.source, link.target}];
    known = known || link.sure;
  }
  score.found += found.size();
  for (const auto& [link, is_sure] : sure) {
    if (is_sure) ++score.sure;
  }
  for (const AlignmentLink& link : found) {
    const auto known = sure.find({link.source, link.target});
    if (known == sure.end()) continue;
    ++score.found_possible;
    if (known->second) ++score.found_sure;
  }
}

}  // namespace attn
