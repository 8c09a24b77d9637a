#include "config/attention_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"
#include "base/error.h"

namespace attn {
namespace {

constexpr std::array<std::string_view, 10> kPatternWords = {
    "full",         "window", "longformer", "bigbird",   "sparse_strided",
    "sparse_fixed", "chunks", "linformer",  "performer", "lsh"};

std::string known_patterns() {
  return list_words({kPatternWords.begin(), kPatternWords.end()});
}

PatternType read_pattern_type(KeyReader& reader) {
  const std::optional<std::string> word = reader.text("type");
  if (!word) {
    throw InputError("{}: {}type is missing; use {}", reader.where(), reader.prefix(),
                     known_patterns());
  }
  const auto found = std::find(kPatternWords.begin(), kPatternWords.end(), *word);
  if (found == kPatternWords.end()) {
    reader.fail("type",
                fmt::format("{} is not supported; use {}", in_quotes(*word), known_patterns()));
  }
  return static_cast<PatternType>(found - kPatternWords.begin());
}

/// A decoder cannot have what shows a token those behind it.
void refuse_ahead(PatternType type, const std::string& where, const std::string& name) {
  if (!looks_ahead(type)) return;
  throw InputError(
      "{}: {}.type {} looks ahead, which a decoder must not; use full, window, sparse_strided, "
      "sparse_fixed or performer",
      where, name, in_quotes(pattern_word(type)));
}

/// One integer, or a list of them.
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

int required_integer(KeyReader& reader, const std::string& key) {
  const std::optional<int> number = reader.integer(key);
  if (number) return *number;
  throw InputError("{}: {}{} is missing; give a whole number", reader.where(), reader.prefix(),
                   key);
}

void read_windows(KeyReader& reader, AttentionPattern& pattern) {
  pattern.windows = read_integers(reader, "window");
  if (!pattern.windows.empty()) return;
  throw InputError("{}: {}window is missing; give an even number, or a list of one a layer",
                   reader.where(), reader.prefix());
}

void read_globals(KeyReader& reader, AttentionPattern& pattern) {
  const Json* value = reader.find("global");
  if (value == nullptr) {
    pattern.globals = {0};
    return;
  }
  if (!value->is_array()) reader.fail_type("global", *value, "a list of places, as [0]");
  for (const Json& one : *value) {
    const std::optional<int> place = as_int(one);
    if (!place) reader.fail_type("global", *value, "a list of places, as [0]");
    pattern.globals.push_back(*place);
  }
  std::sort(pattern.globals.begin(), pattern.globals.end());
  if (std::adjacent_find(pattern.globals.begin(), pattern.globals.end()) != pattern.globals.end()) {
    reader.fail("global", fmt::format("{} has a place twice; keep one of them", describe(*value)));
  }
}

void read_random(KeyReader& reader, AttentionPattern& pattern) {
  pattern.random_blocks = reader.integer("random_blocks").value_or(3);
  if (const std::optional<std::string> random = reader.text("random")) {
    if (*random != "seeded" && *random != "first") {
      reader.fail("random",
                  fmt::format("{} is not supported; use seeded or first", in_quotes(*random)));
    }
    pattern.random_is_seeded = *random == "seeded";
  }
  if (!pattern.random_is_seeded) return;
  if (const std::optional<int> seed = reader.integer("seed")) {
    if (*seed < 0) reader.fail("seed", fmt::format("is {}; it must be at least 0", *seed));
    pattern.seed = same_number<std::uint64_t>(*seed);
  }
}

void read_features(KeyReader& reader, AttentionPattern& pattern) {
  if (const std::optional<int> features = reader.integer("m")) {
    if (*features < 1) {
      reader.fail("m", fmt::format("is {}; use at least 1, or leave it out for head_dim · ln "
                                   "head_dim",
                                   *features));
    }
    pattern.features = *features;
  }
  pattern.orthogonal = reader.boolean("orthogonal").value_or(true);
}

constexpr int kMostRounds = 64;
constexpr int kMostBuckets = 65'536;

/// A pattern while it is compared with its stack.
struct PatternCheck {
  const AttentionPattern& pattern;
  const PatternStack& stack;
  const std::string& where;
  const std::string& name;

