#include "config/attention_site.h"

#include <charconv>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Returns "layers 0 to 2", "only layer 0" or "no layers".
std::string range_of(std::string_view what, int count) {
  if (count <= 0) return fmt::format("no {}s", what);
  return count == 1 ? fmt::format("only {} 0", what) : fmt::format("{}s 0 to {}", what, count - 1);
}

std::optional<HeadSelector> parse_pick(std::string_view word) {
  if (word == "best") return HeadSelector::best;
  if (word == "mean") return HeadSelector::mean;
  return std::nullopt;
}

}  // namespace

std::string to_string(const HeadName& name) {
  std::string text(site_key(name.site));
  if (name.layer) text += fmt::format(":{}", *name.layer);
  if (name.layer && name.head) text += fmt::format(":{}", *name.head);
  if (name.pick == HeadSelector::best) text += ":best";
  if (name.pick == HeadSelector::mean) text += ":mean";
  return text;
}

HeadName parse_head_name(std::string_view text, std::string_view other_forms) {
  if (text == "best") return {AttentionSite::cross, {}, {}, HeadSelector::best};
  std::vector<std::string_view> parts = split_at(text, ':');
  const std::optional<AttentionSite> site = parse_site(parts[0]);
  if (!site || parts.size() > 3) {
    throw UsageError(
        "\"{}\": expected KIND, KIND:LAYER or KIND:LAYER:HEAD, where KIND is encoder, decoder or "
        "cross, and best or mean may replace a number{}; try cross:0:1 or best",
        excerpt(text), other_forms);
  }
  HeadName name{*site};
  if (const std::optional<HeadSelector> pick = parse_pick(parts.back())) {
    name.pick = *pick;
    parts.pop_back();
    // "cross:mean:mean" is the mean over all layers and heads, like "cross:mean".
    if (parts.size() == 2 && parse_pick(parts.back()) == pick) parts.pop_back();
  }
  if (name.pick == HeadSelector::best && name.site != AttentionSite::cross) {
    throw UsageError(
        "{}: best is the head that aligns source and target words, and only heads of "
        "cross-attention do; try cross:best or {}:mean",
        excerpt(text), site_key(name.site));
  }
  if (parts.size() > 1) name.layer = parse_index(text, parts[1], "layer");
  if (parts.size() > 2) name.head = parse_index(text, parts[2], "head");
  return name;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; (end = text.find(separator)) != text.npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<int> parse_index(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

int parse_index(std::string_view name, std::string_view part, std::string_view what) {
  const std::optional<int> index = parse_index(part);
  if (!index) {
    throw UsageError("{}: the {} is \"{}\"; expected a whole number from 0, as in cross:0:1",
                     excerpt(name), what, excerpt(part));
  }
  return *index;
}

void check_head(std::string_view name, std::optional<int> layer, std::optional<int> head,
                const StackShape& shape) {
  if (layer && *layer >= shape.layers) {
    throw UsageError("{}: no layer {}: the {} has {}", excerpt(name), *layer, shape.stack,
                     range_of("layer", shape.layers));
  }
  if (head && *head >= shape.heads) {
    throw UsageError("{}: no head {}: each layer of the {} has {}", excerpt(name), *head,
                     shape.stack, range_of("head", shape.heads));
  }
}

}  // namespace attn
