// How a translation is searched: the options of transformers' `generate` that the program supports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace attn {

enum class EarlyStopping { no, yes, never };

/// Options as read from one place; absent where that place does not say.
struct DecodeOptions {
  std::optional<int> num_beams;
  std::optional<int> num_return_sequences;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  /// Length limit in `generate`'s counting: start symbol, produced tokens and end symbol.
  std::optional<int> max_length;
  std::optional<std::vector<std::vector<int>>> bad_words_ids;
  /// Outer absent: not said. Inner absent: said to be null, which switches forcing off.
  std::optional<std::optional<int>> forced_eos_token_id;
  std::optional<std::optional<int>> forced_bos_token_id;  ///< likewise
  std::optional<bool> renormalize_logits;
  /// Tokens of the longest source that the model has learned to translate, the end symbol included.
  /// A key of this program's own, which `generate` knows nothing of.
  std::optional<int> longest_source;
  /// Tokens that end a translation; empty: none does, only its length.
  std::optional<std::vector<int>> eos_token_ids;
};

/// What the search runs with.
struct DecodeConfig {
  int num_beams = 1;
  int num_return_sequences = 1;
  float length_penalty = 1.0F;
  EarlyStopping early_stopping = EarlyStopping::no;
  /// At most this many produced tokens, the end symbol included; 0: the smaller of the decoder's
  /// positions and 2 · source + 10.
  int max_new_tokens = 0;
  std::vector<std::vector<int>> bad_words_ids;
  std::optional<int> forced_bos_token_id;  ///< the first produced token
  std::optional<int> forced_eos_token_id;
  bool renormalize_logits = false;
  int longest_source = 0;  ///< tokens of the longest learned source; 0: nobody says
  std::optional<std::vector<int>> eos_token_ids;  ///< absent: the model's own end symbol
};

/// Reads generation options from generation_config.json, or from config.json where a directory has
/// no such file (lenient: other keys are fine). `notes` receives one sentence for each key that
/// would change results and is not supported (do_sample true, repetition_penalty not 1,
/// no_repeat_ngram_size above 0, min_length above 0, suppress_tokens, …), naming file, key and
/// value. Wrong types are InputErrors.
DecodeOptions decode_options_from_directory(const Json& json, const std::string& where,
                                            std::vector<std::string>& notes);

/// The `decode` section of an experiment file: strict, unknown keys name the nearest known one.
DecodeOptions decode_options_from_experiment(const Json& json, const std::string& where);

/// `stronger` where it says something, else `weaker`.
DecodeOptions merge(const DecodeOptions& stronger, const DecodeOptions& weaker);

/// Fills in defaults and checks ranges and that n-best is not above the beam (InputError).
/// `default_forced_eos` is the end that is forced where nothing is said of it.
DecodeConfig resolve(const DecodeOptions& options, std::optional<int> default_forced_eos,
                     const std::string& where);

}  // namespace attn
