// How translations are searched, as typed on the command lines of translate and evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>

#include "service/search_settings.h"

namespace attn {

struct SearchOptions {
  std::string beam, n_best, length_penalty, early_stopping, max_length, threads, batch = "32";
  std::string split = "auto";
  std::map<std::string_view, std::string> numbers;  ///< of rules and draws, by their fields
  std::string source_lang, target_lang;
  bool sample = false, document = false;

  enum class NBest { offered, not_offered };
  void add_search_to(CLI::App& command, NBest n_best);  ///< --beam … --max-length
  void add_rules_to(CLI::App& command);                 ///< --no-repeat-ngram … --min-length
  void add_sampling_to(CLI::App& command);              ///< --sample, --temperature, …
  void add_languages_to(CLI::App& command);             ///< --source-lang, --target-lang
  void add_split_to(CLI::App& command);                 ///< --split
  void add_threads_to(CLI::App& command);               ///< --threads
  void add_speed_to(CLI::App& command);                 ///< --threads, --batch

  /// UsageError naming option, value and range.
  SearchSettings settings() const;
};

}  // namespace attn
