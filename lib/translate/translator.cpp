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
#include "translate/search/search_tree.h"

namespace attn {
namespace {

/// Longer text never reaches the tokenizer, except for models with many positions.
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kBytesOfPosition = 64;

void check_vocabulary(const char* side, int tokens, int embedding) {
  if (tokens <= embedding) return;
  throw InputError(
      "the {} vocabulary holds {} tokens, and the model's embedding {}; the tokenizer and the "
      "weights belong to different models",
      side, tokens, embedding);
}

/// Returns the text of the first unknown piece; if the tokenizer only says "<unk>", the first
/// unknown character.
std::string name_unknown(const Tokenizer& tokenizer, const PreparedSentence& sentence,
                         const EncodedText& encoded) {
  const int unk = tokenizer.special_tokens().unk;
  const auto position = to_size(std::ranges::find(sentence.ids, unk) - sentence.ids.begin());
  const std::string piece = position < encoded.pieces.size() ? encoded.pieces[position] : "";
  if (!piece.empty() && piece != tokenizer.source_token(unk)) return piece;
  const std::string_view text = sentence.text;
  for (std::size_t i = 0, end = 1; i < text.size(); i = end, end = i + 1) {
    while (end < text.size() && is_continuation_byte(text[end])) ++end;
    const std::string_view character = text.substr(i, end - i);
    if (tokenizer.encode_source(character).unknown > 0) return std::string(character);
  }
  return piece;
}

PackedTokens pack_one(std::span<const int> ids) {
  PackedTokens packed;
  packed.add(ids);
  return packed;
}

/// Calls `run` with an observer that applies the changes, then calls `observer`, then `recorder`,
/// so that the recorder sees the weights that the model continues with.
template <typename Action>
void with_changes(const ModelChanges* changes, AttentionObserver* observer,
                  AttentionObserver& recorder, Action&& run) {
  ObserverPair both(observer, recorder);
  if (changes == nullptr) return run(both);
  Intervention intervention(changes->without, changes->forced, &both);
  run(intervention);
}

/// Throws UsageError if a forced weight has a query or key that the record does not have: nothing
/// would be changed, which would look like a change without effect.
void check_forced_weights(const std::vector<ForcedWeight>& forced, const AttentionRecord& record) {
  for (const ForcedWeight& f : forced) {
    const bool encoder = f.site == AttentionSite::encoder_self;
    std::size_t queries = encoder ? record.source.ids.size() : 0;
    if (!encoder) {
      for (const HypothesisRecord& h : record.hypotheses) {
        queries = std::max(queries, h.decoder_input.ids.size());
      }
    }
    const std::size_t keys = f.site == AttentionSite::decoder_self ? queries
                             : encoder ? to_size(record.encoder_self.keys)
                                       : record.source.ids.size();
    const bool future = f.site == AttentionSite::decoder_self && f.key > f.query;
    const std::string name =
        fmt::format("{}:{}:{}:{}={}", site_key(f.site), f.layer, f.head, f.query, f.key);
    if (f.query < 0 || to_size(f.query) >= queries) {
      throw UsageError("{}: no query {}: the sentence has queries 0 to {}", name, f.query,
                       queries - 1);
    }
    if (f.key < 0 || to_size(f.key) >= keys) {
      throw UsageError("{}: no key {}: the sentence has keys 0 to {}", name, f.key, keys - 1);
    }
    if (future) {
      throw UsageError("{}: query {} of the decoder cannot look at key {}, which comes later", name,
                       f.query, f.key);
    }
  }
}

/// Returns the score that a search would give to this hypothesis.
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
  s.alignment_heads = config.alignment_heads;
  if (config.scale_attention) {
    s.encoder_scale = 1.0F / std::sqrt(static_cast<float>(config.encoder_head_dim()));
    s.decoder_scale = 1.0F / std::sqrt(static_cast<float>(config.decoder_head_dim()));
  }
  return s;
}

Translator::Translator(const Ensemble& models, const Tokenizer& tokenizer, std::size_t maps_of)
    : Translator(models, tokenizer, summarise(at(models.models(), maps_of)->config()), maps_of) {}

Translator::Translator(const Ensemble& models, const Tokenizer& tokenizer, ModelSummary summary,
                       std::size_t maps_of)
    : models_(models),
      model_(*at(models.models(), maps_of)),
      tokenizer_(tokenizer),
      summary_(std::move(summary)) {
  check_vocabulary("source", tokenizer.source_ids_in_use(), models.config().vocab_size);
  check_vocabulary("target", tokenizer.target_ids_in_use(), models.config().decoder_vocab_size);
}

std::string Translator::token_name(int id) const {
  const bool named = id < tokenizer_.target_vocab_size();
  return named ? tokenizer_.target_token(id) : fmt::format("<row {}>", id);
}

PreparedSentence Translator::prepare(std::string_view bytes,
                                     const TranslationSettings& settings) const {
  PreparedSentence sentence;
  std::string with_prefix;
  const bool blank = bytes.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
  if (!settings.prefix.empty() && !blank && !bytes.starts_with(settings.prefix)) {
    bytes = with_prefix = settings.prefix + std::string(bytes);
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
  EncodedText encoded = tokenizer_.encode_source(sentence.text, settings.languages.source);
  sentence.ids = std::move(encoded.ids);
  // A text without tokens still gets language tokens.
  if (!tokenizer_.languages().tokens.empty() &&
      sentence.ids.size() <= tokenizer_.encode_source("", settings.languages.source).ids.size()) {
    sentence.ids = {tokenizer_.special_tokens().eos};
  }
  sentence.unknown = encoded.unknown;
  if (sentence.unknown > 0)
    sentence.first_unknown_token = name_unknown(tokenizer_, sentence, encoded);
  const std::size_t most = max_source_tokens();
  if (sentence.ids.size() > most) {
    sentence.truncated_tokens = sentence.ids.size() - most;
    const std::size_t text = most - std::min(most, encoded.suffix_length);
    sentence.ids.erase(sentence.ids.begin() + to_index(text),
                       sentence.ids.end() - to_index(most - text));
  }
  if (cut_bytes > 0) sentence.truncated_tokens += cut_bytes;  // at most one token per byte
  return sentence;
}

std::vector<int> Translator::target_ids(std::string_view text,
                                        const TranslationSettings& settings) const {
  return tokenizer_.encode_target(clean_text(text).text, settings.languages.target).ids;
}

/// Returns the search settings, with the embedding rows that have no token forbidden: an embedding
/// may be padded to a multiple of 64, and those rows must not win.
DecodeConfig Translator::searchable(const DecodeConfig& decode) const {
  DecodeConfig config = decode;
  for (int id = tokenizer_.target_vocab_size(); id < models_.config().decoder_vocab_size; ++id) {
    config.bad_words_ids.push_back({id});
  }
  return config;
}

SearchResults Translator::search_batch(std::span<const PreparedSentence> sentences,
                                       const TranslationSettings& settings,
                                       SearchContext context) const {
  const ScopedTimer timed(settings.timings, &TranslationTimings::search);
  PackedTokens source;
  for (const PreparedSentence& sentence : sentences) {
    if (!sentence.empty()) source.add(sentence.ids);
  }
  context.observer = settings.observer;
  context.stop = settings.stop;
  context.client = settings.client;
  const std::vector<SentenceTerms> terms = terms_of(sentences, settings);
  SearchResults found;
  if (!terms.empty()) {
    found = search_with_terms(sentences, terms, settings, context);
  } else {
    const DecodeConfig decode = searchable(settings.decode);
    found = settings.searcher != nullptr && settings.observer == nullptr
                ? settings.searcher->search(source, decode, context)
                : search(models_, source, decode, context);
  }
  SearchResults results;
  auto next = found.begin();
  for (const PreparedSentence& sentence : sentences) {
    results.push_back(sentence.empty() ? std::vector<SearchHypothesis>(1) : std::move(*next++));
    if (settings.timings == nullptr) continue;
    settings.timings->source_tokens += sentence.ids.size();
    settings.timings->target_tokens += results.back().front().ids.size();
  }
  return results;
}

SearchResults Translator::search_with_changes(const RecordRequest& request,
                                              const PreparedSentence& sentence,
                                              const EncodedSource& encoded) const {
  const TranslationSettings& settings = request.settings;
  const ScopedTimer timed(settings.timings, &TranslationTimings::search);
  Intervention intervention(request.changes->without, request.changes->forced, settings.observer);
  const std::vector<SentenceTerms> terms = terms_of({&sentence, 1}, settings);
  const DecodeConfig decode = with_beams_for(searchable(settings.decode), terms);
  return search(model_, pack_one(sentence.ids), decode,
                {.observer = &intervention,
                 .stop = settings.stop,
                 .encoded = settings.observer == nullptr ? &encoded : nullptr,
                 .terms = terms});
}

SearchTree Translator::record_search_tree(const PreparedSentence& sentence,
                                          const EncodedSource& encoded,
                                          const TranslationSettings& settings) const {
  const ScopedTimer timed(settings.timings, &TranslationTimings::search);
  const std::vector<SentenceTerms> terms = terms_of({&sentence, 1}, settings);
  const DecodeConfig decode = with_beams_for(searchable(settings.decode), terms);
  SearchTreeTrace trace(decode);
  search(models_, pack_one(sentence.ids), decode,
         {.trace = &trace, .stop = settings.stop, .encoded = &encoded, .terms = terms});
  SearchTree tree = trace.take();
  complete_tree(tree, decoder_start_token(decode, model_.config()), model_, encoded, tokenizer_);
  return tree;
}

std::vector<std::vector<Translation>> Translator::translate(const TranslateRequest& request) const {
  std::vector<std::vector<Translation>> results;
  for (std::vector<SearchHypothesis>& hypotheses : search_batch(
           request.sentences, request.settings, {.max_active = to_index(request.max_active)})) {
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

Translator::PendingRecord Translator::encode_for_record(const RecordRequest& request,
                                                        const PreparedSentence& sentence) const {
  const TranslationSettings& settings = request.settings;
  const ScopedTimer timed(settings.timings, &TranslationTimings::encoder);
  PendingRecord pending;
  throw_if_stopped(settings.stop);
  AttentionRecord& record = pending.record;
  record.model = summary_;
  if (request.detail.alternatives > 0) {
    const DecodeConfig decode =
        request.search ? with_beams_for(settings.decode, terms_of({&sentence, 1}, settings))
                       : settings.decode;
    record.decoding = Decoding{!request.search, decode.num_beams, decode.length_penalty};
  }
  record.source_text = sentence.text;
  record.source.ids = sentence.ids;
  for (const int id : sentence.ids) record.source.tokens.push_back(tokenizer_.source_token(id));
  VectorRecorder recorder(request.detail.vectors);
  with_changes(request.changes, settings.observer, recorder, [&](AttentionObserver& observer) {
    pending.encoded = model_.encode(pack_one(sentence.ids), &observer);
  });
  record.encoder_self = recorder.take(AttentionSite::encoder_self, 0);
  if (request.detail.vectors) {
    record.encoder_vectors = recorder.take_vectors(AttentionSite::encoder_self);
    record.residual_stream =
        residual_stream_of(model_.parameters().encoder, sentence.ids, recorder);
  }
  return pending;
}

HypothesisRecord Translator::teacher_force(const RecordRequest& request,
                                           const EncodedSource& encoded,
                                           std::vector<int> ids) const {
  const TranslationSettings& settings = request.settings;
  const ScopedTimer timed(settings.timings, &TranslationTimings::maps);
  throw_if_stopped(settings.stop);
  HypothesisRecord record;
  const ModelConfig& config = model_.config();
  if (ids.empty()) {  // the hypothesis of an empty sentence: its maps have no rows
    record.decoder_self = {config.decoder_layers, config.decoder_heads, 0, 0, {}};
    record.cross = record.decoder_self;
    return record;
  }
  record.produced.ids = std::move(ids);
  record.text = tokenizer_.decode_target(record.produced.ids);
  record.decoder_input.ids.push_back(decoder_start_token(settings.decode, config));
  for (std::size_t t = 0; t + 1 < record.produced.ids.size(); ++t) {
    record.decoder_input.ids.push_back(record.produced.ids[t]);
  }
  for (const int id : record.produced.ids) {
    record.produced.tokens.push_back(tokenizer_.target_token(id));
  }
  for (const int id : record.decoder_input.ids) {
    record.decoder_input.tokens.push_back(tokenizer_.target_token(id));
  }
  VectorRecorder recorder(request.detail.vectors);
  Matrix hidden;
  with_changes(request.changes, settings.observer, recorder, [&](AttentionObserver& observer) {
    hidden = model_.decode(pack_one(record.decoder_input.ids), encoded, &observer);
  });
  Matrix logits(hidden.rows(), config.decoder_vocab_size);
  model_.logits(hidden, logits);
  record.log_probs = log_probabilities(logits, record.produced.ids, model_.name());
  if (const int count = request.detail.alternatives; count > 0) {
    Alternatives& others =
        record.alternatives.emplace(likeliest_tokens(logits, record.produced.ids, count));
    for (const int id : others.ids) others.tokens.push_back(token_name(id));
    if (!request.detail.vectors) others.logits.clear();
  }
  record.decoder_self = recorder.take(AttentionSite::decoder_self, 0);
  record.cross = recorder.take(AttentionSite::cross, 0);
  if (request.detail.vectors) {
    record.decoder_self_vectors = recorder.take_vectors(AttentionSite::decoder_self);
    record.cross_vectors = recorder.take_vectors(AttentionSite::cross);
    record.residual_stream =
        residual_stream_of(model_.parameters().decoder, record.decoder_input.ids, recorder);
  }
  return record;
}

AttentionRecord Translator::finish_record(const RecordRequest& request, PendingRecord pending,
                                          const PreparedSentence& sentence,
                                          const std::vector<SearchHypothesis>& found) const {
  AttentionRecord& record = pending.record;
  for (const SearchHypothesis& hypothesis : found) {
    record.hypotheses.push_back(teacher_force(request, pending.encoded, hypothesis.ids));
    record.hypotheses.back().score = hypothesis.score;
  }
  if (request.target) {
    record.hypotheses.push_back(teacher_force(request, pending.encoded, *request.target));
    record.hypotheses.back().score = score_of(record.hypotheses.back(), request.settings.decode);
  }
  if (request.changes != nullptr) {
    check_forced_weights(request.changes->forced, record);
  } else if (request.detail.search_tree && request.search && !sentence.empty()) {
    record.search = record_search_tree(sentence, pending.encoded, request.settings);
  }
  return std::move(record);
}

void Translator::check_target(const std::vector<int>& target) const {
  const int positions = model_.config().decoder_positions();
  if (target.size() <= to_size(positions)) return;
  throw InputError("the target has {} tokens, and the model has {} positions; give a shorter text",
                   target.size(), positions);
}

std::vector<AttentionRecord> Translator::record(const RecordRequest& request) const {
  if (request.target) check_target(*request.target);
  const std::span<const PreparedSentence> sentences = request.sentences;
  const bool one = sentences.size() == 1 && !sentences.front().empty();
  const bool observed = request.settings.observer != nullptr;
  // A single sentence is encoded only once, for its maps and for the search; an observer sees both
  // passes.
  const bool encoded_once = one && !observed;
  SearchResults found(sentences.size());
  if (request.search && request.changes == nullptr && !encoded_once) {
    found = search_batch(sentences, request.settings);
  }
  std::vector<AttentionRecord> records;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    PendingRecord pending = encode_for_record(request, sentences[i]);
    if (request.search && request.changes != nullptr) {
      found[i] = search_with_changes(request, sentences[i], pending.encoded).front();
    } else if (request.search && encoded_once) {
      found = search_batch(sentences, request.settings, {.encoded = &pending.encoded});
    }
    records.push_back(finish_record(request, std::move(pending), sentences[i], found[i]));
  }
  return records;
}

}  // namespace attn
