#include "commands/search_options.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "commands/arguments.h"
#include "compute/matmul.h"

namespace attn {

void SearchOptions::add_search_to(CLI::App& command, NBest offered) {
  command.add_option("--beam", beam, "Beams; 1 is greedy search")->type_name("K");
  if (offered == NBest::offered) {
    command.add_option("--n-best", n_best, "Print the N best: rank, score, text, tab-separated")
        ->type_name("N");
  }
  command
      .add_option("--length-penalty", length_penalty,
                  "Scores are divided by length^A; above 0 favours long translations")
      ->type_name("A");
  command
      .add_option("--early-stopping", early_stopping,
                  "When a beam search ends: true, false or never")
      ->type_name("true|false|never");
  command.add_option("--max-length", max_length, "Most tokens produced, the end symbol included")
      ->type_name("N");
}

void SearchOptions::add_rules_to(CLI::App& command) {
  command
      .add_option("--no-repeat-ngram", no_repeat,
                  "No N tokens in a row come twice in a translation; 0: they may")
      ->type_name("N");
  command
      .add_option("--encoder-no-repeat-ngram", encoder_no_repeat,
                  "No N tokens in a row of the source come in its translation; 0: they may")
      ->type_name("N");
  command
      .add_option("--repetition-penalty", repetition_penalty,
                  "Tokens that came already are less likely above 1, more likely below")
      ->type_name("P");
  command.add_option("--min-length", min_length, "Fewest tokens produced before the end symbol")
      ->type_name("N");
}

void SearchOptions::add_sampling_to(CLI::App& command) {
  command.add_flag("--sample", sample,
                   "Draw each token at random by its probability; --n-best N: N times");
  command
      .add_option("--temperature", temperature,
                  "With --sample: below 1 the likely are likelier, above 1 less so")
      ->type_name("T");
  command.add_option("--top-k", top_k, "With --sample: only the K likeliest [50]; 0: all")
      ->type_name("K");
  command
      .add_option("--top-p", top_p, "With --sample: only the likeliest that sum up to P together")
      ->type_name("P");
  command
      .add_option("--min-p", min_p, "With --sample: only what has P of the likeliest's probability")
      ->type_name("P");
  command
      .add_option("--typical", typical,
                  "With --sample: the P of probability that surprises as is expected")
      ->type_name("P");
  command.add_option("--sample-seed", sample_seed, "With --sample: seed of the draws [1]")
      ->type_name("N");
}

void SearchOptions::add_split_to(CLI::App& command) {
  command
      .add_option(
          "--split", split,
          "Translate a line sentence by sentence: never, always (sentences), or where it is "
          "longer than the model's directory says that it has learned [auto]")
      ->type_name("never|sentences|auto");
}

void SearchOptions::add_threads_to(CLI::App& command) {
  command.add_option("--threads", threads, "Threads [the cores, at most 4]")->type_name("N");
}

void SearchOptions::add_speed_to(CLI::App& command) {
  add_threads_to(command);
  command.add_option("--batch", batch, "Sentences translated together [32]")->type_name("N");
}

DecodeOptions SearchOptions::decode() const {
  DecodeOptions d;
  const auto whole = [](const char* name, const std::string& text, std::uint64_t high) {
    return text.empty() ? std::optional<int>() : to_int(parse_whole(name, text, 1, high));
  };
  d.num_beams = whole("--beam", beam, 1000);
  d.num_return_sequences = whole("--n-best", n_best, 1000);
  if (!length_penalty.empty()) {
    d.length_penalty = parse_decimal("--length-penalty", length_penalty, -100, 100);
  }
  if (!early_stopping.empty()) {
    if (early_stopping == "true") {
      d.early_stopping = EarlyStopping::yes;
    } else if (early_stopping == "false") {
      d.early_stopping = EarlyStopping::no;
    } else if (early_stopping == "never") {
      d.early_stopping = EarlyStopping::never;
    } else {
      throw UsageError("--early-stopping {}: expected true, false or never",
                       excerpt(early_stopping));
    }
  }
  // The option counts produced tokens with the end symbol; `generate` counts the start symbol, too.
  if (const auto most = whole("--max-length", max_length, 1'000'000)) d.max_length = *most + 1;
  add_rules(d);
  add_sampling(d);
  return d;
}

void SearchOptions::add_rules(DecodeOptions& d) const {
  const auto count = [](const char* name, const std::string& text, std::uint64_t high) {
    return text.empty() ? std::optional<int>() : to_int(parse_whole(name, text, 0, high));
  };
  d.no_repeat_ngram_size = count("--no-repeat-ngram", no_repeat, 1000);
  d.encoder_no_repeat_ngram_size = count("--encoder-no-repeat-ngram", encoder_no_repeat, 1000);
  if (!repetition_penalty.empty()) {
    d.repetition_penalty = parse_decimal("--repetition-penalty", repetition_penalty, 0.01, 100);
  }
  d.min_new_tokens = count("--min-length", min_length, 1'000'000);
}

void SearchOptions::add_sampling(DecodeOptions& d) const {
  for (const auto& [name, text] : {std::pair{"--temperature", &temperature},
                                   {"--top-k", &top_k},
                                   {"--top-p", &top_p},
                                   {"--min-p", &min_p},
                                   {"--typical", &typical},
                                   {"--sample-seed", &sample_seed}}) {
    if (!text->empty() && !sample) throw UsageError("{} goes with --sample", name);
  }
  if (!sample) return;
  if (!beam.empty() && beam != "1") {
    throw UsageError("--sample draws one token at a time; --beam {} does not go with it", beam);
  }
  d.do_sample = true;
  const auto decimal = [](const char* name, const std::string& text, double low, double high) {
    return text.empty() ? std::optional<float>() : parse_decimal(name, text, low, high);
  };
  d.temperature = decimal("--temperature", temperature, 0.001, 1000);
  if (!top_k.empty()) d.top_k = to_int(parse_whole("--top-k", top_k, 0, 1'000'000'000));
  d.top_p = decimal("--top-p", top_p, 0.0001, 1);
  d.min_p = decimal("--min-p", min_p, 0, 1);
  d.typical_p = decimal("--typical", typical, 0.0001, 1);
  if (!sample_seed.empty()) {
    d.sampling_seed = parse_whole("--sample-seed", sample_seed, 0, ~std::uint64_t{0});
  }
}

Splitting SearchOptions::splitting() const {
  if (split == "never") return Splitting::never;
  if (split == "sentences") return Splitting::sentences;
  if (split == "auto") return Splitting::automatic;
  throw UsageError("--split {}: expected never, sentences or auto", excerpt(split));
}

std::size_t SearchOptions::batch_size() const {
  return parse_whole("--batch", batch, 1, 100'000);
}

void SearchOptions::use_threads() const {
  const int cores = std::min(available_cores(), 4);
  set_threads(threads.empty() ? cores : to_int(parse_whole("--threads", threads, 1, 1024)));
}

namespace {

/// What the command line says of the search, and what the model's own files say beside it.
DecodeConfig decode_config(const ReadyModel& model, const DecodeOptions& given) {
  const DecodeOptions merged = merge(given, model.decode);
  const int beams = merged.num_beams.value_or(1);
  const bool drawn = given.do_sample.value_or(false);
  if (!drawn && given.num_return_sequences && *given.num_return_sequences > beams) {
    throw UsageError("--n-best {} is more than the {} beam{} of the search; raise --beam",
                     *given.num_return_sequences, beams, beams == 1 ? "" : "s");
  }
  return resolve(merged, model.default_forced_eos, model.name);
}

ModelSummary summary_of(const ReadyModel& model) {
  ModelSummary summary = summarise(model.transformer->config());
  summary.name = model.name;
  summary.random_weights = model.seed.has_value();
  summary.seed = model.seed;
  summary.precision = model.precision;
  return summary;
}

}  // namespace

std::unique_ptr<Translator> make_translator(const ReadyModel& model, const DecodeOptions& given) {
  auto translator = std::make_unique<Translator>(*model.transformer, *model.tokenizer,
                                                 decode_config(model, given));
  translator->describe(summary_of(model));
  return translator;
}

std::unique_ptr<Translator> make_translator(const ReadyEnsemble& models,
                                            const DecodeOptions& given) {
  const ReadyModel& first = models.models.front();
  std::vector<const Transformer*> transformers;
  for (const ReadyModel& model : models.models) transformers.push_back(model.transformer.get());
  auto translator =
      std::make_unique<Translator>(Ensemble(std::move(transformers)), *first.tokenizer,
                                   decode_config(first, given), models.maps_of);
  ModelSummary summary = summary_of(models.mapped());
  if (models.models.size() > 1) summary.ensemble = models.names();
  translator->describe(std::move(summary));
  return translator;
}

}  // namespace attn
