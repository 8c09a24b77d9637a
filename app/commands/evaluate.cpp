// attn-demo evaluate: BLEU, chrF and TER of a test set, either translated by a model or given as
// lines.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "commands/model_options.h"
#include "commands/search_options.h"
#include "commands/view_options.h"
#include "files/output_file.h"
#include "files/text_files.h"
#include "record/evaluation.h"
#include "service/measure/evaluation.h"
#include "service/measure/why_evaluation.h"
#include "service/model/languages.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/progress.h"
#include "service/training/untrained_model.h"
#include "service/translate_lines.h"
#include "terminal/console.h"
#include "view/data/evaluation_json.h"
#include "view/data/why_evaluation_json.h"
#include "view/terminal/evaluation_text.h"
#include "view/terminal/why_evaluation_text.h"

namespace attn {
namespace {

struct EvaluateOptions {
  ModelOptions model;
  SearchOptions search;
  std::string source, hypotheses, against;
  std::vector<std::string> targets;
  std::string tokenizer = "13a";
  std::optional<std::uint64_t> samples, sampling_seed;
  std::string output, json;
  std::string gold;
  bool lowercase = false, head_importance = false, report = false, why = false;
  /// True for reports on pairs, which are read and not translated.
  bool reads_pairs() const { return head_importance || report || why; }
  const char* report_option() const {
    return why ? "--why" : report ? "--report" : "--head-importance";
  }
  const CLI::App* command = nullptr;

