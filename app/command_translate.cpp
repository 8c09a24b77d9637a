// attn-demo translate: sentences in, translations out, with every head on view.
#include <algorithm>
#include <memory>

#include "arguments.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands.h"
#include "console.h"
#include "model_source.h"
#include "search_options.h"
#include "sentence_notes.h"
#include "translate/translator.h"
#include "view/json_record.h"
#include "view/terminal.h"
#include "view/what_if.h"
#include "what_if_options.h"

namespace attn {
namespace {

struct TranslateOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string target;
  bool target_given = false;
  std::vector<std::string> show;
  std::string json;
  WhatIfOptions what_if;
};

/// The command while it runs.
class TranslateCommand {
 public:
  explicit TranslateCommand(const TranslateOptions& options)
      : options_(options), from_stdin_(options.sentences.empty()) {
    const DecodeOptions given = options.search.decode();
    batch_ = options.search.batch_size();
    selection_ = parse_show(options.show);
    if (options.show.empty() && from_stdin_) selection_ = parse_show({"none"});
    if (options.target_given && options.sentences.size() != 1) {
      throw UsageError("--target goes with exactly one sentence, and {} were given",
                       options.sentences.size());
    }
    if (options.what_if.given() && (options.sentences.size() != 1 || options.target_given)) {
      throw UsageError(
          "--without, --force and --swap compare translations of exactly one sentence, without "
          "--target; {} sentences were given",
          options.sentences.size());
    }
    options.search.use_threads();
    if (!options.json.empty() && options.json != "-") {
      json_file_ = std::make_unique<AtomicFile>(options.json);
    }
    model_ = load_or_make(options.source);
    translator_ = make_translator(model_, given);
    const ModelSummary summary = summarise(model_.transformer->config());
    check_show(selection_, summary);
    changes_ = options.what_if.changes(summary);
    if (options.what_if.given() && options.show.empty()) {
      selection_ = options.what_if.selection(changes_);
    }
  }

  void run() {
    for (const std::string& text : model_.notes) note(printable(text));
    if (model_.seed) {
      note(fmt::format(
          "random weights (seed {}): {}; the maps show the mechanism, not German", *model_.seed,
          options_.target_given ? "the scores are noise" : "the translation is noise"));
    }
    if (options_.what_if.given()) {
      run_what_if();
    } else if (from_stdin_) {
      run_stdin();
    } else {
      run_arguments();
    }
    notes_.report();
    if (json_file_) json_file_->commit();
  }

 private:
  bool wants_maps() const {
    return selection_.all || selection_.last_layers || !selection_.items.empty();
  }
  bool json_alone() const { return options_.json == "-"; }
  bool records() const {
    return options_.target_given || !options_.json.empty() || (wants_maps() && !json_alone());
  }

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
        options_.what_if.swap.empty()
            ? before
            : prepare(options_.what_if.swapped(clean_text(sentence).text), 0);
    WhatIfRecord record = translator_->what_if(before, after, changes_);
    record.changes = options_.what_if.described();
    if (!options_.json.empty()) {
      const std::string line = what_if_json(record);
      if (json_alone()) {
        output().write(line);
        return;
      }
      json_file_->write(line);
    }
    const TerminalStyle style = terminal_style();
    output().write(what_if_text(record, style));
    if (!wants_maps()) return;
    output().write("\nBefore\n\n" + render_maps(record.before, 0, selection_, style));
    output().write("\nAfter\n\n" + render_maps(record.after, 0, selection_, style));
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
          print_translation(i, translations[i].score, translations[i].text,
                            translations[i].ids.empty());
        }
      }
      return;
    }
    std::vector<AttentionRecord> all;
    if (options_.target_given) {
      const CleanedText target = clean_text(options_.target);
      notes_.cleaning("the target", target.invalid_bytes, target.controls);
      all.push_back(translator_->record_target(batch.front(), options_.target));
      const std::vector<int>& ids = all.front().hypotheses.front().produced.ids;
      notes_.add_unknown(static_cast<std::size_t>(
          std::count(ids.begin(), ids.end(), model_.tokenizer->special_tokens().unk)));
    } else {
      all = translator_->record(batch);
    }
    for (const AttentionRecord& record : all) print_record(record);
  }

  void print_translation(std::size_t rank, float score, const std::string& text, bool empty) {
    // n-best lists say which of the translations a line is; a single one is a line of text alone.
    if (translator_->decode_config().num_return_sequences > 1 && !empty) {
      output().write(fmt::format("{}\t{:.4f}\t", rank + 1, score));
    }
    output().write(safe_for_stdout(text) + "\n");
  }

  /// What a model writes is text from outside: controls of its vocabulary never reach stdout raw,
  /// and on a terminal they, escapes and bidirectional marks are made visible.
  static std::string safe_for_stdout(const std::string& text) {
    return stdout_is_terminal() ? printable(text) : clean_text(text).text;
  }

  void print_record(const AttentionRecord& record) {
    if (!options_.json.empty()) {
      const std::string line = to_json_line(record);
      if (json_alone()) {
        output().write(line);
        return;
      }
      json_file_->write(line);
    }
    for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
      const HypothesisRecord& hypothesis = record.hypotheses[i];
      print_translation(i, hypothesis.score, hypothesis.text, hypothesis.produced.ids.empty());
    }
    if (!wants_maps()) return;
    const TerminalStyle style = terminal_style();
    output().write("\n" + render_maps(record, 0, selection_, style));
  }

  const TranslateOptions& options_;
  bool from_stdin_;
  std::size_t batch_ = 32;
  ShowSelection selection_;
  Changes changes_;
  ReadyModel model_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<AtomicFile> json_file_;
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
  command
      ->add_option("--show", options->show,
                   "Maps to print: encoder, decoder or cross, all or none [last layers]")
      ->type_name("KIND[:LAYER[:HEAD]]")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--json", options->json, "Write attention records; - is stdout, alone")
      ->type_name("FILE");
  options->what_if.add_to(*command);
  command->footer(
      "Examples:\n"
      "  attn-demo translate \"The group went home\"\n"
      "  attn-demo translate \"The group went home\" --target \"Die Gruppe ging nach Hause\"\n"
      "  attn-demo translate \"The group went home\" --show cross:0 --json maps.json\n"
      "  attn-demo translate \"The group went home\" --without cross:1:3\n"
      "  attn-demo translate --model DIR --beam 4 < english.txt > german.txt\n"
      "  attn-demo translate -- \"-5 degrees in the morning\"");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { TranslateCommand(*options).run(); }; });
}

}  // namespace attn
