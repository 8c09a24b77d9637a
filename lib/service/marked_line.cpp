#include "service/marked_line.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

/// Returns the byte ranges of a text's words, split at spaces as WordAlignment counts them.
std::vector<AlignedSpan> word_ranges(std::string_view text) {
  std::vector<AlignedSpan> words;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = whitespace_length(text.substr(at));
    if (space == 0 && !inside) words.push_back({at, at, at, at});
    inside = space == 0;
    at += inside ? decode_code_point(text.substr(at)).length : space;
    if (inside) words.back().target_end = words.back().source_end = at;
  }
  return words;
}

/// The position of a part in its line. `prefix` bytes of the part's source are not in the line.
struct PartOffsets {
  std::size_t source = 0, target = 0, prefix = 0;
};

/// Adds the links of a part to those of its line.
void add_links(std::vector<AlignedSpan>& spans, const AttentionRecord& record,
               std::size_t hypothesis, const AlignmentMethod& method, const PartOffsets& offsets) {
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  if (found.produced.ids.empty()) return;
  const WordAlignment words = align(record, hypothesis, {method, std::nullopt});
  const std::vector<AlignedSpan> sources = word_ranges(record.source_text);
  const std::vector<AlignedSpan> targets = word_ranges(found.text);
  for (const AlignmentLink& link : words.links) {
    if (to_size(link.source) >= sources.size() || to_size(link.target) >= targets.size()) continue;
    const AlignedSpan& source = sources[to_size(link.source)];
    const AlignedSpan& target = targets[to_size(link.target)];
    if (source.source_end <= offsets.prefix) continue;
    const auto in_line = [&](std::size_t offset) {
      return offsets.source + std::max(offset, offsets.prefix) - offsets.prefix;
    };
    spans.push_back({offsets.target + target.target_begin, offsets.target + target.target_end,
                     in_line(source.source_begin), in_line(source.source_end), link.weight});
  }
}

}  // namespace

void MarkedLine::add(AttentionRecord record) {
  for (HypothesisRecord& found : record.hypotheses) found.text = clean_text(found.text).text;
  records_.push_back(std::move(record));
}

std::vector<LineTranslation> MarkedLine::translations(const DecodeConfig& decode,
                                                      const AlignmentMethod& method) const {
  std::vector<std::vector<Translation>> parts;
  for (const AttentionRecord& record : records_) {
    std::vector<Translation>& part = parts.emplace_back();
    for (const HypothesisRecord& found : record.hypotheses) {
      part.push_back({found.text, found.produced.ids, found.score});
    }
  }
  std::vector<LineTranslation> joined = join_parts(parts, line_.gaps, decode);
  for (LineTranslation& each : joined) {
    each.text = place_markup(segment_, each.text, links(each, method));
  }
  return joined;
}

std::vector<AlignedSpan> MarkedLine::links(const LineTranslation& translation,
                                           const AlignmentMethod& method) const {
  std::vector<AlignedSpan> spans;
  PartOffsets offsets;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const AttentionRecord& record = records_[i];
    const std::size_t rank = translation.ranks[i];
    const std::string& text = record.hypotheses[rank].text;
    offsets.source += line_.gaps[i].size();
    if (offsets.target > 0 && !text.empty()) offsets.target += line_.gaps[i].size();
    const std::size_t own = own_bytes(record.source_text, offsets.source);
    offsets.prefix = record.source_text.size() - own;
    add_links(spans, record, rank, method, offsets);
    offsets.source += own;
    offsets.target += text.size();
  }
  return spans;
}

/// Returns how many bytes at the end of a part's source belong to the line. The bytes before them
/// are a prefix or a language tag.
std::size_t MarkedLine::own_bytes(std::string_view source, std::size_t begin) const {
  const std::string_view rest =
      std::string_view(segment_.text).substr(std::min(begin, segment_.text.size()));
  std::size_t own = std::min(source.size(), rest.size());
  while (own > 0 && source.substr(source.size() - own) != rest.substr(0, own)) --own;
  return own;
}

}  // namespace attn
