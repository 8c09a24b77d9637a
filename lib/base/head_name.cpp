#include "base/head_name.h"

#include <charconv>

#include "base/error.h"
#include "base/excerpt.h"

namespace attn {
namespace {

/// "layers 0 to 2", "only layer 0" or "no layers".
std::string range_of(std::string_view what, int count) {
  if (count <= 0) return fmt::format("no {}s", what);
  return count == 1 ? fmt::format("only {} 0", what) : fmt::format("{}s 0 to {}", what, count - 1);
}

}  // namespace

std::string to_string(const HeadName& name) {
  std::string text(kind_word(name.kind));
  if (name.layer) text += fmt::format(":{}", *name.layer);
  if (name.layer && name.head) text += fmt::format(":{}", *name.head);
  return text;
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
    throw UsageError("{}: layer {} is asked for, but the model's {} has {}", name, *layer,
                     shape.stack, range_of("layer", shape.layers));
  }
  if (head && *head >= shape.heads) {
    throw UsageError("{}: head {} is asked for, but the model's {} has {} in each layer", name,
                     *head, shape.stack, range_of("head", shape.heads));
  }
}

}  // namespace attn
