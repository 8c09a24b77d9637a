// How translations are searched, as typed on the command lines of translate and evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "service/search_settings.h"

namespace attn {

struct SearchOptions {
  std::string beam, n_best, length_penalty, early_stopping, max_length, threads, batch = "32";
  std::string split = "auto";
  std::string no_repeat, encoder_no_repeat, repetition_penalty, min_length;
  bool sample = false, document = false;
  std::string temperature, top_k, top_p, min_p, typical, sample_seed;

  enum class NBest { offered, not_offered };
  void add_search_to(CLI::App& command, NBest n_best);  ///< --beam … --max-length
  void add_rules_to(CLI::App& command);                 ///< --no-repeat-ngram … --min-length
  void add_sampling_to(CLI::App& command);              ///< --sample, --temperature, …
  void add_split_to(CLI::App& command);                 ///< --split
  void add_threads_to(CLI::App& command);               ///< --threads
  void add_speed_to(CLI::App& command);                 ///< --threads, --batch

  /// UsageError naming option, value and range.
  SearchSettings settings() const;

 private:
  DecodeOptions rules() const;
  void add_sampling(DecodeOptions& rules) const;
};

}  // namespace attn
