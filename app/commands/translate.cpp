// attn-demo translate: sentences in, translations out, with every head on view.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "analysis/alignment.h"
#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/forced_pairs.h"
#include "commands/help.h"
#include "commands/translate_options.h"
#include "files/line_output.h"
#include "files/output_file.h"
#include "files/view_files.h"
#include "service/model/languages.h"
#include "service/model/open_model.h"
#include "service/progress.h"
#include "service/translate_lines.h"
#include "service/what_if.h"
#include "terminal/console.h"
#include "terminal/line_input.h"
#include "translate/translator.h"

namespace attn {
namespace {

/// Batches of lines that are read ahead, of whose sentences `--batch` are searched for at a time:
/// so many that the end of a window, where no further sentence joins, is a small part of it.
constexpr std::size_t kWindow = 16;

/// The command while it runs.
class TranslateCommand {
 public:
  explicit TranslateCommand(const TranslateOptions& options)
      : options_(options), view_(options.view), by_line_(options.sentences.empty()) {
    const ModelChoice choice = options.source.choice();
    check_usage(options, choice);
    decode_options(options.search);  // refuses values before files are opened
    split_ = splitting_of(options.search);
    check_split();
    MapSelection selection = for_field("show", [&] { return parse_map_selection(view_.show); });
    use_threads(options.search.threads);
    FileGuard guard(by_line_ && LineSource::names_stdin(options.input));
    register_inputs(choice, guard);
    guard.read("--input", options.input);
    guard.read("--targets", options.targets);
    guard.write("--output", options.output);
    if (!options.targets.empty()) {
      pairs_.emplace(options.input, options.targets);
    } else if (by_line_) {
      lines_.emplace(options.input);
    }
    if (writes_lines()) translations_ = std::make_unique<OutputFile>(options.output);
    files_ =
        std::make_unique<ViewFiles>(view_, std::move(guard), PageDetail{view_.vectors, view_.tree});
    models_ = open_models(choice);
    settings_ = translation_settings(models_.first(), options.search);
    translator_.emplace(make_translator(models_));
    note_missing_language(*translator_, settings_, say);
    const ModelSummary summary = summarise(models_.mapped().transformer->config());
    for_field("show", [&] { check_map_selection(selection, summary); });
    check_hypothesis();
    detail_ = view_.detail(options.forced() ? 1 : settings_.decode.num_beams);
    // Pictures show what relative positions add beside a head.
    const bool relative = models_.mapped().transformer->config().relative.enabled();
    if (view_.pictures() && relative) detail_.vectors = true;
    views_ = std::make_unique<LineOutput>(view_, summary, settings_.decode);
    views_->print_to(translations_.get());
    if (!models_.mapped().seed && stdout_is_terminal() && (!by_line_ || stdin_is_terminal())) {
      views_->enable_confidence_notes();
    }
    changes_ = options.what_if.changes(summary);
    const bool shown = !view_.show.empty();
    if (!shown && options.what_if.given()) selection = options.what_if.selection(changes_);
    files_->choose(selection);
    // The terminal stays quiet where something else was asked for.
    const bool other = view_.need_records() || options.search.n_best.has_value();
    if (!shown && (by_line_ || writes_lines() || other)) selection = parse_map_selection({"none"});
    shown_ = std::move(selection);
    views_->select(shown_);
  }

  void run() {
    for (const ReadyModel& model : models_.models) note_all(model.notes);
    if (const auto seed = models_.mapped().seed) {
      note(fmt::format("random weights (seed {}): {}; the maps show the mechanism, not German",
                       *seed,
                       options_.forced() ? "the scores are noise" : "the translation is noise"));
    }
    if (view_.words && (view_.pictures() || !view_.csv.empty())) {
      note("--words is for the terminal; pictures and tables are by pieces");
    }
    std::string heads;
    if (options_.what_if.given()) {
      run_what_ifs();
    } else {
      if (by_line_) {
        run_lines();
      } else {
        run_arguments();
      }
      heads = views_->finish(models_.mapped().name, *files_);
    }
    notes_.report();
    files_->finish(heads);
    if (translations_) translations_->commit();
  }

 private:
  bool writes_lines() const { return !options_.output.empty() && options_.output != "-"; }

  /// What is scored or compared is the line as it is.
  void check_split() {
    if (!options_.forced() && !options_.what_if.given()) return notes_.suggest_split();
    if (split_ == Splitting::sentences || split_ == Splitting::document) {
      throw UsageError("{} does not go with {}",
                       split_ == Splitting::document ? "--document" : "--split sentences",
                       options_.forced() ? "--target and --targets, which translate the whole line"
                                         : "--without, --force and --swap");
    }
    split_ = Splitting::never;
  }

  void check_hypothesis() const {
    const int count = options_.forced() ? 1 : settings_.decode.num_return_sequences;
    if (view_.hypothesis_index() < to_size(count)) return;
    if (options_.forced()) {
      throw UsageError("--hypothesis {}: with --target or --targets there is one",
                       view_.hypothesis);
    }
    throw UsageError(
        "--hypothesis {}: the search gives {}; ask for more with --beam {} --n-best {}",
        view_.hypothesis, count, view_.hypothesis, view_.hypothesis);
  }

