// attn-demo explain: attention's arithmetic with real numbers, as on a blackboard.
#include <algorithm>
#include <memory>

#include "arguments.h"
#include "base/at.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/head_name.h"
#include "base/utf8.h"
#include "commands.h"
#include "console.h"
#include "explain/compare.h"
#include "explain/explain_head.h"
#include "explain/meaning.h"
#include "file_guard.h"
#include "model_source.h"
#include "output_file.h"
#include "search_options.h"
#include "sentence_notes.h"
#include "view/data/explanation_json.h"
#include "view/terminal/explanation_markdown.h"
#include "view/terminal/explanation_text.h"

namespace attn {
namespace {

struct ExplainOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string target, kind = "cross", layer, head = "0", query = "0";
  std::string hypothesis = "1";
  bool target_given = false, compare = false;
  std::string meaning, json, markdown;
  std::vector<std::string> order = {"dog bites man", "man bites dog"};
};

/// A sentence's words, sorted.
std::vector<std::string_view> sorted_words(const std::string& sentence) {
  std::vector<std::string_view> words = split_at(sentence, ' ');
  std::sort(words.begin(), words.end());
  return words;
}

class ExplainCommand {
 public:
  explicit ExplainCommand(const ExplainOptions& options) : options_(options) {
    check_usage();
    DecodeOptions given = options.search.decode();
    const int rank = to_int(parse_whole("--hypothesis", options.hypothesis, 1, 1000));
    choice_.hypothesis = to_size(rank - 1);
    const std::optional<AttentionKind> kind = parse_kind(options.kind);
    if (!kind) {
      throw UsageError("--kind {}: expected encoder, decoder or cross", excerpt(options.kind));
    }
    choice_.kind = *kind;
    choice_.head = parse_index("--head", options.head);
    choice_.query = parse_index("--query", options.query);
    options.search.use_threads();
    check_files();
    model_ = load_or_make(options.source);
    const ModelConfig& config = model_.transformer->config();
    const bool encoder = choice_.kind == AttentionKind::encoder_self;
    choice_.layer = options.layer.empty()
                        ? (encoder ? config.encoder_layers : config.decoder_layers) - 1
                        : parse_index("--layer", options.layer);
    if (options.meaning.empty()) check_choice(summarise(config));
    translator_ = make_translator(model_, given);
    if (rank > 1) {
      check_rank(rank);
      given.num_return_sequences = rank;
      translator_ = make_translator(model_, given);
    }
  }

  void run() {
    for (const std::string& text : model_.notes) note(printable(text));
    if (model_.seed) {
      note(fmt::format("random weights (seed {}): the numbers show the mechanism, not German",
                       *model_.seed));
    }
    const Explanation explanation = explain();
    notes_.report();
    write(explanation);
  }

 private:
  void check_usage() const {
    const std::size_t count = options_.sentences.size();
    if (options_.compare && !options_.meaning.empty()) {
      throw UsageError("--compare and --meaning are two explanations; ask for one at a time");
    }
    if (options_.meaning.empty() && count != 1) {
      throw UsageError("explain needs exactly one sentence, and {} were given", count);
    }
    if (!options_.meaning.empty() && count == 0) {
      throw UsageError("--meaning needs a sentence, or several, in which the word occurs");
    }
    if (sorted_words(options_.order[0]) != sorted_words(options_.order[1])) {
      throw UsageError("--order \"{}\" \"{}\": expected the same words twice, in two orders",
                       excerpt(options_.order[0]), excerpt(options_.order[1]));
    }
    if (options_.json == "-" && options_.markdown == "-") {
      throw UsageError("--json - and --markdown - both want stdout; give one of them a file");
    }
  }

  void check_files() const {
    FileGuard guard;
    tell_inputs(options_.source, guard);
    guard.write("--json", options_.json);
    guard.write("--markdown", options_.markdown);
    const auto is_file = [](const std::string& path) { return !path.empty() && path != "-"; };
    if (is_file(options_.json) || is_file(options_.markdown)) output().outlive_reader();
  }

  void check_rank(int rank) const {
    if (options_.target_given)
      throw UsageError("--hypothesis {}: with --target there is one", rank);
    const int beams = translator_->decode_config().num_beams;
    if (rank > beams) {
      throw UsageError("--hypothesis {}: the search has {} beam{}; add --beam {}", rank, beams,
                       beams == 1 ? "" : "s", rank);
    }
  }

