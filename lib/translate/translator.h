// From text to text: cleaning, tokenizing, searching, detokenizing, and the record of what
// attention did on the way.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "config/decode_config.h"
#include "model/transformer.h"
#include "record/attention_record.h"
#include "text/tokenizer.h"
#include "translate/intervention.h"
#include "translate/search/search.h"

namespace attn {

class SearchQueue;
class VectorRecorder;

/// A source sentence made ready: clean text, ids within the model's positions.
struct PreparedSentence {
  std::string text;
  std::vector<int> ids;  ///< the end symbol last; empty for a sentence without any piece
  std::size_t invalid_bytes = 0;
  std::size_t controls = 0;
  std::size_t unknown = 0;
  std::string first_unknown_token;   ///< the piece; empty: none
  std::size_t truncated_tokens = 0;  ///< tokens beyond the model's positions, left out
  bool empty() const { return ids.size() <= 1; }
};

struct Translation {
  std::string text;
  std::vector<int> ids;
  float score = 0;
};

/// What a record holds besides the maps.
struct RecordDetail {
  bool vectors = false;      ///< every head's queries, keys and values, and the rows between
  bool search_tree = false;  ///< what the search kept, step by step, with its maps
  int alternatives = 0;      ///< likeliest pieces of each step; 0: none
};

/// Milliseconds that the parts of searches and records took, and what was searched.
struct TranslationTimings {
  double encoder = 0;  ///< of records; what is only translated is encoded within its search
  double search = 0;
  double maps = 0;  ///< the decoder once more over what was found, for its maps
  std::size_t source_tokens = 0, target_tokens = 0;  ///< that searches have read, and found at best
};

/// What an experiment changes in the model.
struct ModelChanges {
  std::vector<AblatedHead> without;
  std::vector<ForcedWeight> forced;
};

class Translator {
 public:
  /// Models and tokenizer outlive the translator. InputError where their vocabularies do not fit.
  /// Of several models, records hold the maps and log-probabilities of `maps_of`, counted from 0;
  /// scores are the ensemble's.
  Translator(const Ensemble& models, const Tokenizer& tokenizer, DecodeConfig decode,
             std::size_t maps_of = 0);

  /// Never throws for any bytes: invalid UTF-8 and controls are replaced, and text beyond 64 KiB or
  /// the model's positions is cut; the counts say so.
  PreparedSentence prepare(std::string_view bytes) const;

  /// The n best translations of each sentence, best first; an empty sentence gives empty text.
  /// `max_active`: see SearchContext.
  std::vector<std::vector<Translation>> translate(const std::vector<PreparedSentence>& batch,
                                                  std::size_t max_active = 0) const;

  /// Searches as translate() does, then replays each hypothesis once under the recorder. An empty
  /// sentence has one empty hypothesis.
  std::vector<AttentionRecord> record(const std::vector<PreparedSentence>& batch,
                                      const RecordDetail& detail = {}) const;

  /// Scores and records a given translation instead of searching for one, by the model of the maps.
  AttentionRecord record_target(const PreparedSentence& source, std::string_view target,
                                const RecordDetail& detail = {}) const;
  /// The same of pieces that are given, the end symbol last: a search may cut a text otherwise than
  /// the tokenizer does.
  AttentionRecord record_target_ids(const PreparedSentence& source, std::vector<int> target,
                                    const RecordDetail& detail = {}) const;

  /// What changes of the first model make of a sentence. `before` is its record without them, of
  /// record() or record_target(); `after`, the same sentence or one with a word replaced, is
  /// translated with them; then the first translation of `before` is scored under them.
  /// InputError where a sentence is empty; UsageError, begun by the weight ("cross:2:2:9=4"), where
  /// a forced weight names a query or key that the sentence and its translations do not have. No
  /// search tree is recorded of `after`.
  WhatIfRecord what_if(AttentionRecord before, const PreparedSentence& after,
                       const ModelChanges& changes, const RecordDetail& detail = {}) const;

  /// From now on sources and given translations are in these languages.
  void speak(const LanguageChoice& languages) { languages_ = languages; }
  const LanguageChoice& languages() const { return languages_; }
  /// From now on every source text gets this before it, but a blank one and one that begins with
  /// it.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  /// What every record says of the model from now on.
  void describe(ModelSummary summary) { summary_ = std::move(summary); }
  const ModelSummary& summary() const { return summary_; }

  /// From now on translations and records end with SearchStopped soon after `stop` is set, which
  /// outlives the translator.
  void stop_when(const std::atomic<bool>& stop) { stop_ = &stop; }

  /// From now on what is searched waits in `queue`, whose models are these, and runs there with
  /// what other threads ask for; but where somebody watches or follows. `client`: see Asker. It
  /// outlives the translator.
  void share(SearchQueue& queue, std::uint64_t client = 0) {
    queue_ = &queue;
    client_ = client;
  }

  /// From now on the parts of translations and records add their times there; it outlives them.
  void time_into(TranslationTimings& times) { times_ = &times; }

  /// From now on `observer` sees every head of every search and record, and may change its weights:
  /// those of an ensemble's first model while searching, of the model of the maps while recording;
  /// in an experiment after its changes. Null: nobody. It outlives the calls that it sees.
  void watch(AttentionObserver* observer) { observer_ = observer; }

  const DecodeConfig& decode_config() const { return decode_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

  /// Tokens of the longest sentence that prepare() leaves whole: the fewest positions
  /// of any model.
  std::size_t max_source_tokens() const { return to_size(models_.max_positions()); }

  /// Tokens of the longest translation that a search of so many tokens may find.
  std::size_t max_target_tokens(std::size_t source_tokens) const {
    return to_size(max_generated_tokens(decode_, models_, to_index(source_tokens)));
  }

 private:
  /// A sentence on its way into a record.
  struct PendingRecord {
    AttentionRecord record;
    EncodedSource encoded;
    const ModelChanges* changes = nullptr;
    RecordDetail detail;
  };

  std::vector<std::vector<SearchHypothesis>> find(const std::vector<PreparedSentence>& batch,
                                                  SearchContext watch = {}) const;
  PendingRecord begin(const PreparedSentence& sentence, const RecordDetail& detail,
                      const ModelChanges* changes) const;
  HypothesisRecord teacher_force(const PendingRecord& session, std::vector<int> ids) const;
  /// The piece of a target id; "<row 8003>" of a row of the embedding that has none.
  std::string token_name(int id) const;
  /// Puts what a search found into the record.
  void teacher_force_all(PendingRecord& session, const std::vector<SearchHypothesis>& found) const;
  std::vector<ResidualStreamState> residual_stream_of(const StackParameters& stack,
                                                      std::span<const int> ids,
                                                      VectorRecorder& recorder) const;
  SearchTree record_search_tree(const PreparedSentence& sentence,
                                const EncodedSource& encoded) const;

  Ensemble models_;
  const Transformer& model_;  ///< whose maps are recorded
  const Tokenizer& tokenizer_;
  DecodeConfig decode_;
  LanguageChoice languages_;
  std::string prefix_;
  ModelSummary summary_;
  const std::atomic<bool>* stop_ = nullptr;
  SearchQueue* queue_ = nullptr;
  std::uint64_t client_ = 0;
  TranslationTimings* times_ = nullptr;
  AttentionObserver* observer_ = nullptr;
};

/// The facts of a config for a record; name, weights and seed are the caller's.
ModelSummary summarise(const ModelConfig& config);

}  // namespace attn
