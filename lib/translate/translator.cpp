#include "translate/translator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/at.h"
#include "base/error.h"
#include "base/scoped_timer.h"
#include "base/strings/utf8.h"
#include "model/layers.h"
#include "translate/recorder.h"
#include "translate/search/search_queue.h"
#include "translate/search/search_tree.h"

namespace attn {
namespace {

/// More text than most models' positions can hold; a tokenizer is never asked to cut more, but for
/// models with many positions.
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kBytesOfPosition = 64;

void check_vocabulary(const char* side, int tokens, int embedding) {
  if (tokens > embedding) {
    throw InputError(
        "the {} vocabulary holds {} pieces, and the model's embedding {}; tokenizer "
        "and weights are not of one model",
        side, tokens, embedding);
  }
}

PackedTokens pack_one(std::span<const int> ids) {
  PackedTokens packed;
  packed.add(ids);
  return packed;
}

/// Runs with the recorder behind the changes and whoever watches, so that it sees what the model
/// went on with.
template <typename Action>
void with_changes(const ModelChanges* changes, AttentionObserver* watcher,
                  AttentionObserver& recorder, Action&& run) {
  ObserverPair both(watcher, recorder);
  if (changes == nullptr) {
    run(both);
    return;
  }
  Intervention intervention(changes->without, changes->forced, &both);
  run(intervention);
}

/// UsageError where a forced weight names a query or key that is not there: nothing would be
/// changed, and that would look like a change without effect.
void check_forced_weights(const std::vector<ForcedWeight>& forced, const AttentionRecord& after,
                          const HypothesisRecord& teacher_forced) {
  for (const ForcedWeight& f : forced) {
    const bool encoder = f.site == AttentionSite::encoder_self;
    std::size_t queries =
        encoder ? after.source.ids.size() : teacher_forced.decoder_input.ids.size();
    if (!encoder) {
      for (const HypothesisRecord& h : after.hypotheses) {
        queries = std::max(queries, h.decoder_input.ids.size());
      }
    }
    const std::size_t keys = f.site == AttentionSite::decoder_self ? queries
                             : encoder ? to_size(after.encoder_self.keys)
                                       : after.source.ids.size();
    const bool future = f.site == AttentionSite::decoder_self && f.key > f.query;
    const std::string name =
        fmt::format("{}:{}:{}:{}={}", site_key(f.site), f.layer, f.head, f.query, f.key);
    if (f.query < 0 || to_size(f.query) >= queries) {
      throw UsageError("{}: query {} is not there; the sentence has queries 0 to {}", name, f.query,
                       queries - 1);
    }
    if (f.key < 0 || to_size(f.key) >= keys) {
      throw UsageError("{}: key {} is not there; the sentence has keys 0 to {}", name, f.key,
                       keys - 1);
    }
    if (future) {
      throw UsageError("{}: query {} of the decoder cannot look at key {}, which comes later", name,
                       f.query, f.key);
    }
  }
}

/// What a search would give a hypothesis that it has not found itself.
float score_of(const HypothesisRecord& hypothesis, const DecodeConfig& decode) {
  const float sum = std::accumulate(hypothesis.log_probs.begin(), hypothesis.log_probs.end(), 0.0F);
  return hypothesis_score(sum, hypothesis.produced.ids.size(), decode.length_penalty);
}

}  // namespace

ModelSummary summarise(const ModelConfig& config) {
  ModelSummary s;
  s.d_model = config.d_model;
  s.head_dim = config.head_dim;
  s.encoder_layers = config.encoder_layers;
  s.decoder_layers = config.decoder_layers;
  s.encoder_heads = config.encoder_heads;
  s.decoder_heads = config.decoder_heads;
  s.encoder_ffn_dim = config.encoder_ffn_dim;
  s.decoder_ffn_dim = config.decoder_ffn_dim;
  s.vocab_size = config.vocab_size;
  s.decoder_vocab_size = config.decoder_vocab_size;
  if (config.scale_attention) {
    s.encoder_scale = 1.0F / std::sqrt(static_cast<float>(config.encoder_head_dim()));
    s.decoder_scale = 1.0F / std::sqrt(static_cast<float>(config.decoder_head_dim()));
  }
  return s;
}

Translator::Translator(const Ensemble& models, const Tokenizer& tokenizer, DecodeConfig decode,
                       std::size_t maps_of)
    : models_(models),
      model_(*at(models.models(), maps_of)),
      tokenizer_(tokenizer),
      decode_(std::move(decode)),
      summary_(summarise(model_.config())) {
  check_vocabulary("source", tokenizer.source_ids_in_use(), models.config().vocab_size);
  check_vocabulary("target", tokenizer.target_ids_in_use(), models.config().decoder_vocab_size);
  // An embedding padded to a multiple of 64: its last rows are nobody's, and must not win.
  for (int id = tokenizer.target_vocab_size(); id < models.config().decoder_vocab_size; ++id) {
    decode_.bad_words_ids.push_back({id});
  }
}

std::string Translator::token_name(int id) const {
  const bool named = id < tokenizer_.target_vocab_size();
  return named ? tokenizer_.target_token(id) : fmt::format("<row {}>", id);
}

PreparedSentence Translator::prepare(std::string_view bytes) const {
  PreparedSentence sentence;
  std::string with_prefix;
  const bool blank = bytes.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
  if (!prefix_.empty() && !blank && !bytes.starts_with(prefix_)) {
    bytes = with_prefix = prefix_ + std::string(bytes);
  }
  std::size_t cut_bytes = 0;
  const std::size_t most_bytes = std::max(kMostBytes, kBytesOfPosition * max_source_tokens());
  if (bytes.size() > most_bytes) {
    std::size_t end = most_bytes;
    while (end > 0 && is_continuation_byte(bytes[end])) --end;
    cut_bytes = bytes.size() - end;
    bytes = bytes.substr(0, end);
  }
  CleanedText cleaned = clean_text(bytes);
  sentence.text = std::move(cleaned.text);
  sentence.invalid_bytes = cleaned.invalid_bytes;
  sentence.controls = cleaned.controls;
  EncodedText encoded = tokenizer_.encode_source(sentence.text, languages_.source);
  sentence.ids = std::move(encoded.ids);
  // Languages stand around a text without any piece, too.
  if (!tokenizer_.languages().tokens.empty() &&
      sentence.ids.size() <= tokenizer_.encode_source("", languages_.source).ids.size()) {
    sentence.ids = {tokenizer_.special_tokens().eos};
  }
  sentence.unknown = encoded.unknown;
  const auto unknown =
      std::find(sentence.ids.begin(), sentence.ids.end(), tokenizer_.special_tokens().unk);
  const auto place = to_size(unknown - sentence.ids.begin());
  if (sentence.unknown > 0 && place < encoded.pieces.size()) {
    sentence.first_unknown_token = encoded.pieces[place];
  }
  const std::size_t most = max_source_tokens();
  if (sentence.ids.size() > most) {
    sentence.truncated_tokens = sentence.ids.size() - most;
    const std::size_t text = most - std::min(most, encoded.suffix_length);
    sentence.ids.erase(sentence.ids.begin() + to_index(text),
                       sentence.ids.end() - to_index(most - text));
  }
  if (cut_bytes > 0) sentence.truncated_tokens += cut_bytes;  // at most one token a byte
  return sentence;
}

std::vector<std::vector<SearchHypothesis>> Translator::find(
    const std::vector<PreparedSentence>& batch, SearchContext watch) const {
  const ScopedTimer timed(times_, &TranslationTimings::search);
  PackedTokens source;
  for (const PreparedSentence& sentence : batch) {
    if (!sentence.empty()) source.add(sentence.ids);
  }
  watch.observer = observer_;
  watch.stop = stop_;
  std::vector<std::vector<SearchHypothesis>> found =
      queue_ != nullptr && observer_ == nullptr
          ? queue_->search(source, decode_, {client_, stop_, watch.encoded, watch.max_active})
          : search(models_, source, decode_, watch);
  std::vector<std::vector<SearchHypothesis>> results;
  auto next = found.begin();
  for (const PreparedSentence& sentence : batch) {
    results.push_back(sentence.empty() ? std::vector<SearchHypothesis>(1) : std::move(*next++));
    if (times_ == nullptr) continue;
    times_->source_tokens += sentence.ids.size();
    times_->target_tokens += results.back().front().ids.size();
  }
  return results;
}

std::vector<std::vector<Translation>> Translator::translate(
    const std::vector<PreparedSentence>& batch, std::size_t max_active) const {
  std::vector<std::vector<Translation>> results;
  for (std::vector<SearchHypothesis>& hypotheses :
       find(batch, {.max_active = to_index(max_active)})) {
    std::vector<Translation>& translations = results.emplace_back();
    for (SearchHypothesis& hypothesis : hypotheses) {
      std::string text = tokenizer_.decode_target(hypothesis.ids);
      translations.push_back({std::move(text), std::move(hypothesis.ids), hypothesis.score});
    }
  }
  return results;
}

std::vector<ResidualStreamState> Translator::residual_stream_of(const StackParameters& stack,
                                                                std::span<const int> ids,
                                                                VectorRecorder& recorder) const {
  std::vector<ResidualStreamState> residual_stream = embedding_steps(stack, model_.config(), ids);
  for (ResidualStreamState& step : recorder.take_residual_stream())
    residual_stream.push_back(std::move(step));
  return residual_stream;
}

Translator::PendingRecord Translator::begin(const PreparedSentence& sentence,
                                            const RecordDetail& detail,
                                            const ModelChanges* changes) const {
  const ScopedTimer timed(times_, &TranslationTimings::encoder);
  PendingRecord session;
  throw_if_stopped(stop_);
  session.detail = detail;
  session.changes = changes;
  AttentionRecord& record = session.record;
  record.model = summary_;
  if (detail.alternatives > 0) {
    record.decoding = Decoding{false, decode_.num_beams, decode_.length_penalty};
  }
  record.source_text = sentence.text;
  record.source.ids = sentence.ids;
  for (const int id : sentence.ids) record.source.tokens.push_back(tokenizer_.source_token(id));
  VectorRecorder recorder(detail.vectors);
  with_changes(changes, observer_, recorder, [&](AttentionObserver& observer) {
    session.encoded = model_.encode(pack_one(sentence.ids), &observer);
  });
  record.encoder_self = recorder.take(AttentionSite::encoder_self, 0);
  if (detail.vectors) {
    record.encoder_vectors = recorder.take_vectors(AttentionSite::encoder_self);
    record.residual_stream =
        residual_stream_of(model_.parameters().encoder, sentence.ids, recorder);
  }
  return session;
}

HypothesisRecord Translator::teacher_force(const PendingRecord& session,
                                           std::vector<int> ids) const {
  const ScopedTimer timed(times_, &TranslationTimings::maps);
  throw_if_stopped(stop_);
  HypothesisRecord record;
  const ModelConfig& config = model_.config();
  if (ids.empty()) {  // the hypothesis of an empty sentence: maps without rows
    record.decoder_self = {config.decoder_layers, config.decoder_heads, 0, 0, {}};
    record.cross = record.decoder_self;
    return record;
  }
  record.produced.ids = std::move(ids);
  record.text = tokenizer_.decode_target(record.produced.ids);
  record.decoder_input.ids.push_back(decoder_start_token(decode_, config));
  for (std::size_t t = 0; t + 1 < record.produced.ids.size(); ++t) {
    record.decoder_input.ids.push_back(record.produced.ids[t]);
  }
  for (const int id : record.produced.ids) {
    record.produced.tokens.push_back(tokenizer_.target_token(id));
  }
  for (const int id : record.decoder_input.ids) {
    record.decoder_input.tokens.push_back(tokenizer_.target_token(id));
  }
  VectorRecorder recorder(session.detail.vectors);
  Matrix hidden;
  with_changes(session.changes, observer_, recorder, [&](AttentionObserver& observer) {
    hidden = model_.decode(pack_one(record.decoder_input.ids), session.encoded, &observer);
  });
  Matrix logits(hidden.rows(), config.decoder_vocab_size);
  model_.logits(hidden, logits);
  record.log_probs = log_probabilities(logits, record.produced.ids, model_.name());
  if (const int count = session.detail.alternatives; count > 0) {
    Alternatives& others =
        record.alternatives.emplace(likeliest_tokens(logits, record.produced.ids, count));
    for (const int id : others.ids) others.tokens.push_back(token_name(id));
    if (!session.detail.vectors) others.logits.clear();
  }
  record.decoder_self = recorder.take(AttentionSite::decoder_self, 0);
  record.cross = recorder.take(AttentionSite::cross, 0);
  if (session.detail.vectors) {
    record.decoder_self_vectors = recorder.take_vectors(AttentionSite::decoder_self);
    record.cross_vectors = recorder.take_vectors(AttentionSite::cross);
    record.residual_stream =
        residual_stream_of(model_.parameters().decoder, record.decoder_input.ids, recorder);
  }
  return record;
}

SearchTree Translator::record_search_tree(const PreparedSentence& sentence,
                                          const EncodedSource& encoded) const {
  const ScopedTimer timed(times_, &TranslationTimings::search);
  SearchTreeTrace trace(decode_);
  search(models_, pack_one(sentence.ids), decode_,
         {.trace = &trace, .stop = stop_, .encoded = &encoded});
  SearchTree tree = trace.take();
  complete_tree(tree, decoder_start_token(decode_, model_.config()), model_, encoded, tokenizer_);
  return tree;
}

void Translator::teacher_force_all(PendingRecord& session,
                                   const std::vector<SearchHypothesis>& found) const {
  for (const SearchHypothesis& hypothesis : found) {
    session.record.hypotheses.push_back(teacher_force(session, hypothesis.ids));
    session.record.hypotheses.back().score = hypothesis.score;
  }
}

std::vector<AttentionRecord> Translator::record(const std::vector<PreparedSentence>& batch,
                                                const RecordDetail& detail) const {
  std::vector<AttentionRecord> records;
  const auto finish = [&](PendingRecord session, const PreparedSentence& sentence,
                          const std::vector<SearchHypothesis>& found) {
    teacher_force_all(session, found);
    if (detail.search_tree && !sentence.empty()) {
      session.record.search = record_search_tree(sentence, session.encoded);
    }
    records.push_back(std::move(session.record));
  };
  // A sentence alone is encoded once, for its maps and for the search; a watcher sees both passes.
  if (batch.size() == 1 && !batch.front().empty() && observer_ == nullptr) {
    PendingRecord session = begin(batch.front(), detail, nullptr);
    const auto found = find(batch, {.encoded = &session.encoded});
    finish(std::move(session), batch.front(), found.front());
    return records;
  }
  const auto found = find(batch);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    finish(begin(batch[i], detail, nullptr), batch[i], found[i]);
  }
  return records;
}

