// attn-demo translate: sentences in, translations out, with every head on view.
#include <algorithm>
#include <memory>

#include "analysis/annotate.h"
#include "analysis/head_statistics.h"
#include "arguments.h"
#include "base/at.h"
#include "base/error.h"
#include "base/utf8.h"
#include "commands.h"
#include "console.h"
#include "model_source.h"
#include "search_options.h"
#include "sentence_notes.h"
#include "translate/translator.h"
#include "view/data/head_report_json.h"
#include "view/data/word_alignment.h"
#include "view/terminal/head_report_text.h"
#include "view/terminal/map_text.h"
#include "view/terminal/what_if_text.h"
#include "view_files.h"
#include "view_options.h"
#include "what_if_options.h"

namespace attn {
namespace {

struct TranslateOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string target;
  bool target_given = false;
  ViewOptions view;
  WhatIfOptions what_if;
};

/// A translation as a line on stdout. `rank` counts from 0; n-best lists say which a line is.
void print_translation(const std::string& text, std::size_t rank, float score, bool in_list) {
  if (in_list) output().write(fmt::format("{}\t{:.4f}\t", rank + 1, score));
  // What a model writes is text from outside: controls of its vocabulary never reach stdout raw,
  // and on a terminal they, escapes and bidirectional marks are made visible.
  const std::string safe = stdout_is_terminal() ? printable(text) : clean_text(text).text;
  output().write(safe + "\n");
}

/// Maps of no head.
AttentionMaps without_weights(const AttentionMaps& maps) {
  return {0, 0, maps.queries, maps.keys, {}};
}

/// The command while it runs.
class TranslateCommand {
 public:
  explicit TranslateCommand(const TranslateOptions& options)
      : options_(options), view_(options.view), from_stdin_(options.sentences.empty()) {
    check_usage();
    const DecodeOptions given = options.search.decode();
    batch_ = options.search.batch_size();
    selection_ = for_option("--show", [&] { return parse_show(view_.show); });
    options.search.use_threads();
    FileGuard guard(from_stdin_);
    tell_inputs(options.source, guard);
    if (view_.writes_files()) output().outlive_reader();
    files_ = std::make_unique<ViewFiles>(view_, std::move(guard));
    model_ = load_or_make(options.source);
    translator_ = make_translator(model_, given);
    const ModelSummary summary = summarise(model_.transformer->config());
    for_option("--show", [&] { check_show(selection_, summary); });
    check_hypothesis();
    detail_ = view_.detail(options.target_given ? 1 : translator_->decode_config().num_beams);
    alignment_ = view_.alignment();
    if (alignment_) {
      for_option("--align", [&] { check_alignment_choice(alignment_->choice, summary); });
    }
    if (!view_.html.empty() && !alignment_) alignment_.emplace();  // the page shows the best head's
    changes_ = options.what_if.changes(summary);
    if (!view_.show.empty()) {
      files_->choose(selection_);
      return;
    }
    if (options.what_if.given()) selection_ = options.what_if.selection(changes_);
    files_->choose(selection_);
    // The terminal stays quiet where views go elsewhere.
    if (from_stdin_ || view_.beyond_json()) selection_ = parse_show({"none"});
  }

  void run() {
    for (const std::string& text : model_.notes) note(printable(text));
    if (model_.seed) {
      note(fmt::format(
          "random weights (seed {}): {}; the maps show the mechanism, not German", *model_.seed,
          options_.target_given ? "the scores are noise" : "the translation is noise"));
    }
    std::string heads;
    if (options_.what_if.given()) {
      run_what_if();
    } else {
      if (from_stdin_) {
        run_stdin();
      } else {
        run_arguments();
      }
      heads = finish();
    }
    notes_.report();
    files_->finish(heads);
  }

 private:
  void check_usage() const {
    view_.check();
    if (options_.target_given && options_.sentences.size() != 1) {
      throw UsageError("--target goes with exactly one sentence, and {} were given",
                       options_.sentences.size());
    }
    if (!options_.what_if.given()) return;
    if (options_.target_given) {
      throw UsageError(
          "--without, --force and --swap compare what is translated; leave --target out");
    }
    if (options_.sentences.size() != 1) {
      throw UsageError(
          "--without, --force and --swap compare translations of exactly one sentence; {} were "
          "given",
          options_.sentences.size());
    }
    if (view_.report || view_.aligns() || view_.tree) {
      throw UsageError(
          "--report, --align and --tree do not go with --without, --force and --swap; a page "
          "(--html) has figures and alignments before and after");
    }
  }

