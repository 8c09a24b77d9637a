// A line that is longer than what a model has learned, or can take, is translated in parts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translate/translator.h"

namespace attn {

/// When a line is cut into its sentences (text/sentence_splitter.h).
enum class Splitting {
  never,
  sentences,  ///< always
  automatic,  ///< where the line is longer than the model's DecodeConfig::longest_source says, or
              ///< than its positions: text would be lost
  document,   ///< as few parts as that length allows, each of as many sentences as it takes
};

/// A line of text as it is translated: whole, or in parts, one a sentence.
struct PreparedLine {
  std::string text;                     ///< the whole line, clean
  std::vector<PreparedSentence> parts;  ///< at least one
  std::vector<std::string> gaps;        ///< the blanks before each part; none before the first
  bool tried_to_split = false;          ///< whole all the same: it is one sentence
};

/// Which part of its line, the input's `number`th, this one is; none where the line is whole.
std::optional<LinePart> line_part(const PreparedLine& line, std::size_t part,
                                  std::size_t number = 1);

/// Never throws for any bytes, as Translator::prepare(). Sentences inside one pair of quotation
/// marks or parentheses make one part as long as that is no longer than what the model has learned.
/// A language mark (">>por<<") that the line begins with stands before each part.
/// What is replaced in the line's bytes is counted in its first part.
PreparedLine prepare_line(const Translator& translator, std::string_view bytes,
                          Splitting splitting);

/// A line's translation: that of each part, with the blanks that stand between the sources.
struct LineTranslation {
  std::string text;
  std::size_t tokens = 0;
  /// As if the parts were one hypothesis: the sum of their sums over the power of all tokens. One
  /// part's score is its own.
  float score = 0;
  std::vector<std::size_t> ranks;  ///< which of each part's translations it is made of
};

/// The best `num_return_sequences` of all ways to put together the parts' translations, best first;
/// `parts` has a list for each gap, none of them empty. A long line's are searched part by part, so
/// that the first is the best, and a later one may miss a better.
std::vector<LineTranslation> join_parts(const std::vector<std::vector<Translation>>& parts,
                                        const std::vector<std::string>& gaps,
                                        const DecodeConfig& decode);

/// All parts of the lines, one after another.
std::vector<PreparedSentence> all_parts(const std::vector<PreparedLine>& lines);

// Translating many sentences at once: a test set, a dev part.

/// How far translate_all() has come.
struct TranslationProgress {
  std::size_t sentences = 0;
  double fraction = 0;  ///< of all source tokens
};

/// The best translation of each sentence, in the order of the sentences. Those of like length are
/// translated together, `batch` at a time, so that none waits for a much longer one; the longest
/// come first, so that too large a batch fails at once. `go_on` is asked after each batch: false
/// gives nothing.
std::optional<std::vector<Translation>> translate_all(
    const Translator& translator, std::vector<PreparedSentence> sentences, std::size_t batch,
    const std::function<bool(const TranslationProgress&)>& go_on);

}  // namespace attn
