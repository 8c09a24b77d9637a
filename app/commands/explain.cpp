// attn-demo explain: the arithmetic of attention with real numbers, step by step.
#include <algorithm>
#include <memory>
#include <numeric>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/explain_options.h"
#include "commands/help.h"
#include "commands/model_options.h"
#include "commands/search_options.h"
#include "config/attention_site.h"
#include "explain/compare_patterns.h"
#include "explain/explain.h"
#include "explain/matrices.h"
#include "files/output_file.h"
#include "record/words.h"
#include "service/measure/alignment_heads.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/training/untrained_model.h"
#include "service/translate_lines.h"
#include "service/what_if.h"
#include "service/why/explain_receipt.h"
#include "terminal/console.h"
#include "view/data/explanation_json.h"
#include "view/terminal/explanation_markdown.h"
#include "view/terminal/explanation_text.h"

namespace attn {
namespace {

/// Returns a sentence's words, sorted.
std::vector<std::string_view> sorted_words(const std::string& sentence) {
  std::vector<std::string_view> words = split_at(sentence, ' ');
  std::sort(words.begin(), words.end());
  return words;
}

class ExplainCommand {
 public:
  explicit ExplainCommand(ExplainOptions options) : options_(std::move(options)) {
    check_usage();
    const ModelChoice choice = options_.source.choice();
    decode_options(options_.search);  // rejects invalid values before opening files
    const int rank = options_.hypothesis;
    choice_.hypothesis = to_size(rank - 1);
    name_ = parse_head_options(options_.kind, options_.layer, options_.head);
    use_threads(options_.search.threads);
    check_files(choice);
    model_ = open_or_make_model(choice);
    if (options_.meaning.empty()) {
      check_head_options(name_, is_full_head_name(options_.head),
                         summarise(model_.transformer->config()));
    }
    settings_ = translation_settings(model_, options_.search);
    if (name_.site == AttentionSite::cross && !name_.head) find_alignment_heads(model_);
    translator_.emplace(make_translator(model_));
    if (rank > 1) {
      check_rank(rank);
      options_.search.n_best = rank;
      settings_ = translation_settings(model_, options_.search);
    }
  }

  void run() {
    note_all(model_.notes);
    if (model_.seed) {
      note(fmt::format("random weights (seed {}): the numbers show the mechanism, not German",
                       *model_.seed));
    }
    const Explanation explanation = explain();
    check_finite_matrices(explanation, model_.transformer->name());
    notes_.report();
    write(explanation);
  }

 private:
  /// In `--compare attention`, the word is parsed as a second sentence.
  void parse_compare_subject() {
    if (!options_.compare || options_.sentences.size() != 2) return;
    const auto subject =
        std::find(options_.sentences.begin(), options_.sentences.end(), "attention");
    if (subject == options_.sentences.end()) return;
    options_.sentences.erase(subject);
    compare_kinds_ = true;
    refuse_choices();
  }

  /// `--compare attention` covers every encoder head and the best translation, so options that
  /// choose others are errors.
  void refuse_choices() const {
    const std::pair<const char*, bool> choices[]{
        {"--kind", !options_.kind.empty()},         {"--layer", !options_.layer.empty()},
        {"--head", !options_.head.empty()},         {"--query", !options_.query.empty()},
        {"--hypothesis", options_.hypothesis != 1}, {"--order", options_.order_given}};
    for (const auto& [option, given] : choices) {
      if (!given) continue;
      throw UsageError(
          "--compare attention covers all heads of the encoder and the best translation; leave {} "
          "out",
          option);
    }
  }

  void check_usage() {
    parse_compare_subject();
    const std::size_t count = options_.sentences.size();
    if (options_.compare + !options_.meaning.empty() + options_.brief + options_.why > 1) {
      throw UsageError(
          "--compare, --meaning, --short and --why are different explanations; choose one");
    }
    if (!options_.key.empty() && !options_.why) throw UsageError("--key needs --why");
    for_field("step", [&] { return parse_steps(options_.step); });
    if (options_.brief && !options_.step.empty()) {
      throw UsageError(
          "--step chooses among the steps, and --short shows none; leave one of them out");
    }
    if (options_.meaning.empty() && count != 1) {
      throw UsageError("explain takes exactly one sentence, but you gave {}{}", count,
                       hint_at_words());
    }
    if (options_.sentences == std::vector<std::string>{"help"}) {
      note("explaining the sentence \"help\"; attn-demo help explain shows the options");
    }
    if (options_.compare && options_.sentences == std::vector<std::string>{"attention"}) {
      note(
          "attention was taken as the sentence; to compare kinds of attention, add a sentence: "
          "--compare attention "
          "\"The group went home\"");
    }
    if (!options_.meaning.empty() && count == 0) {
      throw UsageError("--meaning needs at least one sentence that contains the word");
    }
    if (options_.order_given && !options_.compare) {
      throw UsageError("--order sets the sentences of --compare; add --compare");
    }
    if (sorted_words(options_.order[0]) != sorted_words(options_.order[1])) {
      throw UsageError("--order \"{}\" \"{}\": expected the same words twice, in two orders",
                       excerpt(options_.order[0]), excerpt(options_.order[1]));
    }
    if (options_.json == "-" && options_.markdown == "-") {
      throw UsageError(
          "--json - and --markdown - cannot both write to stdout; name a file for one of them");
    }
  }