  /// The head, of the model's.
  void check_choice(const ModelSummary& model) const {
    const StackShape shape = model.stack(choice_.kind);
    check_head(fmt::format("--layer {}", choice_.layer), choice_.layer, std::nullopt, shape);
    check_head(fmt::format("--head {}", choice_.head), std::nullopt, choice_.head, shape);
  }

  static int parse_index(const std::string& option, const std::string& text) {
    return to_int(parse_whole(option, text, 0, 1'000'000));
  }

  PreparedSentence prepare(const std::string& text) {
    PreparedLine line = prepare_line(*translator_, text, Splitting::never);
    notes_.add(line, 0, translator_->most_source_tokens());
    return std::move(line.parts.front());
  }

  TokenSequence tokens(const std::string& text) {
    TokenSequence sequence;
    sequence.ids = prepare(text).ids;
    for (const int id : sequence.ids) {
      sequence.tokens.push_back(model_.tokenizer->source_piece(id));
    }
    return sequence;
  }

  Explanation explain() {
    if (!options_.meaning.empty()) return explain_word();
    const PreparedSentence sentence = prepare(options_.sentences.front());
    const AttentionRecord record = options_.target_given
                                       ? translator_->record_target(sentence, options_.target)
                                       : std::move(translator_->record({sentence}).front());
    if (!options_.compare) return explain_head(*model_.transformer, record, choice_);
    return compare_attention(*model_.transformer, record, choice_,
                             {tokens(options_.order[0]), tokens(options_.order[1])});
  }

  Explanation explain_word() {
    std::vector<TokenSequence> sentences;
    for (const std::string& text : options_.sentences) sentences.push_back(tokens(text));
    PreparedSentence word = translator_->prepare(options_.meaning);
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

  void write(const Explanation& explanation) const {
    if (!options_.json.empty()) deliver(options_.json, explanation_json(explanation));
    if (!options_.markdown.empty()) deliver(options_.markdown, explanation_markdown(explanation));
    if (options_.json != "-" && options_.markdown != "-") {
      output().write(explanation_text(explanation, terminal_style()));
    }
  }

  const ExplainOptions& options_;
  HeadChoice choice_;
  ReadyModel model_;
  std::unique_ptr<Translator> translator_;
  SentenceNotes notes_;
};

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "One head step by step, in real numbers");
  command->add_option("SENTENCE", options->sentences, "The sentence; with --meaning, any number");
  command->add_option("--kind", options->kind, "encoder, decoder or cross [cross]")
      ->type_name("KIND");
  command->add_option("--layer", options->layer, "Layer, from 0 [the last]")->type_name("N");
  command->add_option("--head", options->head, "Head, from 0 [0]")->type_name("N");
  command->add_option("--query", options->query, "The query whose sums are written out [0]")
      ->type_name("N");
  command->add_flag("--compare", options->compare,
                    "Self- and cross-attention, small and fused products, scaling, positions");
  command
      ->add_option("--order", options->order,
                   "Two sentences of the same words for --compare [dog bites man, man bites dog]")
      ->type_name("A B")
      ->expected(2);
  command->add_option("--meaning", options->meaning, "How the vectors of this word part")
      ->type_name("WORD");
  command->add_option("--hypothesis", options->hypothesis, "Which of the n best to explain [1]")
      ->type_name("N");
  command->add_option("--target", options->target, "Explain this translation")
      ->type_name("TEXT")
      ->each([options](const std::string&) { options->target_given = true; });
  command->add_option("--json", options->json, "Write it as JSON; - is stdout, alone")
      ->type_name("FILE");
  command->add_option("--markdown", options->markdown, "Write it as Markdown; - is stdout, alone")
      ->type_name("FILE");
  options->source.add_model_to(*command);
  options->source.add_to(*command);
  options->source.add_heads_to(*command);
  options->search.add_search_to(*command, SearchOptions::NBest::not_offered);
  command->footer(
      "Examples:\n"
      "  attn-demo explain \"The group went home\" --layer 0 --head 1 --query 3\n"
      "  attn-demo explain \"The group went home\" --config configs/demo.json\n"
      "  attn-demo explain \"The group went home\" --compare\n"
      "  attn-demo explain --meaning light \"Turn on the light\" \"The bag is light\"");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { ExplainCommand(*options).run(); }; });
}

}  // namespace attn
