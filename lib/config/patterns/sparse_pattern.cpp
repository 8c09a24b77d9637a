#include "config/patterns/sparse_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/plural.h"
#include "config/patterns/attention_pattern.h"

namespace attn {

int SelfAttentionDims::head_dim() const {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  return to_int(std::clamp<std::uint64_t>(heads == 0 ? 1 : inner_dim / heads, 1, kMost));
}

void SparsePattern::read(KeyReader& /*reader*/, AttentionPattern& /*pattern*/) const {}

void SparsePattern::write(const AttentionPattern& /*pattern*/, Json& /*json*/) const {}

void SparsePattern::check(const PatternCheck& /*check*/) const {}

bool SparsePattern::is_dense(const AttentionPattern& /*pattern*/, Index /*keys*/) const {
  return approximates();
}

std::vector<ExtraParameter> SparsePattern::extra_parameters(
    const SelfAttentionDims& /*stack*/) const {
  return {};
}

Index SparsePattern::cached_steps(const AttentionPattern& /*pattern*/, Index steps) const {
  return steps;
}

Index SparsePattern::cache_position(const AttentionPattern& /*pattern*/, Index step,
                                    Index kept) const {
  return step % kept;
}

Index SparsePattern::multiply_adds(const AttentionPattern& /*pattern*/, Index /*length*/,
                                   int /*head_dim*/) const {
  return 0;
}

AttentionPattern SparsePattern::default_pattern() const {
  AttentionPattern pattern;
  pattern.type = type_;
  return pattern;
}

AttentionPattern SparsePattern::example_for(int /*tokens*/) const {
  return default_pattern();
}

AttentionPattern SparsePattern::benchmark_for(Index /*length*/) const {
  return default_pattern();
}

std::span<const SparsePattern* const> all_sparse_patterns() {
  static const std::array<const SparsePattern*, 10> kinds = {
      &full_pattern(),    &window_pattern(),         &longformer_pattern(),
      &bigbird_pattern(), &sparse_strided_pattern(), &sparse_fixed_pattern(),
      &chunks_pattern(),  &linformer_pattern(),      &performer_pattern(),
      &lsh_pattern()};
  return kinds;
}

const SparsePattern& sparse_pattern(PatternType type) {
  return *at(all_sparse_patterns(), type);
}

namespace {

/// Reads one integer, or a list of them.
std::vector<int> read_integers(KeyReader& reader, const std::string& key) {
  const Json* value = reader.find(key);
  if (value == nullptr) return {};
  std::vector<int> numbers;
  const auto add = [&](const Json& one) {
    const std::optional<int> number = as_int(one);
    if (!number) reader.fail_type(key, *value, "an integer or a list of integers");
    numbers.push_back(*number);
  };
  if (value->is_array()) {
    for (const Json& one : *value) add(one);
    if (numbers.empty()) reader.fail_type(key, *value, "at least one integer");
  } else {
    add(*value);
  }
  return numbers;
}

}  // namespace

int read_required_integer(KeyReader& reader, const std::string& key) {
  const std::optional<int> number = reader.integer(key);
  if (number) return *number;
  throw InputError("{}: {}{} is missing; give a whole number", reader.where(), reader.prefix(),
                   key);
}

void read_windows(KeyReader& reader, AttentionPattern& pattern) {
  pattern.windows = read_integers(reader, "window");
  if (!pattern.windows.empty()) return;
  throw InputError("{}: {}window is missing; give an even number, or a list of one per layer",
                   reader.where(), reader.prefix());
}

void read_globals(KeyReader& reader, AttentionPattern& pattern) {
  const Json* value = reader.find("global");
  if (value == nullptr) {
    pattern.globals = {0};
    return;
  }
  if (!value->is_array()) reader.fail_type("global", *value, "a list of positions, such as [0]");
  for (const Json& one : *value) {
    const std::optional<int> place = as_int(one);
    if (!place) reader.fail_type("global", *value, "a list of positions, such as [0]");
    pattern.globals.push_back(*place);
  }
  std::sort(pattern.globals.begin(), pattern.globals.end());
  if (std::adjacent_find(pattern.globals.begin(), pattern.globals.end()) != pattern.globals.end()) {
    reader.fail("global",
                fmt::format("{} has a position twice; keep one of them", describe(*value)));
  }
}

Json windows_json(const AttentionPattern& pattern) {
  return pattern.windows.size() == 1 ? Json(pattern.windows.front()) : Json(pattern.windows);
}

int stride_near_sqrt(Index tokens) {
  return std::max(1, to_int(std::lround(std::sqrt(static_cast<double>(tokens)))));
}

int quarter_of_tokens(int tokens) {
  return std::max(2, (tokens + 3) / 4);
}

std::string PatternCheck::written(std::string_view key) const {
  if (!stack.has_family_keys) return fmt::format("{}.{}", name, key);
  return std::string(key == "window"          ? "attention_window"
                     : key == "random_blocks" ? "num_random_blocks"
                                              : key);
}

void PatternCheck::size(const char* key, int value, int least, int most) const {
  if (value >= least && value <= most) return;
  throw InputError("{}: {} is {}; use {} to {} with {} positions", where, written(key), value,
                   least, most, stack.positions);
}

void PatternCheck::even(const char* key, int value, int most) const {
  if (value % 2 == 0) return;
  if (most < 2) {
    throw InputError("{}: {} is {}, which is odd; with {} position there is no other", where,
                     written(key), value, stack.positions);
  }
  std::string others = value > 1 ? std::to_string(value - 1) : "";
  if (value < most) others += (others.empty() ? "" : " or ") + std::to_string(value + 1);
  throw InputError("{}: {} is {}, which is odd; half of it is on each side, so use {}", where,
                   written(key), value, others);
}

void PatternCheck::windows() const {
  const auto count = std::ssize(pattern.windows);
  if (count != 1 && count != stack.layers) {
    throw InputError("{}: {} has {}; use one, or {}, one per layer", where, written("window"),
                     counted(count, "number"), stack.layers);
  }
  for (const int window : pattern.windows) {
    size("window", window, 2, 2 * stack.positions);
    even("window", window, 2 * stack.positions);
  }
}

void PatternCheck::globals() const {
  for (const Index place : pattern.globals) {
    if (place >= 0 && place < stack.positions) continue;
    throw InputError("{}: {}.global has position {}; use 0 to {}", where, name, place,
                     stack.positions - 1);
  }
}

// Full attention: every query sees every key, or in a decoder every earlier key (Vaswani et al.
// 2017).
namespace {

class FullPattern : public SparsePattern {
 public:
  FullPattern() : SparsePattern(PatternType::full, "full") {}

  bool is_dense(const AttentionPattern& /*pattern*/, Index /*keys*/) const override { return true; }
  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees every j", "It gives up nothing."};
  }
};

}  // namespace

const SparsePattern& full_pattern() {
  static const FullPattern kind;
  return kind;
}

namespace {

/// Returns the names of all patterns, or of those that a decoder can have.
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

/// Throws InputError if a decoder's pattern lets a token see later tokens.
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