  /// Throws UsageError for an invalid tokenizer or number.
  ScoreSettings scoring() const;
};

ScoreSettings EvaluateOptions::scoring() const {
  ScoreSettings settings;
  settings.lowercase = lowercase;
  const std::optional<BleuTokenizer> named = parse_bleu_tokenizer(tokenizer);
  if (!named) {
    throw UsageError("--tokenize {}: expected 13a, intl, zh, char or none", excerpt(tokenizer));
  }
  settings.tokenizer = *named;
  if (samples) settings.resampling.samples = *samples;
  if (sampling_seed) settings.resampling.seed = *sampling_seed;
  return settings;
}

void check_options(const EvaluateOptions& o) {
  if (o.hypotheses.empty() && o.source.empty()) {
    throw UsageError(
        "evaluate needs --source FILE to translate, or --hypotheses FILE to score without a model");
  }
  if (!o.hypotheses.empty()) {
    for (const CLI::Option* option : o.command->get_options()) {
      const std::string name = option->get_name();
      static constexpr std::array kScoring = {"--hypotheses", "--target",         "--lowercase",
                                              "--json",       "--tokenize",       "--against",
                                              "--resamples",  "--resampling-seed"};
      if (option->count() > 0 && std::ranges::find(kScoring, name) == kScoring.end()) {
        throw UsageError(
            "{} cannot be combined with --hypotheses, which scores existing translations", name);
      }
    }
  }
  if (o.reads_pairs() && (!o.output.empty() || o.lowercase)) {
    throw UsageError("{} cannot be combined with {}, which translates nothing",
                     o.lowercase ? "--lowercase" : "--output", o.report_option());
  }
  if (o.reads_pairs() && (o.targets.size() > 1 || !o.against.empty() || o.tokenizer != "13a")) {
    throw UsageError("{} cannot be combined with {}",
                     o.targets.size() > 1 ? "a second --target"
                     : !o.against.empty() ? "--against"
                                          : "--tokenize",
                     o.report_option());
  }
  if (o.reads_pairs() && !(o.search.source_lang.empty() && o.search.target_lang.empty())) {
    throw UsageError(
        "{} reads pairs in the languages of tokenizer_config.json, src_lang and tgt_lang; leave "
        "--source-lang and --target-lang out",
        o.report_option());
  }
  if (o.against.empty() && (o.samples || o.sampling_seed)) {
    throw UsageError("{} needs --against", o.samples ? "--resamples" : "--resampling-seed");
  }
  if (o.reads_pairs() && o.model.models.size() > 1) {
    throw UsageError("{} is about {} one --model; {} were given", o.report_option(),
                     o.why ? "the words of" : "the heads of", o.model.models.size());
  }
  if (o.report + o.head_importance + o.why > 1) {
    throw UsageError("{} and {} are two different reports; choose one", o.report_option(),
                     o.report && o.why ? "--report" : "--head-importance");
  }
  if (!o.gold.empty() && !o.report && !o.why) throw UsageError("--gold needs --report or --why");
  if (o.output == "-") {
    throw UsageError(
        "--output -: expected a file, since the scores go to stdout; translate "
        "writes translations there");
  }
}

void check_files(const EvaluateOptions& o) {
  FileGuard guard;
  guard.read("--source", o.source);
  for (const std::string& target : o.targets) guard.read("--target", target);
  guard.read("--against", o.against);
  guard.read("--gold", o.gold);
  guard.read("--hypotheses", o.hypotheses);
  if (o.hypotheses.empty()) register_inputs(o.model.choice(), guard);
  guard.write("--output", o.output);
  guard.write("--json", o.json);
}

void check_counts(const Lines& left, const std::string& left_file, const Lines& right,
                  const std::string& right_file) {
  if (left.size() != right.size()) {
    throw InputError("{} has {} line{} and {} has {}; expected one reference for each sentence",
                     left_file, left.size(), left.size() == 1 ? "" : "s", right_file, right.size());
  }
  if (left.empty()) {
    throw InputError("{} and {} are empty; expected at least one sentence", left_file, right_file);
  }
}

std::unique_ptr<OutputFile> open_output(const std::string& path) {
  return path.empty() || path == "-" ? nullptr : std::make_unique<OutputFile>(path);
}

void score(ScoreReport& report, const ScoringInput& system, const EvaluateOptions& options) {
  const Progress progress("scoring");
  compute_scores(report, system, options.scoring());
  if (report.paired) report.paired->against = options.against;
}

void write_report(const ScoreReport& report, const EvaluateOptions& options, OutputFile* json) {
  const std::string object =
      score_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (json != nullptr) json->write(object);
  output().write(options.json == "-" ? object : score_text(report));
}

struct TextAndJson {
  std::string text;
  std::string json;
};

/// Measures the importance of each head for the references.
TextAndJson importance_of_heads(const ReadyModel& model, const Lines& source, const Lines& target,
                                std::string& left_out) {
  const std::vector<ReferencePair> pairs = make_scored_pairs(model, source, target, left_out);
  Progress progress("switching heads off", "heads");
  // The first pass uses all heads.
  const HeadImportanceReport report =
      head_importance(*model.transformer, pairs, [&](std::size_t done, std::size_t of) {
        progress.update_of(done - std::min<std::size_t>(done, 1), of - 1);
      });
  return {head_importance_text(report, terminal_style().width),
          head_importance_json(report).dump(2) + "\n"};
}

/// Computes statistics of each head on the pairs.
TextAndJson figures_of_heads(const ReadyModel& model, const EvaluateOptions& options,
                             const Lines& source, const Lines& target, std::string& left_out) {
  const HeadReport report = measure_heads(model, source, target, options.gold, left_out);
  return {render_head_report(report, terminal_style().width, {align_note}),
          head_report_json(report)};
}

/// Measures which explanations of words are faithful on the pairs.
TextAndJson faithfulness(const ReadyModel& model, const EvaluateOptions& options,
                         const Lines& source, const Lines& target, std::string& left_out) {
  const WhyEvaluation report = evaluate_why(model, {source, target, options.gold}, left_out);
  return {why_evaluation_text(report, terminal_style().width), why_evaluation_json(report)};
}

/// Reports on pairs instead of translating.
void run_on_pairs(const EvaluateOptions& options) {
  use_threads(options.search.threads);
  const std::string& target_file = options.targets.front();
  const Lines source = raw_lines(options.source, TextRole::source);
  const Lines target = raw_lines(target_file, TextRole::reference);
  check_counts(source, options.source, target, target_file);
  const std::unique_ptr<OutputFile> json_file = open_output(options.json);
  const ReadyModel model = open_or_make_model(options.model.choice());
  note_all(model.notes);
  std::string left_out;
  const TextAndJson report = options.why ? faithfulness(model, options, source, target, left_out)
                             : options.head_importance
                                 ? importance_of_heads(model, source, target, left_out)
                                 : figures_of_heads(model, options, source, target, left_out);
  if (!left_out.empty()) note(left_out);
  if (json_file) json_file->write(report.json);
  output().write(options.json == "-" ? report.json : report.text);
  if (json_file) json_file->commit();
}

/// Translates the lines of a file exactly as `translate` does; records the cost in `run`.
Lines translate_file(const ModelChoice& choice, const SearchOptions& search, const Lines& sources,
                     TranslationRun& run) {
  keep_freed_memory();
  const ReadyEnsemble models = open_or_make_models(choice);
  SearchOptions given = search;
  given.n_best = 1;  // overrides the model's own setting, since only the best is scored
  TranslationSettings settings = translation_settings(models.first(), given);
  settings.term_note = once_each(say);
  const Translator translator = make_translator(models);
  note_missing_language(translator, settings, say);
  for (const ReadyModel& ready : models.models) note_all(ready.notes);
  run.seed = models.mapped().seed;
  if (run.seed) {
    note(fmt::format("random weights (seed {}): the scores mean nothing", *run.seed));
  }
  const auto start = std::chrono::steady_clock::now();
  SentenceNotes notes(say);
  notes.suggest_split();
  Progress progress("translating", "sentences");
  LineHooks hooks;
  hooks.prepared = [&](const PreparedLine& line) {
    notes.add(line, translator.max_source_tokens());
  };
  hooks.searched = [&](const TranslationProgress& done) {
    progress.update(done.sentences, done.fraction);
  };
  Lines translations;
  for (auto& found : translate_lines(
           translator, settings, sources,
           {.split = splitting_of(search), .batch = search.batch, .by_length = true}, hooks)) {
    run.tokens += found.front().tokens;
    translations.push_back(std::move(found.front().text));
  }
  notes.report();
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.model = fmt::format("{}", fmt::join(models.names(), " + "));
  run.precision = to_string(models.mapped().precision);
  const DecodeConfig& decode = settings.decode;
  run.beams = decode.num_beams;
  run.length_penalty = decode.length_penalty;
  run.early_stopping = to_string(decode.early_stopping);
  if (decode.max_new_tokens > 0) run.max_length = decode.max_new_tokens;
  return translations;
}

void run_evaluate(const EvaluateOptions& options) {
  check_options(options);
  check_files(options);
  if (options.reads_pairs()) return run_on_pairs(options);
  const SearchOptions& search = options.search;
  use_threads(search.threads);
  options.scoring();
  ScoreReport report;
  report.source = options.source;
  report.hypotheses = options.hypotheses;
  report.targets = options.targets;
  const bool given = !options.hypotheses.empty();
  const std::string& left_file = given ? options.hypotheses : options.source;
  Lines left = given ? scored_lines(left_file, TextRole::hypothesis)
                     : raw_lines(left_file, TextRole::source);
  std::vector<Lines> references;
  for (const std::string& target : options.targets) {
    for (Lines& text : read_texts(target, TextRole::reference)) {
      references.push_back(valid_lines(std::move(text), target));
      check_counts(left, left_file, references.back(), target);
    }
  }
  Lines against;
  if (!options.against.empty()) {
    against = scored_lines(options.against, TextRole::hypothesis);
    check_counts(against, options.against, references.front(), options.targets.front());
  }
  const std::unique_ptr<OutputFile> text_file = open_output(options.output);
  const std::unique_ptr<OutputFile> json_file = open_output(options.json);
  if (!given) {
    report.run.emplace();
    left = translate_file(options.model.choice(), search, left, *report.run);
    if (text_file) {
      for (const std::string& line : left) text_file->write(line + "\n");
    }
    note(fmt::format("translated {} sentence{} in {:.2f} s: {:.0f} tokens per second", left.size(),
                     left.size() == 1 ? "" : "s", report.run->seconds,
                     report.run->tokens_per_second()));
  }
  score(report, {left, references, options.against.empty() ? nullptr : &against}, options);
  write_report(report, options, json_file.get());
  if (text_file) text_file->commit();
  if (json_file) json_file->commit();
}

void add_files(CLI::App& command, EvaluateOptions& o) {
  command.add_option("--source", o.source, "Sentences to translate, one per line")
      ->type_name("FILE")
      ->group(help_group::reads);
  command
      .add_option("--target", o.targets,
                  "Their reference translations, one per line; you can give several files")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false)
      ->required()
      ->group(help_group::reads);
  command.add_option("--hypotheses", o.hypotheses, "Score these translations, without a model")
      ->type_name("FILE")
      ->group(help_group::reads);
  command.add_option("--output", o.output, "Write the translations, one per line")
      ->type_name("FILE")
      ->group(help_group::makes);
  command.add_option("--json", o.json, "Write the scores as JSON; - is stdout, with nothing else")
      ->type_name("FILE")
      ->group(help_group::files);
  command.add_flag("--lowercase", o.lowercase, "Ignore case when scoring")
      ->group(help_group::makes);
  command.add_option("--tokenize", o.tokenizer, "BLEU's tokenizer: 13a, intl, zh, char, none")
      ->type_name("NAME")
      ->group(help_group::makes);
  command
      .add_option("--against", o.against,
                  "Another system's translations: a paired bootstrap says whether scores differ")
      ->type_name("FILE")
      ->group(help_group::reads);
  add_number(command, o.samples, WholeField{"resamples", 1, 1'000'000},
             "Number of bootstrap samples [1000]")
      ->type_name("N")
      ->group(help_group::runs);
  add_number(command, o.sampling_seed, WholeField{"resampling_seed", 1, std::uint64_t{1} << 63},
             "Seed of the bootstrap [12345]")
      ->type_name("N")
      ->group(help_group::runs);
  command
      .add_flag("--head-importance", o.head_importance,
                "Rank the heads by the log-probability that references lose without each of them")
      ->group(help_group::terminal);
  command.add_flag("--report", o.report, "Measure what each head does on these pairs")
      ->group(help_group::terminal);
  command
      .add_flag("--why", o.why,
                "Measure how often each method of `why` names the source word that matters")
      ->group(help_group::terminal);
  command
      .add_option("--gold", o.gold,
                  "With --report or --why: word alignments (0-0 1-1 ...) to compare with")
      ->type_name("FILE")
      ->group(help_group::reads);
}

}  // namespace

