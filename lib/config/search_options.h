// The options of a translation, as every front end offers them: the command line, Python, the
// server and the C++ library, whose public header this is (installed as
// attn_demo/search_options.h). Needs nothing but C++20.
//
// Each option is one member here and one row of config/option_table.cpp, which holds its range,
// its default and its description. From that row every front end offers it. Most values reach the
// search as keys of generation_config.json: decode_options() in service/option_values.cpp converts
// them, and merge_decode_options() and resolve_decode_options() in config/decode_config.cpp combine
// them with the model's own files, which decide unset options. Options that need the model or its
// tokenizer, such as forbid and the languages, are handled in service/search_settings.cpp.
#ifndef ATTN_DEMO_SEARCH_OPTIONS_H  // included under two names: config/ and attn_demo/
#define ATTN_DEMO_SEARCH_OPTIONS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn_demo {

struct SearchOptions {
  std::optional<int> beam;               ///< beams; 1 is greedy search
  std::optional<int> n_best;             ///< number of translations; the C++ library returns one
  std::optional<double> length_penalty;  ///< scores are divided by length^penalty
  std::string early_stopping;            ///< "true", "false" or "never"
  std::optional<int> max_length;         ///< most tokens produced, </s> included
  std::optional<int> threads;            ///< unset: the cores, at most 4; shared by the process
  std::string source_lang;               ///< "de", "deu_Latn" or "German"
  std::string target_lang;
  std::optional<std::string> prefix;  ///< T5's "translate English to German: "

  std::optional<int> min_length;               ///< fewest tokens produced before </s>
  std::optional<int> no_repeat_ngram;          ///< no N tokens in a row occur twice
  std::optional<int> encoder_no_repeat_ngram;  ///< no N tokens in a row are copied from the source
  std::optional<double> repetition_penalty;    ///< above 1: repeated tokens become less likely

  std::vector<std::string> forbid;  ///< words that no translation contains
  /// "SOURCE=TARGET" or "SOURCE=TARGET|TARGET": where SOURCE occurs, a TARGET must be in the
  /// translation. A tab may be in the place of "=".
  std::vector<std::string> terms;

  bool sample = false;                ///< sample each token instead of searching
  std::optional<double> temperature;  ///< with sample, as all that follow
  std::optional<int> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> typical;
  std::optional<std::uint64_t> sample_seed;

  std::string split = "auto";  ///< "never", "sentences" or "auto"
  bool document = false;       ///< cut a long line into groups of sentences
  std::size_t batch = 32;      ///< sentences translated together

  bool html_input = false;        ///< the texts are HTML, and so are their translations
  std::vector<std::string> keep;  ///< regular expressions: what they match is not translated
};

}  // namespace attn_demo

#endif
