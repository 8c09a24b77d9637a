#include "attn_demo/attn_demo.h"

#include <dlfcn.h>

#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "service/model/open_model.h"
#include "service/model/shipped.h"
#include "service/search_settings.h"
#include "service/training/untrained_model.h"
#include "service/translate_texts.h"
#include "service/why/why.h"
#include "translate/search/search_queue.h"

namespace attn_demo {
namespace {

namespace fs = std::filesystem;

/// Finds the data installed with the library: PREFIX/share/attn-demo for PREFIX/lib or
/// PREFIX/lib/CPU.
void find_shipped_data() {
  Dl_info own{};
  static const char anchor = 0;
  if (dladdr(&anchor, &own) == 0 || own.dli_fname == nullptr) return;
  std::error_code error;
  fs::path folder = fs::absolute(own.dli_fname, error).parent_path();
  for (int up = 0; !error && up < 3; ++up) {
    folder = folder.parent_path();
    const fs::path data = folder / "share" / "attn-demo";
    if (fs::is_directory(data, error)) return attn::set_shipped_root(data.string());
    error.clear();
  }
}

/// Converts the libraries' errors to those of the public header.
template <typename Action>
auto with_public_errors(Action&& action) {
  try {
    return action();
  } catch (const attn::Error& error) {
    throw Error(static_cast<int>(error.code()),
                attn::printable(attn::message_for(error, attn::option_name)));
  } catch (const std::exception& error) {
    if (!attn::is_out_of_memory(error)) throw;
    throw Error(static_cast<int>(attn::ExitCode::memory),
                "out of memory; choose a smaller model or beam");
  }
}

Maps maps_of(const attn::AttentionMaps& from) {
  Maps maps{from.layers, from.heads, from.queries, from.keys, {}};
  std::vector<float> scratch;
  for (int layer = 0; layer < from.layers; ++layer) {
    for (int head = 0; head < from.heads; ++head) {
      const auto map = from.whole(layer, head, scratch);
      maps.weights.insert(maps.weights.end(), map.begin(), map.end());
    }
  }
  return maps;
}

Shares shares_of(attn::ReceiptSum& from) {
  const auto shares = [](std::vector<attn::ReceiptEntry>& entries) {
    std::vector<Share> all;
    for (attn::ReceiptEntry& entry : entries) all.push_back({std::move(entry.text), entry.value});
    return all;
  };
  return {shares(from.source), shares(from.prefix), from.feed_forward, from.biases, from.position};
}

WordReceipt receipt_of(attn::WordReceipt& from) {
  WordReceipt receipt;
  receipt.text = std::move(from.word.text);
  receipt.first = from.word.first;
  receipt.count = from.word.count;
  receipt.log_prob = from.log_prob;
  receipt.logit = shares_of(from.logit);
  receipt.step = from.foil.step;
  receipt.token = std::move(from.foil.word);
  receipt.runner_up = std::move(from.foil.text);
  receipt.over_runner_up = shares_of(from.foil.difference);
  return receipt;
}

}  // namespace

struct Model::Loaded {
  attn::ReadyEnsemble models;
  /// Lets searches of several threads share steps.
  std::optional<attn::SearchQueue> queue;

  /// Returns the settings of a call, which computes only the best translation of each sentence.
  attn::TranslationSettings settings(const Search& search) const {
    Search best = search;
    best.n_best = 1;
    attn::use_threads(search.threads);
    attn::TranslationSettings settings = attn::translation_settings(models.first(), best);
    // There are no notes here, and a missing term must not go unnoticed.
    settings.term_note = [](const std::string&, const std::string& note) {
      throw attn::InputError("{}", note);
    };
    return settings;
  }
};

Model::Model(const std::string& directory, const std::string& precision)
    : loaded_(std::make_unique<Loaded>()) {
  with_public_errors([&] {
    find_shipped_data();
    attn::ModelChoice choice;
    if (!directory.empty()) choice.models = {directory};
    choice.precision = attn::parse_precision(precision);
    loaded_->models = attn::open_or_make_models(choice);
    loaded_->queue.emplace(attn::ensemble_of(loaded_->models));
  });
}

Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::vector<std::string> Model::translate(const std::vector<std::string>& texts,
                                          const Search& search) const {
  return with_public_errors([&] {
    attn::TranslationSettings settings = loaded_->settings(search);
    settings.searcher = &*loaded_->queue;
    const attn::Translator translator = attn::make_translator(loaded_->models);
    std::vector<std::string> translations;
    const attn::LineSettings lines{
        .split = attn::splitting_of(search), .batch = search.batch, .by_length = true};
    for (auto& text :
         attn::translate_texts(translator, settings, texts, attn::text_settings(search, lines))) {
      translations.push_back(std::move(text.translations.front().text));
    }
    return translations;
  });
}

Attention Model::attend(const std::string& text, const Search& search) const {
  return with_public_errors([&] {
    const attn::TranslationSettings settings = loaded_->settings(search);
    const attn::Translator translator = attn::make_translator(loaded_->models);
    const attn::PreparedSentence sentence = translator.prepare(text, settings);
    attn::AttentionRecord record = std::move(translator.record({{&sentence, 1}, settings}).front());
    attn::HypothesisRecord& best = record.hypotheses.front();
    Attention attention;
    attention.text = std::move(best.text);
    attention.score = best.score;
    attention.source_tokens = std::move(record.source.tokens);
    attention.tokens = std::move(best.produced.tokens);
    attention.decoder_tokens = std::move(best.decoder_input.tokens);
    attention.log_probs = std::move(best.log_probs);
    attention.encoder = maps_of(record.encoder_self);
    attention.decoder = maps_of(best.decoder_self);
    attention.cross = maps_of(best.cross);
    return attention;
  });
}

Why Model::why(const std::string& text, const WhyQuestion& question, const Search& search) const {
  return with_public_errors([&] {
    const attn::TranslationSettings settings = loaded_->settings(search);
    const attn::Translator translator = attn::make_translator(loaded_->models);
    attn::WhyQuestion asked;
    asked.target = question.target;
    asked.word = question.word;
    asked.instead = question.instead;
    attn::WhyAnswer answer =
        attn::answer_why({translator, *loaded_->models.mapped().transformer, settings},
                         translator.prepare(text, settings), asked);
    Why why{std::move(answer.why.target_text), {}};
    for (attn::WordReceipt& word : answer.words.words) why.words.push_back(receipt_of(word));
    return why;
  });
}

}  // namespace attn_demo