  void check_hypothesis() const {
    const int count = options_.target_given ? 1 : translator_->decode_config().num_return_sequences;
    if (view_.hypothesis_index() < to_size(count)) return;
    if (options_.target_given) {
      throw UsageError("--hypothesis {}: with --target there is one", view_.hypothesis);
    }
    throw UsageError(
        "--hypothesis {}: the search gives {}; ask for more with --beam {} --n-best {}",
        view_.hypothesis, count, view_.hypothesis, view_.hypothesis);
  }

  bool wants_maps() const {
    return selection_.all || selection_.last_layers || !selection_.items.empty();
  }
  bool wants_figures() const { return view_.report || alignment_.has_value(); }
  /// The head that aligns best is known after the last sentence.
  bool waits() const {
    return alignment_ && alignment_->choice.from == AlignmentChoice::From::best;
  }
  bool records() const { return options_.target_given || view_.need_records() || wants_maps(); }

  void run_arguments() {
    for (std::size_t first = 0; first < options_.sentences.size(); first += batch_) {
      const std::size_t last = std::min(first + batch_, options_.sentences.size());
      std::vector<PreparedSentence> batch;
      for (std::size_t i = first; i < last; ++i) batch.push_back(prepare(options_.sentences[i], 0));
      translate(batch);
    }
  }

  void run_what_if() {
    const std::string& sentence = options_.sentences.front();
    const PreparedSentence before = prepare(sentence, 0);
    const PreparedSentence after =
        options_.what_if.swap.empty() ? before : prepare_swapped(sentence);
    WhatIfRecord record = what_if(before, after);
    record.after.changes = options_.what_if.described();
    add_to_files(record);
    if (view_.stdout_alone()) return;
    const TerminalStyle style = terminal_style();
    output().write(what_if_text(record, style));
    if (!wants_maps()) return;
    output().write("\nBefore\n\n" + render_maps(record.before, 0, selection_, style));
    // A head that is switched off has a map of zeros: say why.
    const std::string changes = printable(fmt::format("{}", fmt::join(record.after.changes, ", ")));
    output().write(fmt::format("\nAfter: {}\n\n", changes) +
                   render_maps(record.after, 0, selection_, style));
  }

  WhatIfRecord what_if(const PreparedSentence& before, const PreparedSentence& after) const {
    return for_option("--force",
                      [&] { return translator_->what_if(before, after, changes_, detail_); });
  }

  PreparedSentence prepare_swapped(const std::string& sentence) {
    const CleanedText swapped = clean_text(options_.what_if.swapped(clean_text(sentence).text));
    notes_.cleaning("--swap", swapped.invalid_bytes, swapped.controls);
    return translator_->prepare(swapped.text);
  }

  void add_to_files(const WhatIfRecord& record) {
    std::vector<AttentionRecord> records = what_if_records(record);
    if (!view_.html.empty()) {
      for (AttentionRecord& each : records) annotate(each, {true, alignment_});
    }
    files_->add(record, records);
  }

  void run_stdin() {
    LineReader reader;
    Progress progress("sentences");
    std::size_t done = 0;
    bool more = true;
    while (more) {
      std::vector<PreparedSentence> batch;
      // A batch is cut short when no more input is ready: a person typing gets an answer a line.
      while (batch.size() < batch_ && (batch.empty() || reader.ready())) {
        const std::optional<LineReader::Line> line = reader.next();
        if (!line) {
          more = false;
          break;
        }
        batch.push_back(prepare(line->bytes, line->dropped));
      }
      if (batch.empty()) break;
      translate(batch);
      output().flush();
      done += batch.size();
      progress.update(done, reader.fraction_read());
    }
    if (done == 0 && view_.need_records()) note("stdin held no sentence: there is nothing to show");
  }

  PreparedSentence prepare(std::string_view bytes, std::size_t dropped) {
    PreparedSentence sentence = translator_->prepare(bytes);
    notes_.add(sentence, dropped, model_.transformer->config().max_positions);
    return sentence;
  }

  void translate(const std::vector<PreparedSentence>& batch) {
    if (!records()) {
      for (const std::vector<Translation>& translations : translator_->translate(batch)) {
        for (std::size_t i = 0; i < translations.size(); ++i) {
          const bool in_list = lists_translations() && !translations[i].ids.empty();
          print_translation(translations[i].text, i, translations[i].score, in_list);
        }
      }
      return;
    }
    if (options_.target_given) {
      take(record_target(batch.front()));
      return;
    }
    for (AttentionRecord& record : translator_->record(batch, detail_)) take(std::move(record));
  }

