#include "config/patterns/attention_pattern.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "config/patterns/pattern_keys.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

/// The words of all kinds, or of those that a decoder can have.
std::string known_patterns(bool causal = false) {
  std::vector<std::string> words;
  for (const SparsePattern* kind : all_sparse_patterns()) {
    if (!causal || !kind->is_encoder_only()) words.emplace_back(kind->name());
  }
  return list_words(words);
}

const SparsePattern& read_pattern_type(KeyReader& reader) {
  const std::optional<std::string> word = reader.text("type");
  if (!word) {
    throw InputError("{}: {}type is missing; use {}", reader.where(), reader.prefix(),
                     known_patterns());
  }
  const auto found = std::ranges::find(all_sparse_patterns(), *word, &SparsePattern::name);
  if (found == all_sparse_patterns().end()) {
    reader.fail("type",
                fmt::format("{} is not supported; use {}", in_quotes(*word), known_patterns()));
  }
  return **found;
}

/// A decoder cannot have what shows a token those behind it.
void check_causal(const SparsePattern& kind, const std::string& where, const std::string& name) {
  if (!kind.is_encoder_only()) return;
  throw InputError("{}: {}.type {} looks ahead, which a decoder must not; use {}", where, name,
                   in_quotes(kind.name()), known_patterns(true));
}

}  // namespace

Index AttentionPattern::window(Index layer) const {
  return windows.size() == 1 ? windows.front() : at(windows, layer);
}

int AttentionPattern::num_features(int head_dim) const {
  if (features > 0) return features;
  return std::max(1, static_cast<int>(head_dim * std::log(static_cast<double>(head_dim))));
}

std::string_view pattern_name(PatternType type) {
  return sparse_pattern(type).name();
}

AttentionPattern read_pattern(const Json& json, const std::string& where, const std::string& name,
                              bool causal) {
  KeyReader reader(json, where, name + ".");
  const SparsePattern& kind = read_pattern_type(reader);
  if (causal) check_causal(kind, where, name);
  AttentionPattern pattern;
  pattern.type = kind.type();
  kind.read(reader, pattern);
  reader.refuse_unused();
  return pattern;
}

Json to_json(const AttentionPattern& pattern) {
  Json json = Json::object();
  json["type"] = std::string(sparse_pattern(pattern).name());
  sparse_pattern(pattern).write(pattern, json);
  return json;
}

std::string describe_pattern(const AttentionPattern& pattern) {
  const Json json = to_json(pattern);
  std::string says;
  for (const auto& [key, value] : json.items()) {
    if (key == "type") continue;
    says += ", " + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return std::string(sparse_pattern(pattern).name()) + says;
}

void check_pattern(const AttentionPattern& pattern, const PatternContext& stack,
                   const std::string& where, const std::string& name) {
  if (stack.causal) check_causal(sparse_pattern(pattern), where, name);
  sparse_pattern(pattern).check({pattern, stack, where, name});
}

}  // namespace attn
