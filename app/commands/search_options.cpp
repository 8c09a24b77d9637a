#include "commands/search_options.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/at.h"

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
  command.add_flag("--document", document,
                   "Parts of a long line are as many sentences together as the model takes");
}

void SearchOptions::add_threads_to(CLI::App& command) {
  command.add_option("--threads", threads, "Threads [the cores, at most 4]")->type_name("N");
}

void SearchOptions::add_speed_to(CLI::App& command) {
  add_threads_to(command);
  command.add_option("--batch", batch, "Sentences translated together [32]")->type_name("N");
}

SearchSettings SearchOptions::settings() const {
  const auto whole = [](const WholeField& field, const std::string& text) {
    return text.empty() ? std::optional<int>() : to_int(parse_whole(field, text));
  };
  SearchSettings settings;
  settings.beam = whole(beam_field, beam);
  settings.n_best = whole(n_best_field, n_best);
  if (!length_penalty.empty()) {
    settings.length_penalty = parse_decimal(length_penalty_field, length_penalty);
  }
  if (!early_stopping.empty()) settings.early_stopping = parse_early_stopping(early_stopping);
  settings.max_length = whole(max_length_field, max_length);
  settings.threads = whole(threads_field, threads);
  settings.batch = parse_whole(batch_field, batch);
  settings.split = parse_splitting(split);
  if (document) {
    if (settings.split != Splitting::automatic) {
      throw UsageError("--document does not go with --split {}", split);
    }
    settings.split = Splitting::document;
  }
  settings.rules = rules();
  return settings;
}

DecodeOptions SearchOptions::rules() const {
  const auto count = [](std::string_view field, const std::string& text, std::uint64_t high) {
    return text.empty() ? std::optional<int>() : to_int(parse_whole({field, 0, high}, text));
  };
  DecodeOptions d;
  d.no_repeat_ngram_size = count("no_repeat_ngram", no_repeat, 1000);
  d.encoder_no_repeat_ngram_size = count("encoder_no_repeat_ngram", encoder_no_repeat, 1000);
  if (!repetition_penalty.empty()) {
    d.repetition_penalty = parse_decimal({"repetition_penalty", 0.01, 100}, repetition_penalty);
  }
  d.min_new_tokens = count("min_length", min_length, 1'000'000);
  add_sampling(d);
  return d;
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
  const auto decimal = [](const DecimalField& field, const std::string& text) {
    return text.empty() ? std::optional<float>() : parse_decimal(field, text);
  };
  d.temperature = decimal({"temperature", 0.001, 1000}, temperature);
  if (!top_k.empty()) d.top_k = to_int(parse_whole({"top_k", 0, 1'000'000'000}, top_k));
  d.top_p = decimal({"top_p", 0.0001, 1}, top_p);
  d.min_p = decimal({"min_p", 0, 1}, min_p);
  d.typical_p = decimal({"typical", 0.0001, 1}, typical);
  if (!sample_seed.empty()) {
    d.sampling_seed = parse_whole({"sample_seed", 0, ~std::uint64_t{0}}, sample_seed);
  }
}

}  // namespace attn