  /// A key as the user wrote it.
  std::string written(std::string_view key) const {
    if (!stack.published) return fmt::format("{}.{}", name, key);
    return std::string(key == "window"          ? "attention_window"
                       : key == "random_blocks" ? "num_random_blocks"
                                                : key);
  }
  void size(const char* key, int value, int least, int most) const {
    if (value >= least && value <= most) return;
    throw InputError("{}: {} is {}; use {} to {} with {} positions", where, written(key), value,
                     least, most, stack.positions);
  }
  /// Of what size() has accepted, at most `most`.
  void even(const char* key, int value, int most) const {
    if (value % 2 == 0) return;
    if (most < 2) {
      throw InputError("{}: {} is {}, which is odd; with {} position there is no other", where,
                       written(key), value, stack.positions);
    }
    std::string others = value > 1 ? std::to_string(value - 1) : "";
    if (value < most) others += (others.empty() ? "" : " or ") + std::to_string(value + 1);
    throw InputError("{}: {} is {}, which is odd; half of it lies on each side, so use {}", where,
                     written(key), value, others);
  }

  void windows() const {
    const auto count = std::ssize(pattern.windows);
    if (count != 1 && count != stack.layers) {
      throw InputError("{}: {} has {} numbers; use one, or one for each of the {} layers", where,
                       written("window"), count, stack.layers);
    }
    for (const int window : pattern.windows) {
      size("window", window, 2, 2 * stack.positions);
      even("window", window, 2 * stack.positions);
    }
  }
  void globals() const {
    for (const Index place : pattern.globals) {
      if (place >= 0 && place < stack.positions) continue;
      throw InputError("{}: {}.global has place {}; use 0 to {}", where, name, place,
                       stack.positions - 1);
    }
  }
  /// The first block, the last and three around the query's own are seen anyway.
  void random_blocks() const {
    constexpr int kAnyway = 5;
    if (stack.positions < kAnyway) {
      throw InputError(
          "{}: {} positions are too few for bigbird, whose rows see {} blocks; use at "
          "least {}",
          where, stack.positions, kAnyway, kAnyway);
    }
    const int blocks = (stack.positions + pattern.block_size - 1) / pattern.block_size;
    if (blocks < kAnyway) {
      throw InputError(
          "{}: {} {} does not fit: {} positions have {} blocks of it, and every row "
          "sees {}; use at most {}",
          where, written("block_size"), pattern.block_size, stack.positions, blocks, kAnyway,
          stack.positions / kAnyway);
    }
    if (pattern.random_blocks >= 0 && pattern.random_blocks <= blocks - kAnyway) return;
    throw InputError(
        "{}: {} is {}; {} positions have {} blocks of {}, of which {} are seen "
        "anyway: use 0 to {}",
        where, written("random_blocks"), pattern.random_blocks, stack.positions, blocks,
        pattern.block_size, kAnyway, blocks - kAnyway);
  }
  void lsh() const {
    if (pattern.rounds < 1 || pattern.rounds > kMostRounds) {
      throw InputError("{}: {}.rounds is {}; use 1 to {}", where, name, pattern.rounds,
                       kMostRounds);
    }
    if (pattern.buckets < 2 || pattern.buckets > kMostBuckets) {
      throw InputError("{}: {}.buckets is {}; use 2 to {}", where, name, pattern.buckets,
                       kMostBuckets);
    }
    if (pattern.buckets % 2 == 0) return;
    throw InputError(
        "{}: {}.buckets is {}, which is odd; each rotation and its opposite are a bucket, so use "
        "{} "
        "or {}",
        where, name, pattern.buckets, pattern.buckets - 1, pattern.buckets + 1);
  }
};

}  // namespace

Index AttentionPattern::window(Index layer) const {
  return windows.size() == 1 ? windows.front() : at(windows, layer);
}

int AttentionPattern::features_of(int head_dim) const {
  if (features > 0) return features;
  return std::max(1, static_cast<int>(head_dim * std::log(static_cast<double>(head_dim))));
}

std::string_view pattern_word(PatternType type) {
  return at(kPatternWords, type);
}

bool looks_ahead(PatternType type) {
  return type == PatternType::longformer || type == PatternType::bigbird ||
         type == PatternType::chunks || type == PatternType::linformer || type == PatternType::lsh;
}

bool has_global_places(PatternType type) {
  return type == PatternType::longformer || type == PatternType::chunks;
}

AttentionPattern read_pattern(const Json& json, const std::string& where, const std::string& name,
                              bool causal) {
  KeyReader reader(json, where, name + ".");
  AttentionPattern pattern;
  pattern.type = read_pattern_type(reader);
  if (causal) refuse_ahead(pattern.type, where, name);
  switch (pattern.type) {
    case PatternType::full:
      break;
    case PatternType::window:
      read_windows(reader, pattern);
      break;
    case PatternType::longformer:
      read_windows(reader, pattern);
      read_globals(reader, pattern);
      break;
    case PatternType::bigbird:
      pattern.block_size = required_integer(reader, "block_size");
      read_random(reader, pattern);
      break;
    case PatternType::sparse_strided:
      pattern.stride = required_integer(reader, "stride");
      break;
    case PatternType::sparse_fixed:
      pattern.stride = required_integer(reader, "stride");
      pattern.summary = reader.integer("summary").value_or(1);
      break;
    case PatternType::chunks:
      pattern.block_size = required_integer(reader, "block_size");
      pattern.shift = reader.boolean("shift").value_or(false);
      read_globals(reader, pattern);
      break;
    case PatternType::linformer:
      pattern.rank = required_integer(reader, "k");
      break;
    case PatternType::performer:
      read_features(reader, pattern);
      break;
    case PatternType::lsh:
      pattern.block_size = required_integer(reader, "block_size");
      pattern.rounds = reader.integer("rounds").value_or(2);
      pattern.buckets = required_integer(reader, "buckets");
      break;
  }
  reader.refuse_unused();
  return pattern;
}

Json to_json(const AttentionPattern& pattern) {
  Json json = Json::object();
  json["type"] = std::string(pattern_word(pattern.type));
  const PatternType type = pattern.type;
  if (type == PatternType::window || type == PatternType::longformer) {
    json["window"] =
        pattern.windows.size() == 1 ? Json(pattern.windows.front()) : Json(pattern.windows);
  }
  if (type == PatternType::bigbird || type == PatternType::chunks || type == PatternType::lsh) {
    json["block_size"] = pattern.block_size;
  }
  if (type == PatternType::longformer || type == PatternType::chunks) {
    json["global"] = pattern.globals;
  }
  if (type == PatternType::chunks) json["shift"] = pattern.shift;
  if (type == PatternType::bigbird) {
    json["random_blocks"] = pattern.random_blocks;
    json["random"] = pattern.random_is_seeded ? "seeded" : "first";
    if (pattern.random_is_seeded) json["seed"] = pattern.seed;
  }
  if (type == PatternType::sparse_strided || type == PatternType::sparse_fixed) {
    json["stride"] = pattern.stride;
  }
  if (type == PatternType::sparse_fixed) json["summary"] = pattern.summary;
  if (type == PatternType::linformer) json["k"] = pattern.rank;
  if (type == PatternType::lsh) {
    json["rounds"] = pattern.rounds;
    json["buckets"] = pattern.buckets;
  }
  if (type == PatternType::performer) {
    if (pattern.features > 0) json["m"] = pattern.features;
    json["orthogonal"] = pattern.orthogonal;
  }
  return json;
}

std::string pattern_says(const AttentionPattern& pattern) {
  const Json json = to_json(pattern);
  std::string says;
  for (const auto& [key, value] : json.items()) {
    if (key == "type") continue;
    says += ", " + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return std::string(pattern_word(pattern.type)) + says;
}

void check_pattern(const AttentionPattern& pattern, const PatternStack& stack,
                   const std::string& where, const std::string& name) {
  const PatternCheck check{pattern, stack, where, name};
  if (stack.causal) refuse_ahead(pattern.type, where, name);
  switch (pattern.type) {
    case PatternType::full:
      break;
    case PatternType::window:
      check.windows();
      break;
    case PatternType::longformer:
      check.windows();
      check.globals();
      break;
    case PatternType::bigbird:
      check.size("block_size", pattern.block_size, 1, stack.positions);
      check.random_blocks();
      break;
    case PatternType::sparse_strided:
      check.size("stride", pattern.stride, 1, stack.positions);
      break;
    case PatternType::sparse_fixed:
      check.size("stride", pattern.stride, 1, stack.positions);
      check.size("summary", pattern.summary, 1, pattern.stride);
      break;
    case PatternType::chunks:
      check.size("block_size", pattern.block_size, 1, stack.positions);
      if (pattern.shift) check.even("block_size", pattern.block_size, stack.positions);
      check.globals();
      break;
    case PatternType::linformer:
      check.size("k", pattern.rank, 1, stack.positions);
      break;
    case PatternType::lsh:
      check.size("block_size", pattern.block_size, 1, stack.positions);
      check.lsh();
      break;
    case PatternType::performer:
      if (pattern.features > 0) check.size("m", pattern.features, 1, stack.positions);
      break;
  }
}

}  // namespace attn