  void run_arguments() {
    const std::size_t count = options_.sentences.size();
    for (const std::string& sentence : options_.sentences) {
      hint_at_file(sentence);
      if (is_head_name(sentence)) {
        note(fmt::format("{0} is translated; as a head it needs its own --show {0}", sentence));
      }
    }
    if (count == 1) hint_at_sentence(options_.sentences.front());
    if (count > 1 && are_single_words(options_.sentences)) {
      note(fmt::format("{} sentences of a word each; quotation marks around them make one", count));
    }
    Progress progress("translating", "sentences");
    for (std::size_t first = 0; first < count; first += options_.search.batch) {
      const std::size_t last = std::min(first + options_.search.batch, count);
      LineSource::Lines batch;
      for (std::size_t i = first; i < last; ++i) batch.push_back({options_.sentences[i], 0});
      translate(batch);
      progress.update_of(last, count);
    }
  }

  /// A sentence that is a file's name was meant as the file.
  static void hint_at_file(const std::string& sentence) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(sentence, error)) return;
    note(fmt::format("{} is a file, and its name is translated; --input {} translates its lines",
                     excerpt(sentence), excerpt(sentence)));
  }

  static void hint_at_sentence(const std::string& sentence) {
    if (sentence == "help") {
      note("help is translated; attn-demo help translate shows the options");
    } else if (sentence.find_first_not_of(" \t\n") == sentence.npos) {
      note("the sentence is empty; there is nothing to translate");
    }
  }

  void run_what_ifs() {
    const bool several = options_.sentences.size() > 1;
    for (const std::string& sentence : options_.sentences) {
      if (several && !view_.stdout_alone()) {
        const bool first = &sentence == &options_.sentences.front();
        output().write(fmt::format("{}source:  {}\n", first ? "" : "\n", printable(sentence)));
      }
      views_->select(shown_);
      run_what_if(sentence);
    }
    views_->finish_what_ifs(models_.mapped().name);
  }

  void run_what_if(const std::string& sentence) {
    if (const auto said = whole_line_note(
            prepare_line(*translator_, settings_, sentence, Splitting::automatic))) {
      note(*said);
    }
    const Progress progress("translating");
    const WhatIfRequest request = what_if_request(*translator_, settings_, options_.what_if,
                                                  prepare({sentence, 0}).parts.front(), target());
    if (!options_.what_if.swap.empty()) {
      notes_.note_cleaning(Field{"swap"}, request.after.invalid_bytes, request.after.controls);
    }
    WhatIfRecord record = apply_what_if(*translator_, settings_, request, detail_, &changes_);
    if (options_.target_given) note_target(options_.target, record.before);
    if (view_.show.empty()) files_->choose(options_.what_if.selection(changes_));
    views_->annotate_what_if(record);
    add_to_files(record);
    views_->print(record);
  }

  std::optional<std::string> target() const {
    return options_.target_given ? std::optional(options_.target) : std::nullopt;
  }

  void add_to_files(const WhatIfRecord& record) {
    std::vector<AttentionRecord> records = what_if_records(record);
    if (!view_.html.empty()) {
      for (AttentionRecord& each : records) annotate(each, {true, views_->alignment()});
    }
    files_->add(record, records);
  }

  void run_lines() {
    keep_freed_memory();
    if (pairs_) return run_pairs();
    const bool recorded = views_->wants_records();
    const std::size_t done =
        lines_->for_each(recorded ? options_.search.batch : kWindow * options_.search.batch,
                         [this](const LineSource::Lines& lines) { translate(lines); });
    if (done > 0) return;
    if (view_.need_records()) {
      note(lines_->name() + " held no sentence: there is nothing to show");
    } else if (!lines_->is_stdin()) {
      note(lines_->name() + " held no sentence");
    }
  }

  /// Scores and records the pairs of --input and --targets, a batch of lines at a time.
  void run_pairs() {
    Progress progress("scoring", "pairs");
    const Lines& sources = pairs_->sources();
    for (std::size_t i = 0; i < sources.size(); ++i) {
      record_pair({sources[i], 0}, pairs_->next());
      if ((i + 1) % options_.search.batch == 0) output().flush();
      progress.update_of(i + 1, sources.size());
    }
    if (sources.empty()) note("--input held no sentence");
  }

  void record_pair(const LineReader::Line& line, const std::string& target) try {
    AttentionRecord scored = record_sentence(*translator_, settings_, prepare(line).parts.front(),
                                             target, views_->needed(detail_));
    note_target(target, scored);
    views_->take({std::move(scored)}, *files_);
  } catch (const InputError& error) {
    throw InputError("{}: {}", pairs_->where(), error.what());
  }

  PreparedLine prepare(const LineReader::Line& line) {
    PreparedLine prepared = prepare_line(*translator_, settings_, line.bytes, split_);
    notes_.add(prepared, translator_->max_source_tokens(), line.dropped);
    return prepared;
  }