  std::string hint_at_words() const {
    if (options_.compare && options_.sentences.size() == 2) {
      return fmt::format(
          "; --compare takes no value but attention, so \"{}\" and \"{}\" are two sentences",
          excerpt(options_.sentences[0]), excerpt(options_.sentences[1]));
    }
    for (const std::string& each : options_.sentences) {
      if (is_head_name(each)) return fmt::format("; --head {} names the head", each);
    }
    return are_single_words(options_.sentences)
               ? "; put quotation marks around the words of a sentence"
               : "";
  }

  void check_files(const ModelChoice& choice) const {
    FileGuard guard;
    register_inputs(choice, guard);
    guard.write("--json", options_.json);
    guard.write("--markdown", options_.markdown);
  }

  void check_rank(int rank) const {
    if (options_.target_given)
      throw UsageError("--hypothesis {}: with --target there is only one translation", rank);
    const int beams = settings_.decode.num_beams;
    if (rank > beams) {
      throw UsageError("--hypothesis {}: the search has {} beam{}; add --beam {}", rank, beams,
                       beams == 1 ? "" : "s", rank);
    }
  }

  /// Chooses the head's query: an index, a word, or one that shows what the head does.
  void choose_query(const AttentionRecord& record) {
    if (options_.query.empty()) {
      choice_.query = most_informative_query(record, choice_);
      return;
    }
    choice_.query = for_field("query", [&] {
      return find_token(options_.query, query_axis(record, choice_.site, choice_.hypothesis));
    });
  }

  PreparedSentence prepare(const std::string& text) {
    PreparedLine line = prepare_line(*translator_, settings_, text, Splitting::never);
    notes_.add(line, translator_->max_source_tokens());
    return std::move(line.parts.front());
  }

  TokenSequence tokens(const std::string& text) {
    TokenSequence sequence;
    sequence.ids = prepare(text).ids;
    for (const int id : sequence.ids) {
      sequence.tokens.push_back(model_.tokenizer->source_token(id));
    }
    return sequence;
  }

  Explanation explain() {
    if (!options_.meaning.empty()) return explain_word();
    const PreparedSentence sentence = prepare(options_.sentences.front());
    const AttentionRecord record =
        record_sentence(*translator_, settings_, sentence,
                        options_.target_given ? std::optional(options_.target) : std::nullopt, {});
    if (compare_kinds_) return explain_kinds(sentence, record);
    HeadName name = name_;
    const HeadIndex place = find_explained_head(name, record, choice_.hypothesis);
    choice_ = {name.site, place.layer, place.head, 0, choice_.hypothesis};
    if (!options_.compare) {
      choose_query(record);
      if (options_.why) return explain_item(record);
      return options_.brief ? explain_single_query(*model_.transformer, record, choice_)
                            : explain_head(*model_.transformer, record, choice_);
    }
    return compare_attention(*model_.transformer, record, choice_,
                             {tokens(options_.order[0]), tokens(options_.order[1])});
  }

  Explanation explain_item(const AttentionRecord& record) const {
    std::optional<int> key;
    if (!options_.key.empty()) {
      key = for_field("key", [&] {
        return find_token(options_.key, key_axis(record, choice_.site, choice_.hypothesis));
      });
    }
    return explain_receipt_item(*model_.transformer, record, choice_, key);
  }

  /// Translates with each kind of attention, and measures what each head loses.
  Explanation explain_kinds(const PreparedSentence& sentence, const AttentionRecord& record) {
    const HypothesisRecord& exact = record.hypotheses.front();
    const std::vector<AttentionPattern> kinds =
        patterns_to_compare(to_int(record.source.ids.size()));
    const auto sum = [](const HypothesisRecord& of) {
      return std::accumulate(of.log_probs.begin(), of.log_probs.end(), 0.0);
    };
    PatternTranslations translations{{exact.text, sum(exact)}, {}};
    // Translate only if sentence and model can be compared.
    if (model_.transformer->config().encoder_attention.full() && record.source.ids.size() > 1) {
      for (const AttentionPattern& kind : kinds) {
        SparsePatternObserver observer(kind);
        TranslationSettings settings = settings_;
        settings.observer = &observer;
        RecordRequest request{{&sentence, 1}, settings};
        request.search = false;
        request.target = exact.produced.ids;
        const AttentionRecord scored = std::move(translator_->record(request).front());
        const std::string text =
            options_.target_given
                ? exact.text
                : translator_->translate({{&sentence, 1}, settings}).front().front().text;
        translations.of.push_back({text, sum(scored.hypotheses.front())});
      }
    }
    return compare_patterns(*model_.transformer, record, kinds, translations);
  }

