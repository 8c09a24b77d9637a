#include "service/search_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "compute/threads.h"
#include "service/field_text.h"
#include "service/model/languages.h"
#include "service/term_list.h"
#include "translate/ensemble.h"

namespace attn {

const char* to_string(EarlyStopping rule) {
  switch (rule) {
    case EarlyStopping::no:
      break;
    case EarlyStopping::yes:
      return "true";
    case EarlyStopping::never:
      return "never";
  }
  return "false";
}

Splitting splitting_of(const SearchOptions& given) {
  if (given.document && given.split != "auto") {
    refuse_field(Field{"document"}, " cannot be combined with ", Field{"split"}, " " + given.split);
  }
  if (given.document) return Splitting::document;
  if (given.split == "never") return Splitting::never;
  return given.split == "sentences" ? Splitting::sentences : Splitting::automatic;
}

void use_threads(std::optional<int> asked) {
  set_threads(asked ? checked_whole(whole_field(search_option("threads")), *asked)
                    : std::min(available_cores(), 4));
}

namespace {

constexpr std::size_t kMostForbidden = 100'000;  ///< sequences of tokens for all words together

/// Returns the text that each target token adds inside a sentence: " Haus" of "▁Haus".
std::vector<std::string> texts_of_tokens(const Tokenizer& tokenizer) {
  const int size = tokenizer.target_vocab_size();
  const EncodedText letter = tokenizer.encode_target("a");
  const int before = letter.ids.at(letter.ids.size() - letter.suffix_length - 1);
  const std::string start = tokenizer.decode_target({before});
  const std::string end = tokenizer.decode_target({before, before}).substr(start.size());
  std::vector<std::string> texts(to_size(size));
  for (int id = 0; id < size; ++id) {
    // Between two letters, since spaces at the ends of a text are dropped.
    const std::string whole = tokenizer.decode_target({before, id, before});
    if (whole.size() < start.size() + end.size() || !whole.starts_with(start)) continue;
    texts[to_size(id)] = whole.substr(start.size(), whole.size() - start.size() - end.size());
  }
  return texts;
}

bool ends_in_letter(const std::string& text) {
  const auto last = static_cast<unsigned char>(text.back());
  return last >= 0x80 || std::isalnum(last) != 0;
}

/// Finds every way to spell a text with tokens.
class Spellings {
 public:
  Spellings(const std::vector<std::string>& texts, const std::string& text) : text_(text) {
    for (std::size_t id = 0; id < texts.size(); ++id) {
      const std::string& token = texts[id];
      if (!token.empty() && text.find(token) != text.npos) tokens_.emplace_back(token, to_int(id));
    }
  }

  /// Appends each way, after the tokens of `before`, to `ids`. Throws UsageError beyond
  /// kMostForbidden.
  void append(std::vector<int> before, std::vector<std::vector<int>>& ids) const {
    extend(std::move(before), 0, ids);
  }

 private:
  void extend(std::vector<int> so_far, std::size_t at, std::vector<std::vector<int>>& ids) const {
    if (at == text_.size()) {
      if (ids.size() == kMostForbidden) {
        refuse_field(Field{"forbid"}, " asks for more than ", std::to_string(kMostForbidden),
                     " sequences of tokens; give fewer or shorter words");
      }
      ids.push_back(std::move(so_far));
      return;
    }
    for (const auto& [token, id] : tokens_) {
      if (text_.compare(at, token.size(), token) != 0) continue;
      std::vector<int> longer = so_far;
      longer.push_back(id);
      extend(std::move(longer), at + token.size(), ids);
    }
  }

  std::string text_;
  std::vector<std::pair<std::string, int>> tokens_;
};

/// Returns the forbidden words as `bad_words_ids`: every spelling of a word at the beginning of a
/// translation, after a space, and after a token that ends in a symbol, such as an opening quote.
std::vector<std::vector<int>> forbidden_ids(const ReadyModel& model,
                                            const std::vector<std::string>& words) {
  std::vector<std::vector<int>> ids;
  if (words.empty()) return ids;
  const std::vector<std::string> texts = texts_of_tokens(*model.tokenizer);
  for (const std::string& given : words) {
    const std::string word = clean_text(given).text;
    if (word.find_first_not_of(' ') == word.npos) {
      refuse_field(Field{"forbid"}, " \"" + excerpt(given) + "\": expected a word");
    }
    Spellings(texts, " " + word).append({}, ids);
    const Spellings inside(texts, word);
    inside.append({model.transformer->config().decoder_start_token_id}, ids);
    for (std::size_t id = 0; id < texts.size(); ++id) {
      if (!texts[id].empty() && !ends_in_letter(texts[id])) inside.append({to_int(id)}, ids);
    }
  }
  return ids;
}

/// Merges the options with the settings in the model's own files.
DecodeConfig decode_config(const ReadyModel& model, const SearchOptions& options) {
  const DecodeOptions given = decode_options(options);
  const DecodeOptions merged = merge_decode_options(given, model.decode);
  const int beams = merged.num_beams.value_or(1);
  const bool drawn = given.do_sample.value_or(false);
  if (!drawn && given.num_return_sequences && *given.num_return_sequences > beams) {
    refuse_field(Field{"n_best"},
                 fmt::format(" {} is more than the {} beam{} of the search; raise ",
                             *given.num_return_sequences, beams, beams == 1 ? "" : "s"),
                 Field{"beam"});
  }
  DecodeConfig config = resolve_decode_options(merged, model.default_forced_eos, model.name);
  const std::vector<std::vector<int>> forbidden = forbidden_ids(model, options.forbid);
  config.bad_words_ids.insert(config.bad_words_ids.end(), forbidden.begin(), forbidden.end());
  return config;
}

ModelSummary summary_of(const ReadyModel& model) {
  ModelSummary summary = summarise(model.transformer->config());
  summary.name = model.name;
  summary.random_weights = model.seed.has_value();
  summary.seed = model.seed;
  summary.precision = to_string(model.precision);
  if (summary.alignment_heads.empty()) summary.alignment_heads = model.alignment_heads;
  return summary;
}

}  // namespace

TranslationSettings translation_settings(const ReadyModel& model, const SearchOptions& given) {
  TranslationSettings settings;
  settings.decode = decode_config(model, given);
  settings.languages = choose_languages(model, given, settings.decode);
  settings.prefix = given.prefix.value_or(model.prefix);
  settings.terms = parse_terms(given.terms);
  if (!settings.terms.empty() && settings.decode.sampling) {
    refuse_field(Field{"terms"}, " is part of a beam search and cannot be combined with ",
                 Field{"sample"});
  }
  return settings;
}

Translator make_translator(const ReadyModel& model) {
  return {*model.transformer, *model.tokenizer, summary_of(model)};
}

Ensemble ensemble_of(const ReadyEnsemble& models) {
  std::vector<const Transformer*> transformers;
  for (const ReadyModel& model : models.models) transformers.push_back(model.transformer.get());
  return Ensemble(std::move(transformers));
}

Translator make_translator(const ReadyEnsemble& models) {
  ModelSummary summary = summary_of(models.mapped());
  if (models.models.size() > 1) summary.ensemble = models.names();
  return {ensemble_of(models), *models.first().tokenizer, std::move(summary), models.maps_of};
}

}  // namespace attn