  void translate(const LineSource::Lines& lines) {
    if (options_.target_given || views_->wants_records()) return record(lines);
    std::vector<std::string> texts;
    for (const LineReader::Line& line : lines) texts.push_back(line.bytes);
    std::size_t next = 0;
    const auto prepared = [&](const PreparedLine& line) {
      notes_.add(line, translator_->max_source_tokens(), lines[next++].dropped);
    };
    for (const std::vector<LineTranslation>& found :
         translate_lines(*translator_, settings_, texts, {split_, options_.search.batch, kWindow},
                         {prepared})) {
      views_->print(found);
    }
  }

  /// Translates with every head on view, or scores the target.
  void record(const LineSource::Lines& lines) {
    std::vector<PreparedLine> prepared;
    for (const LineReader::Line& line : lines) prepared.push_back(prepare(line));
    if (options_.target_given) {
      AttentionRecord scored = record_sentence(*translator_, settings_,
                                               prepared.front().parts.front(), target(), detail_);
      note_target(options_.target, scored);
      views_->take({std::move(scored)}, *files_);
      return;
    }
    auto line = prepared.begin();
    LineRecords parts;
    const std::vector<PreparedSentence> all = all_parts(prepared);
    // As many at a time as --batch says: a line may have hundreds of parts.
    for (std::size_t first = 0; first < all.size(); first += options_.search.batch) {
      const auto next =
          std::span(all).subspan(first, std::min(options_.search.batch, all.size() - first));
      for (AttentionRecord& found :
           translator_->record({next, settings_, views_->needed(detail_)})) {
        found.part = line_part(*line, parts.size(), lines_taken_ + 1);
        parts.push_back(std::move(found));
        if (parts.size() < line->parts.size()) continue;
        views_->take(std::exchange(parts, {}), *files_);
        ++line;
        ++lines_taken_;
      }
    }
  }

  /// What was to be changed of --target.
  void note_target(const std::string& target, const AttentionRecord& record) {
    if (record.hypotheses.empty()) return;
    notes_.add_target(target, record.hypotheses.front().produced.ids,
                      models_.mapped().tokenizer->special_tokens().unk);
  }

  const TranslateOptions& options_;
  const ViewOptions& view_;
  bool by_line_;  ///< sentences come as lines
  std::optional<LineSource> lines_;
  std::optional<ForcedPairs> pairs_;
  Splitting split_ = Splitting::automatic;
  RecordDetail detail_;
  ModelChanges changes_;
  MapSelection shown_;  ///< what the terminal shows
  ReadyEnsemble models_;
  TranslationSettings settings_;
  std::optional<Translator> translator_;
  std::unique_ptr<OutputFile> translations_;  ///< --output
  std::unique_ptr<ViewFiles> files_;
  std::unique_ptr<LineOutput> views_;
  std::size_t lines_taken_ = 0;
  SentenceNotes notes_{say};
};

}  // namespace

void add_translate(CLI::App& app, Run& run) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App* command = app.add_subcommand("translate", "Translate, and show every head");
  command
      ->add_option("SENTENCE", options->sentences,
                   "Sentences; none: one a line on stdin, one translation a line on stdout")
      ->group(help_group::reads);
  command->add_option("--input", options->input, "Translate this file's lines; - is stdin")
      ->type_name("FILE")
      ->group(help_group::reads);
  command
      ->add_option("--output", options->output,
                   "Write what is translated here, one translation a line; - is stdout")
      ->type_name("FILE")
      ->group(help_group::makes);
  options->source.add_models_to(*command);
  options->source.add_maps_of_to(*command);
  options->source.add_precision_to(*command);
  options->source.add_to(*command);
  options->source.add_globals_to(*command);
  options->source.add_prefix_to(*command);
  options->source.add_heads_to(*command);
  command->add_option("--target", options->target, "Show this translation instead of searching")
      ->type_name("TEXT")
      ->each([options](const std::string&) { options->target_given = true; })
      ->group(help_group::reads);
  command
      ->add_option("--targets", options->targets,
                   "Score and show this file's lines as the translations of --input")
      ->type_name("FILE")
      ->group(help_group::reads);
  add_search_options(*command, options->search, on_translate);
  add_color_to(*command);
  options->view.add_to(*command);
  add_what_if_to(*command, options->what_if);
  command->footer(
      "Examples:\n"
      "  attn-demo translate \"The group went home\"\n"
      "  attn-demo translate \"The group went home\" \\\n"
      "    --target \"Die Gruppe ging nach Hause\"\n"
      "  attn-demo translate \"The group went home\" --show cross:0 --json maps.json\n"
      "  attn-demo translate \"The group went home\" --html page.html --svg maps.svg\n"
      "  attn-demo translate \"The group went home\" --report --align best\n"
      "  attn-demo translate \"The group went home\" --without cross:1:3\n"
      "  attn-demo translate --input data/toy/test.en --targets data/toy/test.de \\\n"
      "    --align best --json pairs.jsonl\n"
      "  attn-demo translate --beam 4 --input data/toy/test.en --output german.txt\n"
      "  attn-demo translate -- \"-5 degrees in the morning\"");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { TranslateCommand(*options).run(); }; });
}

}  // namespace attn