  Explanation explain_word() {
    std::vector<TokenSequence> sentences;
    for (const std::string& text : options_.sentences) sentences.push_back(tokens(text));
    PreparedSentence word = translator_->prepare(options_.meaning, settings_);
    if (!word.ids.empty()) word.ids.pop_back();  // the end symbol
    Explanation explanation =
        explain_meaning(*model_.transformer, sentences, {word.text, std::move(word.ids)});
    explanation.model = summarise(model_.transformer->config());
    explanation.model.name = model_.name;
    explanation.model.seed = model_.seed;
    explanation.model.random_weights = model_.seed.has_value();
    for (std::size_t i = 0; i < options_.sentences.size(); ++i) {
      explanation.facts.insert(
          explanation.facts.begin() + to_index(i),
          fmt::format("sentence {}: {}", i + 1, clean_text(options_.sentences[i]).text));
    }
    return explanation;
  }

  /// JSON contains every step; text output only those that --step names.
  void write(const Explanation& explanation) const {
    const Explanation shown =
        for_field("step", [&] { return select_steps(explanation, parse_steps(options_.step)); });
    if (!options_.json.empty()) write_output(options_.json, explanation_json(explanation));
    if (!options_.markdown.empty()) write_output(options_.markdown, explanation_markdown(shown));
    // Print nothing on the terminal if the explanation goes elsewhere.
    if (options_.json.empty() && options_.markdown.empty()) {
      output().write(explanation_text(shown, terminal_style()));
    }
  }

  ExplainOptions options_;
  bool compare_kinds_ = false;
  HeadName name_;
  ExplainedHead choice_;
  ReadyModel model_;
  TranslationSettings settings_;
  std::optional<Translator> translator_;
  SentenceNotes notes_{say};
};

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Show how a head computes its weights, step by step");
  command->add_option("SENTENCE", options->sentences, "The sentence; with --meaning, any number")
      ->group(help_group::reads);
  add_head_options(*command, *options);
  command
      ->add_option("--order", options->order,
                   "Two sentences of the same words for --compare [dog bites man, man bites dog]")
      ->type_name("A B")
      ->expected(2)
      ->each([options](const std::string&) { options->order_given = true; })
      ->group(help_group::reads);
  command
      ->add_option("--meaning", options->meaning,
                   "Show how the vectors of this word move apart, layer by layer")
      ->type_name("WORD")
      ->group(help_group::explained);
  add_number(*command, options->hypothesis, WholeField{"hypothesis", 1, 1000},
             "Which of the n best translations to explain [1]")
      ->type_name("N")
      ->group(help_group::terminal);
  command->add_option("--target", options->target, "Explain this translation")
      ->type_name("TEXT")
      ->each([options](const std::string&) { options->target_given = true; })
      ->group(help_group::reads);
  command
      ->add_option("--json", options->json,
                   "Write the explanation as JSON; - is stdout, with nothing else")
      ->type_name("FILE")
      ->group(help_group::files);
  command
      ->add_option("--markdown", options->markdown,
                   "Write the explanation as Markdown; - is stdout, with nothing else")
      ->type_name("FILE")
      ->group(help_group::files);
  add_color_to(*command);
  options->source.add_model_to(*command);
  options->source.add_to(*command);
  options->source.add_globals_to(*command);
  options->source.add_prefix_to(*command);
  options->source.add_heads_to(*command);
  add_search_options(*command, options->search, on_explain);
  command->footer(
      "Examples:\n"
      "  attn-demo explain \"The group went home\"\n"
      "  attn-demo explain \"The group went home\" --head cross:2:1 --query ging --short\n"
      "  attn-demo explain \"The group went home\" --why --query ging\n"
      "  attn-demo explain \"The group went home\" --step 7-12 --markdown head.md\n"
      "  attn-demo explain \"The group went home\" --config configs/demo.json\n"
      "  attn-demo explain \"The group went home\" --compare\n"
      "  attn-demo explain \"The group went home\" --compare attention\n"
      "  attn-demo explain --meaning light \"Turn on the light\" \"The bag is light\"");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { ExplainCommand(*options).run(); }; });
}

}  // namespace attn
