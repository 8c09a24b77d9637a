// Translates a line in parts if it is longer than what the model has learned or can take.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translate/translator.h"

namespace attn {

/// When a line is split into its sentences (text/sentence_splitter.h).
enum class Splitting {
  never,
  sentences,  ///< always
  automatic,  ///< if the line is longer than the model's DecodeConfig::longest_source or than its
              ///< positions, so that text would be lost
  document,   ///< into as few parts as that length allows, each with as many sentences as fit
};

/// A line of text prepared for translation, whole or in parts.
struct PreparedLine {
  std::string text;                     ///< the whole line, clean
  std::vector<PreparedSentence> parts;  ///< at least one
  std::vector<std::string> gaps;        ///< the spaces before each part; empty for the first part
  bool tried_to_split = false;          ///< even if it has one part, because it is one sentence
};

/// Describes a part of line `number` of the input, counted from 1; nothing if the line is whole.
std::optional<LinePart> line_part(const PreparedLine& line, std::size_t part,
                                  std::size_t number = 1);

/// Cleans, splits and tokenizes a line; accepts any bytes, like Translator::prepare(). Sentences
/// inside one pair of quotation marks or parentheses stay in one part while it is no longer than
/// what the model has learned. A language tag (">>por<<") at the start of the line is put before
/// each part. Replaced bytes are counted in the line's first part.
PreparedLine prepare_line(const Translator& translator, const TranslationSettings& settings,
                          std::string_view bytes, Splitting splitting);

/// A line's translation: those of its parts, joined with the spaces between the sources.
struct LineTranslation {
  std::string text;
  std::size_t tokens = 0;
  /// Computed as if the parts were one hypothesis: the sum of their log-probabilities over the
  /// power of the number of all tokens. A line with one part has that part's score.
  float score = 0;
  std::vector<std::size_t> ranks;  ///< which translation of each part it contains
};

/// Returns the best `num_return_sequences` combinations of the parts' translations, best first.
/// `parts` has a nonempty list for each gap. Combinations are extended part by part, so that the
/// first is the best, but a later one may miss a better one.
std::vector<LineTranslation> join_parts(const std::vector<std::vector<Translation>>& parts,
                                        const std::vector<std::string>& gaps,
                                        const DecodeConfig& decode);

/// Returns all parts of the lines, in order.
std::vector<PreparedSentence> all_parts(const std::vector<PreparedLine>& lines);

// Many sentences at once, such as a test set or a dev set.

/// The progress of translate_all().
struct TranslationProgress {
  std::size_t sentences = 0;
  double fraction = 0;  ///< of all source tokens
};

/// Returns the best translation of each sentence, in the order of the sentences. Translates `batch`
/// sentences of similar length together, so that none waits for a much longer one; the longest come
/// first, so that too large a batch fails at once. Calls `go_on` after each batch, and returns
/// nothing once it returns false.
std::optional<std::vector<Translation>> translate_all(
    const Translator& translator, const TranslationSettings& settings,
    std::vector<PreparedSentence> sentences, std::size_t batch,
    const std::function<bool(const TranslationProgress&)>& go_on);

}  // namespace attn
