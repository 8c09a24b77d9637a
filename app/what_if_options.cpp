#include "what_if_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "arguments.h"
#include "base/error.h"

namespace attn {
namespace {

constexpr std::uint64_t kMostIndex = 1'000'000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

AttentionKind kind_of(const std::string& option, const std::string& written,
                      const std::string& text) {
  if (text == "encoder") return AttentionKind::encoder_self;
  if (text == "decoder") return AttentionKind::decoder_self;
  if (text == "cross") return AttentionKind::cross;
  throw UsageError("{} {}: \"{}\" is no kind; expected encoder, decoder or cross", option, written,
                   text);
}

int index_of(const std::string& option, const std::string& text) {
  return static_cast<int>(parse_whole(option, text, 0, kMostIndex));
}

void check_head(const std::string& option, const ModelSummary& model, const HeadSwitch& head) {
  const bool encoder = head.kind == AttentionKind::encoder_self;
  const int layers = encoder ? model.encoder_layers : model.decoder_layers;
  const int heads = encoder ? model.encoder_heads : model.decoder_heads;
  const char* stack = encoder ? "encoder" : "decoder";
  if (head.layer >= layers) {
    throw UsageError("{}: layer {} is asked for, but the model's {} has layers 0 to {}", option,
                     head.layer, stack, layers - 1);
  }
  if (head.head && *head.head >= heads) {
    throw UsageError("{}: head {} is asked for, but the model's {} has heads 0 to {}", option,
                     *head.head, stack, heads - 1);
  }
}

HeadSwitch parse_without(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) {
    throw UsageError("--without {}: expected KIND:LAYER or KIND:LAYER:HEAD, as in cross:1:3", text);
  }
  HeadSwitch off{kind_of("--without", text, parts[0]), index_of("--without", parts[1]), {}};
  if (parts.size() == 3) off.head = index_of("--without", parts[2]);
  return off;
}

ForcedWeight parse_force(const std::string& text) {
  const std::vector<std::string> sides = split(text, '=');
  const std::vector<std::string> parts = split(sides[0], ':');
  if (sides.size() != 2 || parts.size() != 4) {
    throw UsageError("--force {}: expected KIND:LAYER:HEAD:QUERY=KEY, as in cross:1:3:2=4", text);
  }
  return {kind_of("--force", text, parts[0]), index_of("--force", parts[1]),
          index_of("--force", parts[2]), index_of("--force", parts[3]),
          index_of("--force", sides[1])};
}

struct Swap {
  std::size_t position = 0;
  std::string word;
};

Swap parse_swap(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size()) {
    throw UsageError("--swap {}: expected POSITION=WORD, as in 2=house (words count from 0)", text);
  }
  return {parse_whole("--swap", text.substr(0, sign), 0, kMostIndex), text.substr(sign + 1)};
}

bool is_mark(char c) {
  return c == '.' || c == '?' || c == '!' || c == ',' || c == ';' || c == ':';
}

}  // namespace

void WhatIfOptions::add_to(CLI::App& command) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* text,
                       const char* form) {
    command.add_option(name, values, text)->type_name(form)->take_all()->allow_extra_args(false);
  };
  add("--without", without, "Switch a head off, or a layer's heads, and compare",
      "KIND:LAYER[:HEAD]");
  add("--force", force, "Put a query's weight wholly on one key, and compare",
      "KIND:LAYER:HEAD:QUERY=KEY");
  add("--swap", swap, "Replace a word (counted from 0), and compare", "POSITION=WORD");
}

Changes WhatIfOptions::changes(const ModelSummary& model) const {
  Changes changes;
  for (const std::string& text : without) {
    changes.without.push_back(parse_without(text));
    check_head("--without " + text, model, changes.without.back());
  }
  for (const std::string& text : force) {
    const ForcedWeight forced = parse_force(text);
    check_head("--force " + text, model, {forced.kind, forced.layer, forced.head});
    changes.forced.push_back(forced);
  }
  return changes;
}

std::string WhatIfOptions::swapped(const std::string& sentence) const {
  std::vector<std::string> words;
  for (std::string& word : split(sentence, ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  for (const std::string& text : swap) {
    const Swap change = parse_swap(text);
    if (change.position >= words.size()) {
      throw UsageError("--swap {}: the sentence has words 0 to {}", text,
                       words.empty() ? 0 : words.size() - 1);
    }
    std::string& word = words[change.position];
    const char last = word.back();
    word = change.word;
    if (is_mark(last) && !is_mark(word.back())) word += last;
  }
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::vector<std::string> WhatIfOptions::described() const {
  std::vector<std::string> lines;
  for (const std::string& text : without) lines.push_back("without " + text);
  for (const std::string& text : force) lines.push_back("forced " + text);
  for (const std::string& text : swap) lines.push_back("swapped " + text);
  return lines;
}

ShowSelection WhatIfOptions::selection(const Changes& changes) const {
  ShowSelection shown;
  if (changes.without.empty() && changes.forced.empty()) return shown;  // the last layers
  shown.last_layers = false;
  for (const HeadSwitch& off : changes.without) {
    shown.items.push_back({off.kind, off.layer, off.head});
  }
  for (const ForcedWeight& f : changes.forced) shown.items.push_back({f.kind, f.layer, f.head});
  return shown;
}

}  // namespace attn