void add_evaluate(CLI::App& app, Run& run) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command =
      app.add_subcommand("evaluate", "Score a test set with BLEU, chrF and TER, as sacreBLEU does");
  options->command = command;
  add_files(*command, *options);
  options->model.add_models_to(*command);
  options->model.add_precision_to(*command);
  options->model.add_to(*command);
  options->model.add_globals_to(*command);
  options->model.add_prefix_to(*command);
  options->model.add_heads_to(*command);
  add_search_options(*command, options->search, on_evaluate);
  command->footer(
      "Examples:\n"
      "  attn-demo evaluate --source data/toy/test.en --target data/toy/test.de \\\n"
      "    --output greedy.de\n"
      "  attn-demo evaluate --source data/toy/test.en --target data/toy/test.de \\\n"
      "    --beam 4 --output out.de --json scores.json\n"
      "  attn-demo evaluate --source data/toy/test.en --target data/toy/test.de \\\n"
      "    --report --gold data/toy/test.align\n"
      "  attn-demo evaluate --source data/gold/words.en --target data/gold/words.de \\\n"
      "    --why --gold data/gold/words.align\n"
      "  attn-demo evaluate --hypotheses out.de --target data/toy/test.de --lowercase\n"
      "  attn-demo evaluate --hypotheses out.de --target data/toy/test.de \\\n"
      "    --against greedy.de");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_evaluate(*options); }; });
}

}  // namespace attn
