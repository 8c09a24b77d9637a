// How translations are searched, as typed on the command lines of translate and evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "config/decode_config.h"
#include "model_source.h"
#include "translate/line_parts.h"
#include "translate/translator.h"

namespace attn {

struct SearchOptions {
  std::string beam, n_best, length_penalty, early_stopping, max_length, threads, batch = "32";
  std::string split = "auto";
  std::string no_repeat, encoder_no_repeat, repetition_penalty, min_length;
  bool sample = false;
  std::string temperature, top_k, top_p, min_p, typical, sample_seed;

  enum class NBest { offered, not_offered };
  void add_search_to(CLI::App& command, NBest n_best);  ///< --beam … --max-length
  void add_rules_to(CLI::App& command);                 ///< --no-repeat-ngram … --min-length
  void add_sampling_to(CLI::App& command);              ///< --sample, --temperature, …
  void add_split_to(CLI::App& command);                 ///< --split
  void add_threads_to(CLI::App& command);               ///< --threads
  void add_speed_to(CLI::App& command);                 ///< --threads, --batch

  /// What the command line says of the search; UsageError naming option, value and range.
  DecodeOptions decode() const;
  void add_rules(DecodeOptions& decode) const;
  void add_sampling(DecodeOptions& decode) const;
  Splitting splitting() const;
  std::size_t batch_size() const;
  void use_threads() const;  ///< as many as asked for, else the cores, at most 4
};

/// A translator that searches as `given` says, else as the model's own files do, and whose records
/// name the model. UsageError where
/// more translations are asked for than there are beams. `model` outlives it.
std::unique_ptr<Translator> make_translator(const ReadyModel& model, const DecodeOptions& given);

/// The same for models that translate together: the files that count are the first model's, and the
/// maps those of `models.maps_of`.
std::unique_ptr<Translator> make_translator(const ReadyEnsemble& models,
                                            const DecodeOptions& given);

}  // namespace attn