AttentionRecord Translator::record_target(const PreparedSentence& source, std::string_view target,
                                          const RecordDetail& detail) const {
  const EncodedText encoded = tokenizer_.encode_target(clean_text(target).text, languages_.target);
  return record_target_ids(source, encoded.ids, detail);
}

AttentionRecord Translator::record_target_ids(const PreparedSentence& source,
                                              std::vector<int> target,
                                              const RecordDetail& detail) const {
  const int positions = model_.config().decoder_positions();
  if (target.size() > to_size(positions)) {
    throw InputError(
        "the target has {} tokens, and the model has {} positions; give a shorter text",
        target.size(), positions);
  }
  PendingRecord session = begin(source, detail, nullptr);
  if (session.record.decoding) session.record.decoding->given = true;
  HypothesisRecord hypothesis = teacher_force(session, std::move(target));
  hypothesis.score = score_of(hypothesis, decode_);
  session.record.hypotheses.push_back(std::move(hypothesis));
  return std::move(session.record);
}

WhatIfRecord Translator::what_if(AttentionRecord before, const PreparedSentence& after,
                                 const ModelChanges& changes, const RecordDetail& detail) const {
  if (after.empty() || before.hypotheses.empty()) {
    throw InputError("the sentence has no tokens; there is nothing to try");
  }
  WhatIfRecord result;
  result.before = std::move(before);
  PendingRecord session = begin(after, detail, &changes);
  Intervention intervention(changes.without, changes.forced, observer_);
  const SearchResults found = [&] {
    const ScopedTimer timed(times_, &TranslationTimings::search);
    return search(model_, pack_one(after.ids), decode_,
                  {.observer = &intervention,
                   .stop = stop_,
                   .encoded = observer_ == nullptr ? &session.encoded : nullptr});
  }();
  teacher_force_all(session, found.front());
  result.teacher_forced = teacher_force(session, result.before.hypotheses.front().produced.ids);
  result.teacher_forced.score = score_of(result.teacher_forced, decode_);
  check_forced_weights(changes.forced, session.record, result.teacher_forced);
  result.after = std::move(session.record);
  return result;
}

}  // namespace attn
