#include "commands/search_options.h"

#include <optional>
#include <string_view>

#include "base/at.h"
#include "service/field_text.h"

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

namespace {

/// An option whose text is a number, checked where all are read.
struct NumberOption {
  std::string_view field;
  const char* type;
  const char* help;
};

constexpr NumberOption kRules[] = {
    {"no_repeat_ngram", "N", "No N tokens in a row come twice in a translation; 0: they may"},
    {"encoder_no_repeat_ngram", "N",
     "No N tokens in a row of the source come in its translation; 0: they may"},
    {"repetition_penalty", "P",
     "Tokens that came already are less likely above 1, more likely below"},
    {"min_length", "N", "Fewest tokens produced before the end symbol"}};

constexpr NumberOption kDraws[] = {
    {"temperature", "T", "With --sample: below 1 the likely are likelier, above 1 less so"},
    {"top_k", "K", "With --sample: only the K likeliest [50]; 0: all"},
    {"top_p", "P", "With --sample: only the likeliest that sum up to P together"},
    {"min_p", "P", "With --sample: only what has P of the likeliest's probability"},
    {"typical", "P", "With --sample: the P of probability that surprises as is expected"},
    {"sample_seed", "N", "With --sample: seed of the draws [1]"}};

}  // namespace

void SearchOptions::add_rules_to(CLI::App& command) {
  for (const NumberOption& option : kRules) {
    command.add_option(option_name(option.field), numbers[option.field], option.help)
        ->type_name(option.type);
  }
}

void SearchOptions::add_sampling_to(CLI::App& command) {
  command.add_flag("--sample", sample,
                   "Draw each token at random by its probability; --n-best N: N times");
  for (const NumberOption& option : kDraws) {
    command.add_option(option_name(option.field), numbers[option.field], option.help)
        ->type_name(option.type);
  }
}

void SearchOptions::add_languages_to(CLI::App& command) {
  command
      .add_option("--source-lang", source_lang,
                  "Language of the source, where the model knows several: de, deu_Latn, German")
      ->type_name("LANGUAGE");
  command
      .add_option("--target-lang", target_lang,
                  "Language to translate into, where the model knows several: inspect --languages "
                  "lists them")
      ->type_name("LANGUAGE");
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
  settings.source_lang = source_lang;
  settings.target_lang = target_lang;
  settings.threads = whole(threads_field, threads);
  settings.batch = parse_whole(batch_field, batch);
  settings.split = parse_splitting(split, document);
  const auto given = [&](std::string_view field) {
    const auto found = numbers.find(field);
    return found == numbers.end() || found->second.empty() ? nullptr : &found->second;
  };
  const auto number = [&](const WholeField& field) {
    const std::string* text = given(field.name);
    return text == nullptr ? std::optional<std::uint64_t>() : parse_whole(field, *text);
  };
  const auto decimal = [&](const DecimalField& field) {
    const std::string* text = given(field.name);
    return text == nullptr ? std::optional<double>() : parse_decimal(field, *text);
  };
  settings.rules = search_rules({number, decimal}, sample, settings.beam);
  return settings;
}

}  // namespace attn
