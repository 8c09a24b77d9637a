#include "config/option_table.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace attn {
namespace {

constexpr std::string_view kSearchGroup = "How it searches";
constexpr std::string_view kSampleGroup = "How it samples";
constexpr std::string_view kInputGroup = "What it reads";
constexpr std::string_view kRunGroup = "How it runs";

constexpr unsigned kEverywhere =
    on_translate | on_evaluate | on_explain | in_python | on_server | in_library;
constexpr unsigned kNotExplained = kEverywhere & ~unsigned{on_explain};
constexpr unsigned kSampled = on_translate | in_python | on_server | in_library;
constexpr unsigned kByLine = on_translate | on_evaluate | in_python_translate | in_library;
constexpr unsigned kTexts = on_translate | in_python_translate | in_library;

constexpr std::uint64_t kMostBeams = 1000, kMostServerBeams = 64;
constexpr std::uint64_t kMostTokens = 1'000'000, kLongestNgram = 1000;

using Names = std::array<std::string_view, 3>;
constexpr Names kEarlyStoppings = {"true", "false", "never"};
constexpr Names kSplits = {"never", "sentences", "auto"};

using S = SearchOptions;

constexpr OptionSpec kTerm = {
    .name = "term",
    .member = &S::terms,
    .places = on_translate | on_evaluate,
    .value_name = "SRC=TGT",
    .fallback = "no term",
    .group = kSearchGroup,
    .help =
        "Where SRC occurs, the translation contains TGT, or one of the forms "
        "TGT1|TGT2; such a sentence is searched with at least 8 beams",
    .other_names = "constraints force_words force_words_ids"};
/// The same option under its plural name, for interfaces that take lists.
constexpr OptionSpec kTerms = [] {
  OptionSpec terms = kTerm;
  terms.name = "terms";
  terms.places = in_python | on_server | in_library;
  terms.other_names = "";
  return terms;
}();

const std::array kTable = {
    OptionSpec{.name = "beam",
               .member = &S::beam,
               .places = kEverywhere,
               .low = 1,
               .high = kMostBeams,
               .value_name = "K",
               .fallback = "the model's own, else 1",
               .group = kSearchGroup,
               .help = "Beam size; 1 is greedy search",
               .server_name = "beams",
               .server_high = kMostServerBeams,
               .other_names = "num_beams beam_size beams"},
    OptionSpec{.name = "n_best",
               .member = &S::n_best,
               .places = on_translate | in_python | on_server,
               .low = 1,
               .high = kMostBeams,
               .value_name = "N",
               .fallback = "1",
               .group = kSearchGroup,
               .help = "Number of translations, best first",
               .server_high = kMostServerBeams,
               .other_names = "num_return_sequences num_hypotheses nbest"},
    OptionSpec{.name = "length_penalty",
               .member = &S::length_penalty,
               .places = kEverywhere,
               .decimal_low = -100,
               .decimal_high = 100,
               .value_name = "A",
               .fallback = "the model's own, else 1",
               .group = kSearchGroup,
               .help = "Scores are divided by length^A; values above 0 favour long translations",
               .other_names = "normalize lenpen"},
    OptionSpec{.name = "early_stopping",
               .member = &S::early_stopping,
               .places = kEverywhere,
               .choices = kEarlyStoppings,
               .value_name = "true|false|never",
               .fallback = "the model's own, else false",
               .group = kSearchGroup,
               .help = "When beam search ends: true (there are enough translations), false (better "
                       "ones are unlikely) or never (better ones are impossible)"},
    OptionSpec{.name = "max_length",
               .member = &S::max_length,
               .places = kEverywhere,
               .low = 1,
               .high = kMostTokens,
               .value_name = "N",
               .fallback = "the model's own, else 2 × source + 10",
               .group = kSearchGroup,
               .help = "Maximum number of tokens to produce, including the end symbol",
               .other_names = "max_new_tokens max_decoding_length max_length_factor"},
    OptionSpec{.name = "source_lang",
               .member = &S::source_lang,
               .places = kEverywhere,
               .value_name = "LANGUAGE",
               .fallback = "the model's own",
               .group = kInputGroup,
               .help = "Source language, for models that know several: de, deu_Latn or German",
               .other_names = "src_lang source_language"},
    OptionSpec{.name = "target_lang",
               .member = &S::target_lang,
               .places = kEverywhere,
               .value_name = "LANGUAGE",
               .fallback = "the model's own",
               .group = kInputGroup,
               .help = "Target language, for models that know several",
               .other_names = "tgt_lang target_language"},
    OptionSpec{
        .name = "prefix",
        .member = &S::prefix,
        .places = in_python | on_server | in_library,
        .value_name = "TEXT",
        .fallback = "the model's own",
        .group = kInputGroup,
        .help =
            "Text to put before every source text, such as T5's \"translate English to German: \""},
    OptionSpec{.name = "html_input",
               .member = &S::html_input,
               .places = kTexts,
               .fallback = "plain text",
               .group = kInputGroup,
               .help = "The input is HTML: the translation keeps its tags, comments and entities"},
    OptionSpec{.name = "keep",
               .member = &S::keep,
               .places = kTexts,
               .value_name = "REGEX",
               .fallback = "placeholders and Markdown",
               .group = kInputGroup,
               .help = "In addition to placeholders such as {name} and %s, copy what this regular "
                       "expression matches"},
    OptionSpec{.name = "no_repeat_ngram",
               .member = &S::no_repeat_ngram,
               .places = kNotExplained,
               .high = kLongestNgram,
               .value_name = "N",
               .fallback = "the model's own, else 0",
               .group = kSearchGroup,
               .help = "No N consecutive tokens occur twice in a translation; 0 switches this off",
               .other_names = "no_repeat_ngram_size"},
    OptionSpec{
        .name = "encoder_no_repeat_ngram",
        .member = &S::encoder_no_repeat_ngram,
        .places = kNotExplained,
        .high = kLongestNgram,
        .value_name = "N",
        .fallback = "the model's own, else 0",
        .group = kSearchGroup,
        .help =
            "No N consecutive tokens of the source occur in its translation; 0 switches this off",
        .other_names = "encoder_no_repeat_ngram_size"},
    OptionSpec{
        .name = "repetition_penalty",
        .member = &S::repetition_penalty,
        .places = kNotExplained,
        .decimal_low = 0.01,
        .decimal_high = 100,
        .value_name = "P",
        .fallback = "the model's own, else 1",
        .group = kSearchGroup,
        .help =
            "Tokens that already occurred become less likely (above 1) or more likely (below 1)"},
    OptionSpec{.name = "min_length",
               .member = &S::min_length,
               .places = kNotExplained,
               .high = kMostTokens,
               .value_name = "N",
               .fallback = "the model's own, else 0",
               .group = kSearchGroup,
               .help = "Minimum number of tokens to produce before the end symbol",
               .other_names = "min_new_tokens min_decoding_length"},
    OptionSpec{.name = "forbid",
               .member = &S::forbid,
               .places = kNotExplained,
               .value_name = "WORD",
               .fallback = "no word",
               .group = kSearchGroup,
               .help = "The translation never contains this word, nor a word that begins with it",
               .other_names = "bad_words suppress_sequences"},
    kTerm,
    kTerms,
    OptionSpec{
        .name = "sample",
        .member = &S::sample,
        .places = kSampled,
        .fallback = "the likeliest translation",
        .group = kSampleGroup,
        .help = "Sample each token at random instead of searching for the most likely translation",
        .other_names = "do_sample output_sampling sampling"},
    OptionSpec{.name = "temperature",
               .member = &S::temperature,
               .places = kSampled,
               .decimal_low = 0.001,
               .decimal_high = 1000,
               .value_name = "T",
               .fallback = "the model's own, else 1",
               .needs = "sample",
               .group = kSampleGroup,
               .help = "divide the logits by T; values below 1 sharpen the distribution",
               .other_names = "sampling_temperature"},
    OptionSpec{.name = "top_k",
               .member = &S::top_k,
               .places = kSampled,
               .high = 1'000'000'000,
               .value_name = "K",
               .fallback = "the model's own, else 50",
               .needs = "sample",
               .group = kSampleGroup,
               .help = "sample only from the K most likely tokens; 0 means all",
               .other_names = "sampling_topk"},
    OptionSpec{.name = "top_p",
               .member = &S::top_p,
               .places = kSampled,
               .decimal_low = 0.0001,
               .decimal_high = 1,
               .value_name = "P",
               .fallback = "the model's own, else 1",
               .needs = "sample",
               .group = kSampleGroup,
               .help = "sample only from the most likely tokens whose probabilities sum to P",
               .other_names = "sampling_topp"},
    OptionSpec{
        .name = "min_p",
        .member = &S::min_p,
        .places = kSampled,
        .decimal_low = 0,
        .decimal_high = 1,
        .value_name = "P",
        .fallback = "the model's own, else 0",
        .needs = "sample",
        .group = kSampleGroup,
        .help = "leave out tokens that are less than P times as likely as the most likely one"},
    OptionSpec{.name = "typical",
               .member = &S::typical,
               .places = kSampled,
               .decimal_low = 0.0001,
               .decimal_high = 1,
               .value_name = "P",
               .fallback = "the model's own, else 1",
               .needs = "sample",
               .group = kSampleGroup,
               .help = "sample from the tokens closest to the expected surprise, up to a total "
                       "probability of P",
               .other_names = "typical_p"},
    OptionSpec{.name = "sample_seed",
               .member = &S::sample_seed,
               .places = kSampled,
               .high = ~std::uint64_t{0},
               .value_name = "N",
               .fallback = "1",
               .needs = "sample",
               .group = kSampleGroup,
               .help = "seed of the random numbers",
               .other_names = "sampling_seed"},
    OptionSpec{.name = "split",
               .member = &S::split,
               .places = kByLine,
               .choices = kSplits,
               .value_name = "never|sentences|auto",
               .fallback = "auto",
               .group = kSearchGroup,
               .help = "Translate a line sentence by sentence: never, always (sentences), or only "
                       "if the line is too long for the model (auto)"},
    OptionSpec{.name = "document",
               .member = &S::document,
               .places = kByLine,
               .fallback = "one sentence each",
               .group = kSearchGroup,
               .help = "Cut long lines into groups of as many sentences as fit the model"},
    OptionSpec{.name = "threads",
               .member = &S::threads,
               .places = on_translate | on_evaluate | on_serve | in_python | in_library,
               .low = 1,
               .high = 1024,
               .value_name = "N",
               .fallback = "all cores, at most 4",
               .group = kRunGroup,
               .help = "Number of threads",
               .other_names = "cpu_threads intra_threads inter_threads"},
    OptionSpec{.name = "batch",
               .member = &S::batch,
               .places = kByLine,
               .low = 1,
               .high = 100'000,
               .value_name = "N",
               .fallback = "32",
               .group = kRunGroup,
               .help = "Number of sentences translated together",
               .other_names = "batch_size max_batch_size mini_batch"},
};

}  // namespace

std::span<const OptionSpec> search_option_table() {
  return kTable;
}

const OptionSpec& search_option(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &OptionSpec::name);
  if (found == kTable.end()) throw std::logic_error("no search option " + std::string(name));
  return *found;
}

const OptionSpec* search_option_called(std::string_view other_name) {
  const std::string word = " " + std::string(other_name) + " ";
  const auto found = std::ranges::find_if(kTable, [&](const OptionSpec& option) {
    return (" " + std::string(option.other_names) + " ").find(word) != std::string::npos;
  });
  return found == kTable.end() ? nullptr : &*found;
}

std::vector<const OptionSpec*> search_options_at(unsigned places) {
  std::vector<const OptionSpec*> found;
  for (const OptionSpec& option : kTable) {
    if ((option.places & places) != 0) found.push_back(&option);
  }
  return found;
}

}  // namespace attn
