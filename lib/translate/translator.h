// Translates text: cleans and tokenizes it, searches for translations, turns them back into text,
// and records what attention did on request.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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
#include "translate/terms.h"

namespace attn {

class VectorRecorder;

/// A source sentence that is ready for a model: clean text, and ids within the model's positions.
struct PreparedSentence {
  std::string text;
  std::vector<int> ids;  ///< ends with the end symbol; empty if the text has no tokens
  std::size_t invalid_bytes = 0;
  std::size_t controls = 0;
  std::size_t unknown = 0;           ///< tokens that became <unk>
  std::string first_unknown_token;   ///< its text; empty if there is none
  std::size_t truncated_tokens = 0;  ///< tokens beyond the model's positions, which are dropped
  bool empty() const { return ids.size() <= 1; }
};

struct Translation {
  std::string text;
  std::vector<int> ids;
  float score = 0;
};

/// The contents of a record besides the maps.
struct RecordDetail {
  bool vectors = false;      ///< queries, keys and values of each head, and the residual stream
  bool search_tree = false;  ///< the candidates of each search step, with their maps
  int alternatives = 0;      ///< how many of the likeliest tokens of each step
};

/// Time in milliseconds that the parts of searches and records took, and how many tokens were
/// searched.
struct TranslationTimings {
  double encoder = 0;  ///< only of records; translate() encodes within its search
  double search = 0;
  double maps = 0;  ///< teacher-forced decoder passes that record maps
  std::size_t source_tokens = 0, target_tokens = 0;  ///< of sources and of their best translations
};

/// Changes that an experiment makes to the model.
struct ModelChanges {
  std::vector<AblatedHead> without;
  std::vector<ForcedWeight> forced;
};

/// The settings of a translation: everything in a request except its sentences.
struct TranslationSettings {
  DecodeConfig decode = {};
  LanguageChoice languages = {};  ///< of sources and of given translations
  /// Put before each source text, unless the text is empty or already begins with it.
  std::string prefix = {};

  /// Terms that translations must contain (translate/terms.h), and the function that is told of a
  /// term that a translation lacks. Sentences with a term are searched with more beams, and not by
  /// `searcher`.
  std::vector<Term> terms = {};
  std::function<void(const std::string& sentence, const std::string& note)> term_note = nullptr;

  // All pointers below are optional and must outlive the calls that they are given to.

  /// Runs the searches, for example in batches with those of other requests. Searches with an
  /// observer, with changes or for a search tree run on their own.
  Searcher* searcher = nullptr;
  std::uint64_t client = 0;  ///< SearchContext::client
  /// Another thread sets it to end the call with SearchStopped.
  const std::atomic<bool>* stop = nullptr;
  /// Sees each head, after any changes, and may change its weights: in the first model of an
  /// ensemble while searching, and in the model whose maps are recorded while recording.
  AttentionObserver* observer = nullptr;
  TranslationTimings* timings = nullptr;  ///< each call adds its times here
};

/// Sentences to translate.
struct TranslateRequest {
  std::span<const PreparedSentence> sentences;
  const TranslationSettings& settings;
  std::size_t max_active = 0;  ///< SearchContext::max_active
};

/// Sentences to record, and which hypotheses a record gets: first those that the search finds, then
/// `target`.
struct RecordRequest {
  std::span<const PreparedSentence> sentences;
  const TranslationSettings& settings;
  RecordDetail detail = {};
  bool search = true;
  /// Ids of a given translation, to be scored with teacher forcing by the model whose maps are
  /// recorded. Ids instead of text, because a search may segment a text differently from the
  /// tokenizer.
  std::optional<std::vector<int>> target = std::nullopt;
  /// Searches and scores with these changes to the model whose maps are recorded; no sentence may
  /// be empty, and no search tree is recorded. May be null.
  const ModelChanges* changes = nullptr;
};

/// Translates and records with one or more models. It holds no settings and no state of a request,
/// so that any number of threads may share it.
class Translator {
 public:
  /// Models and tokenizer must outlive the translator. With several models, records hold the maps
  /// and log-probabilities of model `maps_of`, counted from 0; scores are the ensemble's. Throws
  /// InputError if the vocabularies do not fit. Records describe the model by its config.
  Translator(const Ensemble& models, const Tokenizer& tokenizer, std::size_t maps_of = 0);
  /// Like the above, but records describe the model by `summary`.
  Translator(const Ensemble& models, const Tokenizer& tokenizer, ModelSummary summary,
             std::size_t maps_of = 0);

