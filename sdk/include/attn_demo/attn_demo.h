// The C++ interface of the library that `cmake --install` installs with the program: it loads
// models, translates, returns the attention of every head, and says where each written word came
// from. It needs only C++20 and attn_demo/search_options.h, which is installed beside it.
//
//   find_package(attn_demo REQUIRED)
//   target_link_libraries(mine PRIVATE attn_demo::attn_demo)
//
// Shapes: S source tokens, L tokens of the translation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "attn_demo/search_options.h"

namespace attn_demo {

/// Any failure. what() is the line that the program would print, and exit_code its exit code: 2
/// wrong usage, 3 bad input, 4 refused by the system, 5 too little memory.
struct __attribute__((visibility("default"))) Error : std::runtime_error {
  Error(int code, const std::string& line) : std::runtime_error(line), exit_code(code) {}
  int exit_code;
};

/// Search options; the model's own files decide about options that are not set.
using Search = SearchOptions;

/// Weights of all heads of one kind: each row is a query whose weights on the keys sum to 1.
struct Maps {
  int layers = 0;
  int heads = 0;
  int queries = 0;
  int keys = 0;
  std::vector<float> weights;  ///< [layers, heads, queries, keys], row-major

  float at(int layer, int head, int query, int key) const {
    const auto row = (static_cast<std::size_t>(layer) * static_cast<std::size_t>(heads) +
                      static_cast<std::size_t>(head)) *
                         static_cast<std::size_t>(queries) +
                     static_cast<std::size_t>(query);
    return weights.at(row * static_cast<std::size_t>(keys) + static_cast<std::size_t>(key));
  }
};

/// A sentence, its translation and its attention maps.
struct Attention {
  std::string text;                         ///< the translation
  double score = 0;                         ///< as computed by the search
  std::vector<std::string> source_tokens;   ///< S tokens, the last is "</s>"
  std::vector<std::string> tokens;          ///< L generated tokens: rows of cross and decoder
  std::vector<std::string> decoder_tokens;  ///< L tokens that the decoder read: columns of decoder
  std::vector<float> log_probs;             ///< L natural logarithms of probabilities
  Maps encoder;                             ///< [layers, heads, S, S]
  Maps decoder;                             ///< [layers, heads, L, L], exactly 0 for later columns
  Maps cross;                               ///< [layers, heads, L, S]
};

/// The share of one word in a logit.
struct Share {
  std::string text;
  float value = 0;
};

/// A logit, or a difference of two, as a sum over words and the rest of the model.
struct Shares {
  std::vector<Share> source;  ///< by cross-attention, in the order of the sentence
  std::vector<Share> prefix;  ///< by the words that were written before, the start symbol first
  float feed_forward = 0;
  float biases = 0;
  float position = 0;

  float rest() const { return feed_forward + biases + position; }
  /// Returns the logit.
  float total() const {
    float sum = rest();
    for (const Share& share : source) sum += share.value;
    for (const Share& share : prefix) sum += share.value;
    return sum;
  }
};

/// Explains where one written word came from (direct logit attribution with frozen norms;
/// docs/why.md).
struct WordReceipt {
  std::string text;
  int first = 0;       ///< its first token
  int count = 0;       ///< its tokens
  float log_prob = 0;  ///< natural logarithm; the sum over its tokens
  Shares logit;        ///< the sum over its tokens

  int step = 0;           ///< the token of the translation at which it is compared…
  std::string token;      ///< …which is this one…
  std::string runner_up;  ///< …with the likeliest other token, or that of WhyQuestion::instead
  Shares over_runner_up;  ///< logit(token) − logit(runner_up)
};

/// The request for an explanation.
struct WhyQuestion {
  std::optional<std::string> target;  ///< explained instead of a translation
  std::string word;  ///< the written word, or the number of one of its tokens; "": all words
  /// The other word of the comparison; "": the runner-up. Without `word`, a whole translation in
  /// which one word differs.
  std::string instead;
};

/// A translation and the receipts of its words.
struct Why {
  std::string text;
  std::vector<WordReceipt> words;
};

/// A model. Read-only after loading, so threads may share it.
class __attribute__((visibility("default"))) Model {
 public:
  /// Loads a model directory; "" is the shipped model. precision: that of weights in matrix
  /// multiplications, as in --precision: "float32", "bfloat16" or "int8". Throws Error.
  explicit Model(const std::string& directory = "", const std::string& precision = "float32");
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  /// Returns the best translation of each text (UTF-8), in order. Throws Error.
  std::vector<std::string> translate(const std::vector<std::string>& texts,
                                     const Search& search = {}) const;

  /// Translates one text and returns the attention maps of its best translation. Throws Error.
  Attention attend(const std::string& text, const Search& search = {}) const;

  /// Translates one text and says where each word of its best translation came from. Throws Error,
  /// also for models whose logits are no exact sum.
  Why why(const std::string& text, const WhyQuestion& question = {},
          const Search& search = {}) const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace attn_demo
