// From text to text: cleaning, tokenizing, searching, detokenizing, and the record of what
// attention did on the way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/decode_config.h"
#include "model/transformer.h"
#include "record/attention_record.h"
#include "text/tokenizer.h"
#include "translate/search.h"

namespace attn {

/// A source sentence made ready: clean text, ids within the model's positions.
struct PreparedSentence {
  std::string text;
  std::vector<int> ids;  ///< the end symbol last; empty for a sentence without any piece
  std::size_t invalid_bytes = 0;
  std::size_t controls = 0;
  std::size_t unknown = 0;
  std::size_t cut_tokens = 0;  ///< tokens beyond the model's positions, left out
  bool empty() const { return ids.size() <= 1; }
};

struct Translation {
  std::string text;
  std::vector<int> ids;
  float score = 0;
};

class Translator {
 public:
  /// Model and tokenizer outlive the translator. InputError where their vocabularies do not fit.
  Translator(const Transformer& model, const Tokenizer& tokenizer, DecodeConfig decode);

  /// Never throws for any bytes: invalid UTF-8 and controls are replaced, and text beyond 64 KiB or
  /// the model's positions is cut; the counts say so.
  PreparedSentence prepare(std::string_view bytes) const;

  /// The n best translations of each sentence, best first; an empty sentence gives empty text.
  std::vector<std::vector<Translation>> translate(const std::vector<PreparedSentence>& batch) const;

  /// Searches as translate() does, then replays each hypothesis once under the recorder. An empty
  /// sentence has one empty hypothesis.
  std::vector<AttentionRecord> record(const std::vector<PreparedSentence>& batch) const;

  /// Scores and records a given translation instead of searching for one.
  AttentionRecord record_target(const PreparedSentence& source, std::string_view target) const;

  /// What every record says of the model from now on.
  void describe(ModelSummary summary) { summary_ = std::move(summary); }

  const DecodeConfig& decode_config() const { return decode_; }

 private:
  std::vector<std::vector<SearchHypothesis>> find(const std::vector<PreparedSentence>& batch) const;
  HypothesisRecord replay(const EncodedSource& encoded, std::vector<int> ids) const;
  AttentionRecord begin_record(const PreparedSentence& sentence, EncodedSource& encoded) const;

  const Transformer& model_;
  const Tokenizer& tokenizer_;
  DecodeConfig decode_;
  ModelSummary summary_;
};

/// The facts of a config for a record; name, weights and seed are the caller's.
ModelSummary summarise(const ModelConfig& config);

}  // namespace attn
