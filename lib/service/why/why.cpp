#include "service/why/why.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "record/words.h"
#include "service/field_text.h"
#include "service/why/measured_maps.h"
#include "why/word_receipts.h"

namespace attn {
namespace {

/// Returns a token without its word-boundary character, unless it is nothing else.
std::string token_text(const std::string& token) {
  constexpr std::string_view mark = "▁";
  const bool marked = token.starts_with(mark) && token.size() > mark.size();
  return marked ? token.substr(mark.size()) : token;
}

/// Returns one word per token.
std::vector<Word> tokens_as_words(const std::vector<std::string>& tokens,
                                  const std::vector<Word>& words) {
  std::vector<Word> single;
  for (const Word& word : words) {
    for (int t = word.first; t < word.first + word.count; ++t) {
      single.push_back({token_text(at(tokens, t)), t, 1, word.type, word.text_index});
    }
  }
  return single;
}

/// Groups both sides into words or tokens.
WhyUnits units_of(const AttentionRecord& record, bool by_tokens) {
  RecordWords words = words_in_record(record, 0);
  WhyUnits units{std::move(words.source), std::move(words.target), {}, -1};
  if (by_tokens) {
    units.source = tokens_as_words(record.source.tokens, units.source);
    units.target = tokens_as_words(record.hypotheses.front().produced.tokens, units.target);
  }
  return units;
}

/// Returns the word that a user named by its text or by the number of one of its tokens.
Word find_word(const std::string& named, const std::vector<Word>& words) {
  const int token = find_token(named, {"translation", words});
  for (const Word& word : words) {
    if (word.first <= token && token < word.first + word.count) return word;
  }
  throw UsageError("{}: the translation has tokens 0 to {}", excerpt(named),
                   words.empty() ? 0 : words.back().first + words.back().count - 1);
}

/// A foil in place of a word, as tokens.
struct FoilRequest {
  const WhyContext& context;
  const std::vector<int>& written;
  const Word& word;
  const std::string& text;
};

/// Returns the ids of the foil's text. It is tokenized after the words before it, so that it gets
/// the same tokens as in a whole translation. If that would change the tokens of those words, it
/// is tokenized on its own.
std::vector<int> foil_ids(const FoilRequest& foil) {
  const Translator& translator = foil.context.translator;
  const TranslationSettings& settings = foil.context.settings;
  const Tokenizer& tokenizer = translator.tokenizer();
  const std::vector<int> before(foil.written.begin(), foil.written.begin() + foil.word.first);
  const std::string text_before = tokenizer.decode_target(before);
  const std::string first = tokenizer.target_token(at(foil.written, foil.word.first));
  const SpecialTokens& special = tokenizer.special_tokens();
  for (const int id : {special.eos, special.pad}) {
    if (foil.text == tokenizer.target_token(id)) return {id};
  }
  const bool spaced = first.starts_with("▁") && !text_before.empty();
  std::vector<int> ids =
      translator.target_ids(text_before + (spaced ? " " : "") + foil.text, settings);
  const bool same =
      ids.size() >= before.size() && std::equal(before.begin(), before.end(), ids.begin());
  if (same) {
    ids.erase(ids.begin(), ids.begin() + std::ssize(before));
  } else {
    ids = translator.target_ids(foil.text, settings);
  }
  while (!ids.empty() && ids.back() == special.eos) ids.pop_back();
  return ids;
}

/// The first step at which the translation and the one with the foil differ.
struct FoilStep {
  int step = -1;
  int id = 0;
};

FoilStep first_difference(const FoilRequest& foil) {
  const std::vector<int> ids = foil_ids(foil);
  const int unk = foil.context.translator.tokenizer().special_tokens().unk;
  if (std::ranges::find(ids, unk) != ids.end()) {
    throw UsageError("{}: the target vocabulary has no tokens for it; give another word",
                     excerpt(foil.text));
  }
  std::vector<int> other(foil.written.begin(), foil.written.begin() + foil.word.first);
  other.insert(other.end(), ids.begin(), ids.end());
  other.insert(other.end(), foil.written.begin() + foil.word.first + foil.word.count,
               foil.written.end());
  const auto [here, there] =
      std::mismatch(foil.written.begin(), foil.written.end(), other.begin(), other.end());
  if (ids.empty() || here == foil.written.end() || there == other.end()) {
    throw UsageError("{}: the translation has this word already; give another one",
                     excerpt(foil.text));
  }
  return {to_int(here - foil.written.begin()), *there};
}

/// Splits a text at spaces.
std::vector<std::string> spaced_words(const std::string& text) {
  std::vector<std::string> words;
  for (int i = 0; i < count_text_words(text); ++i) words.push_back(text_word(text, i));
  return words;
}

/// A written word, and the word that it is compared with.
struct WordAndFoil {
  std::string word;
  std::string foil;
};

/// Returns the only word in which `instead` differs from the translation.
WordAndFoil only_difference(const std::string& instead, const std::string& translation) {
  const std::vector<std::string> given = spaced_words(instead), written = spaced_words(translation);
  if (given == written) {
    throw UsageError("{}: this is the translation itself; change one word of it", excerpt(instead));
  }
  std::vector<WordAndFoil> different;
  for (std::size_t i = 0; i < written.size() && given.size() == written.size(); ++i) {
    if (given[i] != written[i]) {
      different.push_back({strip_punctuation(written[i]), strip_punctuation(given[i])});
    }
  }
  if (different.size() == 1) return different.front();
  throw FieldError<UsageError>(FieldText(
      fmt::format("{}: {} the translation “{}”; add ", excerpt(instead),
                  different.empty() ? "it has another number of words than"
                                    : fmt::format("{} of its words differ from", different.size()),
                  excerpt(translation)),
      Field{"word"}, " to say which word it replaces"));
}

/// Sets the words that get a receipt and the foils of their steps.
std::vector<int> choose_words(const WhyContext& context, const HypothesisRecord& hypothesis,
                              const WhyQuestion& question, WhyUnits& units) {
  std::vector<int> foils(hypothesis.produced.ids.size(), -1);
  WordAndFoil chosen{question.word, question.instead};
  if (chosen.word.empty() && !chosen.foil.empty()) {
    chosen = for_field("instead", [&] { return only_difference(chosen.foil, hypothesis.text); });
  }
  if (chosen.word.empty()) {
    for (const Word& word : units.target) {
      const bool shown = question.by_tokens || word.type != WordType::special;
      if (shown) units.shown.push_back(word);
    }
    if (units.shown.empty()) units.shown = units.target;  // the translation is only </s>
    return foils;
  }
  units.shown = {for_field("word", [&] { return find_word(chosen.word, units.target); })};
  if (chosen.foil.empty()) return foils;
  const FoilStep foil = for_field("instead", [&] {
    return first_difference({context, hypothesis.produced.ids, units.shown.front(), chosen.foil});
  });
  units.foil_step = foil.step;
  at(foils, foil.step) = foil.id;
  return foils;
}

/// Occludes the words or tokens of the source, and adds the resulting decreases to each shown
/// word. `tokens` has those of single tokens already.
void add_occlusion(const WhyContext& context, const WhyRequest& request, const WhyUnits& units,
                   const Occlusion& tokens, WordReceipts& words) {
  std::vector<OccludedSpan> several;  // words of several tokens
  std::vector<Word> occluded;
  for (const Word& word : units.source) {
    if (word.type == WordType::special) continue;
    occluded.push_back(word);
    if (word.count > 1) several.push_back({word.first, word.count});
  }
  Occlusion spans;
  if (!several.empty()) spans = occlude(context.model, request.trace, several, request.unk);
  for (WordReceipt& receipt : words.words) {
    Index span = 0;
    for (const Word& word : occluded) {
      const Occlusion& falls = word.count > 1 ? spans : tokens;
      const Index n = word.count > 1 ? span++ : word.first;
      OcclusionEntry entry{word.text, 0, 0};
      for (int t = receipt.word.first; t < receipt.word.first + receipt.word.count; ++t) {
        entry.drop += falls.drop(t, n);
        entry.unk += falls.unk(t, n);
      }
      receipt.occlusion.push_back(std::move(entry));
    }
  }
}

/// A translation, and the values of its forward pass.
struct TracedTranslation {
  AttentionRecord record;
  Trace trace;
};

/// Records the translation in one teacher-forced pass, which the trace observes as well.
TracedTranslation trace_record(const WhyContext& context, const PreparedSentence& sentence,
                               std::vector<int> target) {
  TraceRecorder recorder;
  TranslationSettings settings = context.settings;
  settings.observer = &recorder;
  RecordRequest request{{&sentence, 1}, settings};
  request.search = false;
  request.target = std::move(target);
  TracedTranslation traced{std::move(context.translator.record(request).front()), {}};
  const HypothesisRecord& hypothesis = traced.record.hypotheses.front();
  traced.trace = {sentence.ids, hypothesis.decoder_input.ids, hypothesis.produced.ids,
                  recorder.take_encoder(), recorder.take_decoder()};
  return traced;
}

/// Returns the settings without embedding rows that have no token.
DecodeConfig lens_settings(const WhyContext& context) {
  DecodeConfig decode = context.settings.decode;
  const int named = context.translator.tokenizer().target_vocab_size();
  for (int id = named; id < context.model.config().decoder_vocab_size; ++id) {
    decode.bad_words_ids.push_back({id});
  }
  return decode;
}

/// Returns the step that patching compares: that of the foil or of the given word; −1 if none was
/// given.
int patch_step(const WhyQuestion& question, const WhyUnits& units) {
  if (units.foil_step >= 0) return units.foil_step;
  return question.word.empty() ? -1 : units.shown.front().first;
}

/// Checks the memory that an answer needs, if that is much, before computing it.
void check_memory(const WhyContext& context, std::uint64_t bytes, std::size_t steps) {
  const std::string what = fmt::format("explaining {} written tokens", steps);
  require_memory(bytes, what);
  constexpr std::uint64_t kMegabyte = 1'000'000, kMuch = 200 * kMegabyte;
  if (bytes >= kMuch && context.say) {
    context.say(fmt::format("{} takes up to {} MB", what, bytes / kMegabyte));
  }
}

/// Reports tokens of a given text that the vocabulary does not have.
void report_unknown(const WhyContext& context, std::string_view name, const std::vector<int>& ids) {
  const auto unknown = std::ranges::count(ids, context.translator.tokenizer().special_tokens().unk);
  if (unknown == 0 || !context.say) return;
  context.say(fmt::format("{} has {} that the vocabulary does not have (<unk>)", name,
                          unknown == 1 ? "a token" : fmt::format("{} tokens", unknown)));
}

/// Leaves out what this model does not have, if all methods were requested.
void leave_out(const WhyContext& context, const Trace& trace, WhyMethods& methods) {
  if (!methods.all || !methods.contributions) return;
  const std::string obstacle = contributions_obstacle(context.model, trace);
  if (obstacle.empty()) return;
  methods.contributions = false;
  if (context.say) context.say(fmt::format("contributions are left out: {}", obstacle));
}

/// Reports integrated gradients that do not add up as well as intended.
void report_gap(const WhyContext& context, const Why& why) {
  if (!why.integrated || !context.say) return;
  const IntegrationOptions options;
  double largest = 0;
  for (const IntegratedGradients* each : {&why.integrated->log_prob, &why.integrated->contrast}) {
    for (std::size_t n = 0; n < each->steps.size(); ++n) {
      largest = std::max(largest, each->gap(n));
    }
  }
  if (!(largest > options.max_gap)) return;
  context.say(fmt::format("integrated gradients with {} points leave up to {:.1f} % unexplained",
                          options.max_steps, 100 * largest));
}

}  // namespace

WhyAnswer answer_why(const WhyContext& context, const PreparedSentence& sentence,
                     const WhyQuestion& question) {
  const auto& [translator, model, settings, say, gradients] = context;
  if (sentence.empty()) {
    throw InputError("the sentence has no tokens, so nothing was written; give some text");
  }
  if (question.methods.patch && question.corrupt.empty()) {
    throw FieldError<UsageError>(FieldText(Field{"methods"}, " patch needs ", Field{"corrupt"},
                                           ", the source with some of its words swapped"));
  }
  std::vector<int> target =
      question.target ? translator.target_ids(*question.target, settings)
                      : translator.translate({{&sentence, 1}, settings}).front().front().ids;
  const std::size_t steps = target.size();
  translator.check_target(target);
  if (question.target) report_unknown(context, "the given translation", target);
  WhyMethods methods = question.methods;
  methods.receipt = true;
  check_memory(context, answer_bytes(model.config(), methods, sentence.ids.size(), steps), steps);
  TracedTranslation traced = trace_record(context, sentence, std::move(target));
  const auto& [record, trace] = traced;
  const HypothesisRecord& hypothesis = record.hypotheses.front();
  WhyUnits units = units_of(record, question.by_tokens);
  const Tokenizer& tokenizer = translator.tokenizer();
  leave_out(context, trace, methods);
  methods.patch = !question.corrupt.empty();
  PreparedSentence corrupt;
  if (methods.patch) {
    corrupt = translator.prepare(question.corrupt, settings);
    report_unknown(context, "the corrupted source", corrupt.ids);
  }
  const WhyRequest request{
      .trace = trace,
      .methods = methods,
      .foils = choose_words(context, hypothesis, question, units),
      .named_tokens = tokenizer.target_vocab_size(),
      .gradients = gradients,
      .unk = tokenizer.special_tokens().unk,
      .decode = lens_settings(context),
      .corrupt = corrupt.ids,
      .patch_step = patch_step(question, units),
      .source_token = [&](int id) { return tokenizer.source_token(id); },
      .target_token =
          [&](int id) {
            return id < tokenizer.target_vocab_size() ? tokenizer.target_token(id)
                                                      : fmt::format("<row {}>", id);
          },
      .target_text = [&](const std::vector<int>& ids) { return tokenizer.decode_target(ids); }};
  WhyAnswer answer{explain_words(model, request), {}, {}};
  report_gap(context, answer.why);
  if (answer.why.patching) {
    answer.why.patching->corrupt_target =
        translator.translate({{&corrupt, 1}, settings}).front().front().ids;
  }
  answer.why.model = record.model;
  answer.why.source_text = record.source_text;
  answer.words = word_receipts(answer.why, units);
  if (methods.occlusion) {
    add_occlusion(context, request, units, *answer.why.occlusion, answer.words);
  }
  if (question.page) {
    WordReceipts& receipts = traced.record.hypotheses.front().receipts.emplace(answer.words);
    add_measured_maps(model, trace, *answer.why.receipt, receipts);
  }
  answer.record = std::move(traced.record);
  return answer;
}

std::string add_receipts(const WhyContext& context, AttentionRecord& record, ReceiptDetail detail) {
  const int named = context.translator.tokenizer().target_vocab_size();
  const std::size_t count = detail.all ? record.hypotheses.size() : 1;
  for (std::size_t i = 0; i < std::min(count, record.hypotheses.size()); ++i) {
    HypothesisRecord& hypothesis = record.hypotheses[i];
    if (hypothesis.produced.ids.empty() || record.source.ids.empty()) continue;
    const RecordWords words = words_in_record(record, i);
    WhyUnits units{words.source, words.target, {}, -1};
    std::ranges::copy_if(words.target, std::back_inserter(units.shown),
                         [](const Word& word) { return word.type != WordType::special; });
    try {
      const Trace trace = trace_translation(context.model, record.source.ids,
                                            hypothesis.decoder_input.ids, hypothesis.produced.ids);
      WhyRequest request{.trace = trace, .methods = {.receipt = true}, .named_tokens = named};
      request.target_token = [&](int id) {
        return id < named ? context.translator.tokenizer().target_token(id) : std::string();
      };
      const Why why = explain_words(context.model, request);
      hypothesis.receipts = word_receipts(why, units);
      if (detail.maps && !hypothesis.cross.sparse() && !record.encoder_self.sparse()) {
        add_measured_maps(context.model, trace, *why.receipt, *hypothesis.receipts);
      }
    } catch (const InputError& error) {
      return error.what();  // some patterns have no exact receipt
    }
  }
  return "";
}

std::uint64_t answer_bytes(const ModelConfig& config, const WhyMethods& methods,
                           std::size_t source_tokens, std::size_t steps) {
  const std::uint64_t trace = trace_bytes(config, source_tokens, steps);
  const std::uint64_t all = why_bytes(config, methods, source_tokens, steps);
  const std::uint64_t working =
      checked_add(trace, gradient_bytes(config, methods, source_tokens, steps)).value_or(all);
  // The record's maps are no larger than the trace. As text, a number takes three times its bytes.
  const auto results = checked_multiply(all - std::min(working, all), 4);
  const auto bytes = results ? checked_add(*results, working) : std::nullopt;
  const auto sum = bytes ? checked_add(*bytes, trace) : std::nullopt;
  return sum.value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace attn
