// Fuzzes option values that the commands parse themselves; the first byte chooses the option.

#include <array>

#include "analysis/alignment.h"
#include "commands/arguments.h"
#include "commands/search_options.h"
#include "fuzz.h"
#include "service/model/model_choice.h"
#include "service/what_if.h"

using namespace attn;

namespace {

/// Returns the model in which names of heads are looked up.
ModelSummary small_model() {
  ModelSummary model;
  model.encoder_layers = model.decoder_layers = 2;
  model.encoder_heads = model.decoder_heads = 3;
  return model;
}

void read_whole(const std::string& word) {
  const std::uint64_t value = parse_whole({"batch", 1, 100'000}, word);
  fuzz::require(std::to_string(value) == word, "plain decimals");
}

void read_decimal(const std::string& word) {
  const float value = parse_decimal({"align_least", 0, 1}, word);
  fuzz::require(value >= 0 && value <= 1, "within the range");
}

void read_search(const std::string& word) {
  for (const OptionSpec& option : search_option_table()) {
    fuzz::accepts([&] {
      SearchOptions options;
      read_option(options, option, word);
      decode_options(options);
    });
  }
}

void read_show(const std::string& word) {
  const MapSelection selection = parse_map_selection({word});
  if (!selection.items.empty()) {
    const std::string name = word == "best" ? "cross:best" : word;
    fuzz::require(to_string(selection.items.front()) == name, "a name is read as it is written");
  }
  check_map_selection(selection, small_model());
}

void read_align(const std::string& word) {
  const AlignmentMethod choice = parse_alignment_method(word);
  // Heads and means have a second name, that of their maps.
  if (!word.ends_with("best") && !word.ends_with("mean")) {
    fuzz::require(to_string(choice) == word, "a choice is read as it is written");
  }
  check_alignment_method(choice, small_model());
}

void read_without(const std::string& word) {
  WhatIfOptions options;
  options.without = {word, "cross:0:1"};
  fuzz::require(options.changes(small_model()).without.size() == 2, "every change");
}

void read_force(const std::string& word) {
  WhatIfOptions options;
  options.force = {word, "cross:0:1:2=3"};
  fuzz::require(options.changes(small_model()).forced.size() == 2, "every change");
}

void read_swap(const std::string& word) {
  WhatIfOptions options;
  options.swap = {word};
  options.with_swapped_words("The group, went  home.");
}

constexpr std::array kReaders = {
    read_whole, read_decimal, read_search,
    read_show,  read_align,   read_without,
    read_force, read_swap,    +[](const std::string& word) { parse_dtype(word); }};

}  // namespace

FUZZ(bytes) {
  if (bytes.empty()) return;
  const auto kind = static_cast<unsigned char>(bytes.front()) % kReaders.size();
  // Command-line words contain no zero bytes.
  const std::string word(bytes.substr(1, bytes.find('\0', 1) - 1));
  fuzz::accepts([&] { kReaders.at(kind)(word); });
}