  /// Cleans and tokenizes a source text. Accepts any bytes: replaces invalid UTF-8 and control
  /// characters, and cuts text beyond 64 KiB or beyond the model's positions. The counts in the
  /// result tell how much.
  PreparedSentence prepare(std::string_view bytes, const TranslationSettings& settings) const;

  /// Cleans and tokenizes a given translation, for RecordRequest::target.
  std::vector<int> target_ids(std::string_view text, const TranslationSettings& settings) const;
  /// Throws InputError if a target has more tokens than the model has positions.
  void check_target(const std::vector<int>& target) const;

  /// Returns the translations of each sentence, best first. An empty sentence has one empty
  /// translation.
  std::vector<std::vector<Translation>> translate(const TranslateRequest& request) const;

  /// Returns a record for each sentence; each of its hypotheses is run once more with teacher
  /// forcing to record the maps. An empty sentence has one empty hypothesis. Throws InputError if
  /// the target has more tokens than the model has positions, and UsageError, naming the weight
  /// ("cross:2:2:9=4"), if a forced weight has a query or key that the record does not have.
  std::vector<AttentionRecord> record(const RecordRequest& request) const;

  /// The model's description in every record.
  const ModelSummary& summary() const { return summary_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

  /// Returns the length, in tokens, of the longest sentence that prepare() does not cut: the fewest
  /// positions of any model.
  std::size_t max_source_tokens() const { return to_size(models_.max_positions()); }

  /// Returns the length, in tokens, of the longest translation that a search may find for a source
  /// of `source_tokens` tokens.
  std::size_t max_target_tokens(const DecodeConfig& decode, std::size_t source_tokens) const {
    return to_size(max_generated_tokens(decode, models_, to_index(source_tokens)));
  }

 private:
  /// A record whose source is encoded and whose hypotheses are still to come.
  struct PendingRecord {
    AttentionRecord record;
    EncodedSource encoded;
  };

  DecodeConfig searchable(const DecodeConfig& decode) const;
  std::vector<SentenceTerms> terms_of(std::span<const PreparedSentence> sentences,
                                      const TranslationSettings& settings) const;
  // The functions for terms are in translator_terms.cpp.
  void note_missing(const SentenceTerms& terms, const PreparedSentence& sentence,
                    const std::vector<SearchHypothesis>& found,
                    const TranslationSettings& settings) const;
  SearchResults search_with_terms(std::span<const PreparedSentence> sentences,
                                  const std::vector<SentenceTerms>& terms,
                                  const TranslationSettings& settings,
                                  const SearchContext& context) const;
  SearchResults search_batch(std::span<const PreparedSentence> sentences,
                             const TranslationSettings& settings, SearchContext context = {}) const;
  SearchResults search_with_changes(const RecordRequest& request, const PreparedSentence& sentence,
                                    const EncodedSource& encoded) const;
  SearchTree record_search_tree(const PreparedSentence& sentence, const EncodedSource& encoded,
                                const TranslationSettings& settings) const;
  PendingRecord encode_for_record(const RecordRequest& request,
                                  const PreparedSentence& sentence) const;
  AttentionRecord finish_record(const RecordRequest& request, PendingRecord pending,
                                const PreparedSentence& sentence,
                                const std::vector<SearchHypothesis>& found) const;
  HypothesisRecord teacher_force(const RecordRequest& request, const EncodedSource& encoded,
                                 std::vector<int> ids) const;
  std::vector<ResidualStreamState> residual_stream_of(const StackParameters& stack,
                                                      std::span<const int> ids,
                                                      VectorRecorder& recorder) const;
  /// Returns the text of a target token, or "<row 8003>" for an embedding row without a token.
  std::string token_name(int id) const;

  Ensemble models_;
  const Transformer& model_;  ///< the model whose maps are recorded
  const Tokenizer& tokenizer_;
  ModelSummary summary_;
};

/// Describes a config for records; name, weights and seed are left to the caller.
ModelSummary summarise(const ModelConfig& config);

}  // namespace attn
