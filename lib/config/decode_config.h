// The search settings: those options of transformers' `generate` that the program supports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/key_reader.h"

namespace attn {

enum class EarlyStopping { no, yes, never };

/// A bias on the score of a sequence's last token if the other tokens precede it.
struct SequenceBias {
  std::vector<int> ids;
  float bias = 0;
  bool operator==(const SequenceBias&) const = default;
};

/// Settings for sampling tokens at random instead of taking the likeliest. The defaults are
/// transformers'.
struct Sampling {
  float temperature = 1.0F;  ///< logits are divided by it: below 1, likely tokens become likelier
  int top_k = 50;            ///< only this many of the likeliest; 0: all
  float top_p = 1.0F;        ///< only the likeliest tokens whose probabilities add up to this
  float min_p = 0.0F;        ///< only tokens with at least this fraction of the highest probability
  float typical_p =
      1.0F;  ///< the tokens nearest to the expected surprisal, up to this probability mass
  std::uint64_t seed = 1;
};

/// Options as read from one place; those that it does not set are absent.
struct DecodeOptions {
  std::optional<int> num_beams;
  std::optional<int> num_return_sequences;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  /// The length limit as `generate` counts it: start symbol, produced tokens and end symbol.
  std::optional<int> max_length;
  std::optional<std::vector<std::vector<int>>> bad_words_ids;
  /// Outer optional absent: not set. Inner one absent: set to null, which disables forcing.
  std::optional<std::optional<int>> forced_eos_token_id;
  std::optional<std::optional<int>> forced_bos_token_id;  ///< the same
  std::optional<bool> renormalize_logits;
  /// Tokens of the longest source that the model has learned to translate, including the end
  /// symbol. This key is the program's own; `generate` does not know it.
  std::optional<int> longest_source;
  /// Tokens that end a translation. If empty, only its length does.
  std::optional<std::vector<int>> eos_token_ids;

  std::optional<int> no_repeat_ngram_size;          ///< 0: n-grams may repeat
  std::optional<int> encoder_no_repeat_ngram_size;  ///< 0: those of the source may be repeated, too
  std::optional<float> repetition_penalty;          ///< above 0; 1: no penalty
  /// Minimum number of tokens before an end symbol; `min_length` counts the start symbol, too.
  std::optional<int> min_new_tokens;
  std::optional<std::vector<int>> suppress_tokens;        ///< are never produced
  std::optional<std::vector<int>> begin_suppress_tokens;  ///< are never produced first
  std::optional<std::vector<SequenceBias>> sequence_bias;

  /// A model's own files never make translations random.
  std::optional<bool> do_sample;
  std::optional<std::uint64_t> sampling_seed;
  std::optional<float> temperature, top_p, min_p, typical_p;  ///< see Sampling
  std::optional<int> top_k;

  /// All of generation_config.json as it was read, so that `convert` also writes unknown keys;
  /// null if there is no such file.
  std::shared_ptr<const Json> document;
  /// task_specific_params of config.json (T5) as it was read, for the same reason.
  std::shared_ptr<const Json> task_specific_params;
};

/// The settings that the search uses.
struct DecodeConfig {
  int num_beams = 1;
  int num_return_sequences = 1;
  float length_penalty = 1.0F;
  EarlyStopping early_stopping = EarlyStopping::no;
  /// Maximum number of produced tokens, including the end symbol; 0: the smaller of the decoder's
  /// positions and 2 · source + 10.
  int max_new_tokens = 0;
  std::vector<std::vector<int>> bad_words_ids;
  std::optional<int> forced_bos_token_id;     ///< the first produced token
  std::optional<int> decoder_start_token_id;  ///< absent: the model's own
  std::optional<int> forced_eos_token_id;
  bool renormalize_logits = false;
  int longest_source = 0;  ///< tokens of the longest learned source; 0: unknown
  std::optional<std::vector<int>> eos_token_ids;  ///< absent: the model's own end symbol
  int no_repeat_ngram_size = 0;
  int encoder_no_repeat_ngram_size = 0;
  float repetition_penalty = 1.0F;
  int min_new_tokens = 0;
  std::vector<int> suppress_tokens;
  std::vector<int> begin_suppress_tokens;
  std::vector<SequenceBias> sequence_bias;
  /// If set, `num_return_sequences` translations are sampled, and there is one beam.
  std::optional<Sampling> sampling;
  std::shared_ptr<const Json> document, task_specific_params;  ///< see DecodeOptions
};

/// Reads generation options from generation_config.json, or from config.json if a directory has no
/// such file (lenient: other keys are ignored). `notes` receives one sentence for each key that
/// would change results and is not supported (do_sample true, diversity_penalty above 0,
/// constraints, …), with file, key and value. Throws InputError for wrong types.
DecodeOptions decode_options_from_directory(const Json& json, const std::string& where,
                                            std::vector<std::string>& notes);

/// Reads the `decode` section of an experiment file. Throws InputError for an unknown key and
/// names the nearest known one.
DecodeOptions decode_options_from_experiment(const Json& json, const std::string& where);

/// Returns the prefixes of texts in task_specific_params, without duplicates.
std::vector<std::string> task_prefixes(const DecodeOptions& options);

/// Returns the options of `stronger` if they are set, and otherwise those of `weaker`.
DecodeOptions merge_decode_options(const DecodeOptions& stronger, const DecodeOptions& weaker);

/// Fills in defaults, and checks ranges and that n-best is not above the number of beams
/// (InputError). With sampling, beams are ignored. `default_forced_eos` is the end token that is
/// forced if the options do not say.
DecodeConfig resolve_decode_options(const DecodeOptions& options,
                                    std::optional<int> default_forced_eos,
                                    const std::string& where);

// Reading those keys of `generate` that the program supports.

/// Reads the options of generation_config.json, of config.json or of an experiment's `decode`
/// section; null counts as not set. Throws InputError for wrong types and values.
DecodeOptions read_decode_options(KeyReader& reader);

}  // namespace attn
