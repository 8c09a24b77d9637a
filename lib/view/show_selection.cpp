// --show KIND[:LAYER[:HEAD]]: parsing, and checking against a model.
#include <charconv>

#include "base/error.h"
#include "base/utf8.h"
#include "view/map_view.h"
#include "view/terminal.h"

namespace attn {
namespace {

/// A plain decimal, 0 … 2³¹−1: no sign, no leading zero, nothing after it.
std::optional<int> parse_decimal(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_at_colons(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

std::optional<AttentionKind> parse_kind(std::string_view word) {
  if (word == "encoder") return AttentionKind::encoder_self;
  if (word == "decoder") return AttentionKind::decoder_self;
  if (word == "cross") return AttentionKind::cross;
  return std::nullopt;
}

int parse_number(std::string_view text, std::string_view what, const std::string& argument) {
  const std::optional<int> number = parse_decimal(text);
  if (!number) {
    throw UsageError("--show {}: the {} is \"{}\"; expected a whole number from 0, as in cross:0:1",
                     fit_width(printable(argument), 60), what, fit_width(printable(text), 30));
  }
  return *number;
}

ShowItem parse_item(const std::string& argument) {
  const std::vector<std::string_view> parts = split_at_colons(argument);
  const std::optional<AttentionKind> kind = parse_kind(parts[0]);
  if (!kind || parts.size() > 3) {
    throw UsageError(
        "--show \"{}\": expected KIND, KIND:LAYER or KIND:LAYER:HEAD, where KIND is encoder, "
        "decoder or cross, or the word all or none; try cross:0:1",
        fit_width(printable(argument), 60));
  }
  ShowItem item{*kind, std::nullopt, std::nullopt};
  if (parts.size() > 1) item.layer = parse_number(parts[1], "layer", argument);
  if (parts.size() > 2) item.head = parse_number(parts[2], "head", argument);
  return item;
}

std::string written(const ShowItem& item) {
  std::string text(kind_word(item.kind));
  if (item.layer) text += fmt::format(":{}", *item.layer);
  if (item.head) text += fmt::format(":{}", *item.head);
  return text;
}

/// "layers 0 to 2", "only layer 0" or "no layers".
std::string range_of(std::string_view what, int count) {
  if (count <= 0) return fmt::format("no {}s", what);
  return count == 1 ? fmt::format("only {} 0", what) : fmt::format("{}s 0 to {}", what, count - 1);
}

}  // namespace

ShowSelection parse_show(const std::vector<std::string>& arguments) {
  ShowSelection selection;
  if (arguments.empty()) return selection;
  selection.last_layers = false;
  bool none = false;
  for (const std::string& argument : arguments) {
    if (argument == "all") {
      selection.all = true;
    } else if (argument == "none") {
      none = true;
    } else {
      selection.items.push_back(parse_item(argument));
    }
  }
  if (none && (selection.all || !selection.items.empty())) {
    throw UsageError("--show none: other maps are asked for, too; give none alone or leave it out");
  }
  return selection;
}

void check_show(const ShowSelection& selection, const ModelSummary& model) {
  for (const ShowItem& item : selection.items) {
    const bool encoder = item.kind == AttentionKind::encoder_self;
    const std::string_view stack = encoder ? "encoder" : "decoder";
    const int layers = encoder ? model.encoder_layers : model.decoder_layers;
    const int heads = encoder ? model.encoder_heads : model.decoder_heads;
    if (item.layer && *item.layer >= layers) {
      throw UsageError("--show {}: layer {} is asked for, but the model's {} has {}", written(item),
                       *item.layer, stack, range_of("layer", layers));
    }
    if (item.head && *item.head >= heads) {
      throw UsageError("--show {}: head {} is asked for, but the model's {} has {} in each layer",
                       written(item), *item.head, stack, range_of("head", heads));
    }
  }
}

}  // namespace attn
