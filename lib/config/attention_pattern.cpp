#include "config/attention_pattern.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "config/kinds/pattern_keys.h"
#include "config/kinds/pattern_kind.h"

namespace attn {
namespace {

/// The words of all kinds, or of those that a decoder can have.
std::string known_patterns(bool causal = false) {
  std::vector<std::string> words;
  for (const PatternKind* kind : all_kinds()) {
    if (!causal || !kind->looks_ahead()) words.emplace_back(kind->word());
  }
  return list_words(words);
}

const PatternKind& read_kind(KeyReader& reader) {
  const std::optional<std::string> word = reader.text("type");
  if (!word) {
    throw InputError("{}: {}type is missing; use {}", reader.where(), reader.prefix(),
                     known_patterns());
  }
  const auto found = std::ranges::find(all_kinds(), *word, &PatternKind::word);
  if (found == all_kinds().end()) {
    reader.fail("type",
                fmt::format("{} is not supported; use {}", in_quotes(*word), known_patterns()));
  }
  return **found;
}

/// A decoder cannot have what shows a token those behind it.
void refuse_ahead(const PatternKind& kind, const std::string& where, const std::string& name) {
  if (!kind.looks_ahead()) return;
  throw InputError("{}: {}.type {} looks ahead, which a decoder must not; use {}", where, name,
                   in_quotes(kind.word()), known_patterns(true));
}

}  // namespace

Index AttentionPattern::window(Index layer) const {
  return windows.size() == 1 ? windows.front() : at(windows, layer);
}

int AttentionPattern::features_of(int head_dim) const {
  if (features > 0) return features;
  return std::max(1, static_cast<int>(head_dim * std::log(static_cast<double>(head_dim))));
}

std::string_view pattern_word(PatternType type) {
  return kind_of(type).word();
}

AttentionPattern read_pattern(const Json& json, const std::string& where, const std::string& name,
                              bool causal) {
  KeyReader reader(json, where, name + ".");
  const PatternKind& kind = read_kind(reader);
  if (causal) refuse_ahead(kind, where, name);
  AttentionPattern pattern;
  pattern.type = kind.type();
  kind.read(reader, pattern);
  reader.refuse_unused();
  return pattern;
}

Json to_json(const AttentionPattern& pattern) {
  Json json = Json::object();
  json["type"] = std::string(kind_of(pattern).word());
  kind_of(pattern).write(pattern, json);
  return json;
}

std::string pattern_says(const AttentionPattern& pattern) {
  const Json json = to_json(pattern);
  std::string says;
  for (const auto& [key, value] : json.items()) {
    if (key == "type") continue;
    says += ", " + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return std::string(kind_of(pattern).word()) + says;
}

void check_pattern(const AttentionPattern& pattern, const PatternStack& stack,
                   const std::string& where, const std::string& name) {
  if (stack.causal) refuse_ahead(kind_of(pattern), where, name);
  kind_of(pattern).check({pattern, stack, where, name});
}

}  // namespace attn