  AttentionRecord record_target(const PreparedSentence& sentence) {
    const CleanedText target = clean_text(options_.target);
    notes_.cleaning("the target", target.invalid_bytes, target.controls);
    AttentionRecord record = translator_->record_target(sentence, options_.target, detail_);
    const std::vector<int>& ids = record.hypotheses.front().produced.ids;
    notes_.add_unknown(
        to_size(std::count(ids.begin(), ids.end(), model_.tokenizer->special_tokens().unk)));
    return record;
  }

  void take(AttentionRecord record) {
    if (wants_figures()) statistics_.add(record);
    if (!waits()) {
      show(record);
      return;
    }
    if (!wants_maps() && view_.json.empty() && !view_.draws()) {  // many sentences may wait
      record.encoder_self = without_weights(record.encoder_self);
      for (HypothesisRecord& hypothesis : record.hypotheses) {
        hypothesis.decoder_self = without_weights(hypothesis.decoder_self);
      }
    }
    waiting_.push_back(std::move(record));
  }

  /// What all sentences say together, as JSON.
  std::string finish() {
    if (!wants_figures()) return "";
    HeadReport report = statistics_.report();
    report.model = model_.name;
    if (waits()) {
      alignment_->choice = resolve(alignment_->choice, report);
      for (AttentionRecord& record : waiting_) show(record);
      waiting_.clear();
    }
    if (view_.report && !view_.stdout_alone()) {
      output().write("\n" + render_head_report(report, terminal_style().width, {align_note}));
    }
    return view_.report || !view_.html.empty() ? head_report_json(report) : "";
  }

  void show(AttentionRecord& record) {
    annotate(record, {view_.report || !view_.html.empty(), alignment_});
    files_->add(record);
    if (view_.stdout_alone()) return;
    for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
      const HypothesisRecord& hypothesis = record.hypotheses[i];
      const bool in_list = lists_translations() && !hypothesis.produced.ids.empty();
      print_translation(hypothesis.text, i, hypothesis.score, in_list);
      if (!view_.aligns()) continue;
      output().write(pharaoh_line(*hypothesis.alignment, view_.align_weights) + "\n");
    }
    if (!wants_maps()) return;
    output().write("\n" +
                   render_maps(record, view_.hypothesis_index(), selection_, terminal_style()));
  }

  bool lists_translations() const { return translator_->decode_config().num_return_sequences > 1; }

  const TranslateOptions& options_;
  const ViewOptions& view_;
  bool from_stdin_;
  std::size_t batch_ = 32;
  ShowSelection selection_;
  RecordDetail detail_;
  std::optional<AlignmentOptions> alignment_;
  Changes changes_;
  ReadyModel model_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<ViewFiles> files_;
  HeadStatistics statistics_;
  std::vector<AttentionRecord> waiting_;
  SentenceNotes notes_;
};

}  // namespace

void add_translate(CLI::App& app, Run& run) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App* command = app.add_subcommand("translate", "Translate, and show every head");
  command->add_option("SENTENCE", options->sentences,
                      "Sentences; none: one a line on stdin, one translation a line on stdout");
  options->source.add_model_to(*command);
  options->source.add_to(*command);
  options->source.add_heads_to(*command);
  command->add_option("--target", options->target, "Show this translation instead of searching")
      ->type_name("TEXT")
      ->each([options](const std::string&) { options->target_given = true; });
  options->search.add_search_to(*command, SearchOptions::NBest::offered);
  options->search.add_speed_to(*command);
  options->view.add_to(*command);
  options->what_if.add_to(*command);
  command->footer(
      "Examples:\n"
      "  attn-demo translate \"The group went home\"\n"
      "  attn-demo translate \"The group went home\" --target \"Die Gruppe ging nach Hause\"\n"
      "  attn-demo translate \"The group went home\" --show cross:0 --json maps.json\n"
      "  attn-demo translate \"The group went home\" --html page.html --svg maps.svg\n"
      "  attn-demo translate \"The group went home\" --report --align best\n"
      "  attn-demo translate \"The group went home\" --without cross:1:3\n"
      "  attn-demo translate --model DIR --beam 4 < english.txt > german.txt\n"
      "  attn-demo translate -- \"-5 degrees in the morning\"");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { TranslateCommand(*options).run(); }; });
}

}  // namespace attn
