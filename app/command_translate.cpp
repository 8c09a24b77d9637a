// attn-demo translate: sentences in, translations out, with every head on view.
#include <omp.h>

#include <algorithm>
#include <memory>

#include "arguments.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands.h"
#include "console.h"
#include "model_source.h"
#include "translate/translator.h"
#include "view/json_record.h"
#include "view/terminal.h"

namespace attn {
namespace {

struct TranslateOptions {
  ModelOptions source;
  std::vector<std::string> sentences;
  std::string target;
  bool target_given = false;
  std::string beam, n_best, length_penalty, early_stopping, max_length, threads, batch = "32";
  std::vector<std::string> show;
  std::string json;
};

DecodeOptions decode_options(const TranslateOptions& o) {
  DecodeOptions d;
  const auto whole = [](const char* name, const std::string& text, std::uint64_t high) {
    return text.empty() ? std::optional<int>() : static_cast<int>(parse_whole(name, text, 1, high));
  };
  d.num_beams = whole("--beam", o.beam, 1000);
  d.num_return_sequences = whole("--n-best", o.n_best, 1000);
  if (!o.length_penalty.empty()) {
    d.length_penalty = parse_decimal("--length-penalty", o.length_penalty, -100, 100);
  }
  if (!o.early_stopping.empty()) {
    if (o.early_stopping == "true") {
      d.early_stopping = EarlyStopping::yes;
    } else if (o.early_stopping == "false") {
      d.early_stopping = EarlyStopping::no;
    } else if (o.early_stopping == "never") {
      d.early_stopping = EarlyStopping::never;
    } else {
      throw UsageError("--early-stopping {}: expected true, false or never",
                       printable(o.early_stopping));
    }
  }
  // The option counts produced tokens with the end symbol; `generate` counts the start symbol, too.
  if (const auto most = whole("--max-length", o.max_length, 1'000'000)) d.max_length = *most + 1;
  return d;
}

/// The command while it runs.
class TranslateCommand {
 public:
  explicit TranslateCommand(const TranslateOptions& options)
      : options_(options), from_stdin_(options.sentences.empty()) {
    const DecodeOptions given = decode_options(options);
    batch_ = parse_whole("--batch", options.batch, 1, 100'000);
    selection_ = parse_show(options.show);
    if (options.show.empty() && from_stdin_) selection_ = parse_show({"none"});
    if (options.target_given && options.sentences.size() != 1) {
      throw UsageError("--target goes with exactly one sentence, and {} were given",
                       options.sentences.size());
    }
    const int cores = std::min(omp_get_max_threads(), 4);
    set_threads(options.threads.empty()
                    ? cores
                    : static_cast<int>(parse_whole("--threads", options.threads, 1, 1024)));
    if (!options.json.empty() && options.json != "-") {
      json_file_ = std::make_unique<AtomicFile>(options.json);
    }
    model_ = load_or_make(options.source);
    const DecodeOptions merged = merge(given, model_.decode);
    const int beams = merged.num_beams.value_or(1);
    if (given.num_return_sequences && *given.num_return_sequences > beams) {
      throw UsageError("--n-best {} is more than the {} beam{} of the search; raise --beam",
                       *given.num_return_sequences, beams, beams == 1 ? "" : "s");
    }
    translator_ =
        std::make_unique<Translator>(*model_.transformer, *model_.tokenizer,
                                     resolve(merged, model_.default_forced_eos, model_.name));
    ModelSummary summary = summarise(model_.transformer->config());
    summary.name = model_.name;
    summary.random_weights = model_.seed.has_value();
    summary.seed = model_.seed;
    check_show(selection_, summary);
    translator_->describe(std::move(summary));
  }

  void run() {
    for (const std::string& text : model_.notes) note(printable(text));
    if (model_.seed) {
      note(fmt::format(
          "random weights (seed {}): {}; the maps show the mechanism, not German", *model_.seed,
          options_.target_given ? "the scores are noise" : "the translation is noise"));
    }
    if (from_stdin_) {
      run_stdin();
    } else {
      run_arguments();
    }
    report_once_more();
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
    ++sentences_;
    unknown_ += sentence.unknown;
    if (dropped > 0 || sentence.cut_tokens > 0) {
      if (cut_++ == 0) {
        note(fmt::format("sentence {} is longer than the model's {} positions and was cut",
                         sentences_, model_.transformer->config().max_positions));
      }
    }
    note_cleaning(fmt::format("sentence {}", sentences_), sentence.invalid_bytes,
                  sentence.controls);
    return sentence;
  }

  /// Says what was replaced in a text, the first time that each happens.
  void note_cleaning(const std::string& text, std::size_t invalid_bytes, std::size_t controls) {
    if (invalid_bytes > 0 && !invalid_noted_) {
      note(text + " is not valid UTF-8; what is not was replaced by U+FFFD (said once)");
      invalid_noted_ = true;
    }
    if (controls > 0 && !controls_noted_) {
      note(text + " holds control characters; they were replaced by U+FFFD (said once)");
      controls_noted_ = true;
    }
  }

  void report_once_more() {
    if (cut_ > 1) note(fmt::format("{} sentences in all were cut", cut_));
    if (unknown_ > 0) {
      note(fmt::format("{} piece{} not in the vocabulary became <unk>", unknown_,
                       unknown_ == 1 ? "" : "s"));
    }
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
      note_cleaning("the target", target.invalid_bytes, target.controls);
      all.push_back(translator_->record_target(batch.front(), options_.target));
      const std::vector<int>& ids = all.front().hypotheses.front().produced.ids;
      unknown_ += static_cast<std::size_t>(
          std::count(ids.begin(), ids.end(), model_.tokenizer->special_tokens().unk));
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
  ReadyModel model_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<AtomicFile> json_file_;
  std::size_t sentences_ = 0;
  bool invalid_noted_ = false;
  bool controls_noted_ = false;
  std::size_t unknown_ = 0;
  std::size_t cut_ = 0;  ///< sentences longer than the positions
};

void add_search_options(CLI::App& command, TranslateOptions& o) {
  command.add_option("--beam", o.beam, "Beams; 1 is greedy search")->type_name("K");
  command.add_option("--n-best", o.n_best, "Print the N best: rank, score, text, tab-separated")
      ->type_name("N");
  command
      .add_option("--length-penalty", o.length_penalty,
                  "Scores are divided by length^A; above 0 favours long translations")
      ->type_name("A");
  command
      .add_option("--early-stopping", o.early_stopping,
                  "When a beam search ends: true, false or never")
      ->type_name("true|false|never");
  command.add_option("--max-length", o.max_length, "Most tokens produced, the end symbol included")
      ->type_name("N");
}

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
  add_search_options(*command, *options);
  command->add_option("--threads", options->threads, "Threads [the cores, at most 4]")
      ->type_name("N");
  command->add_option("--batch", options->batch, "Sentences translated together [32]")
      ->type_name("N");
  command
      ->add_option("--show", options->show,
                   "Maps to print: encoder, decoder or cross, all or none [last layers]")
      ->type_name("KIND[:LAYER[:HEAD]]")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--json", options->json, "Write attention records; - is stdout, alone")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  attn-demo translate \"The group went home\"\n"
      "  attn-demo translate \"The group went home\" --target \"Die Gruppe ging nach Hause\"\n"
      "  attn-demo translate \"The group went home\" --show cross:0 --json maps.json\n"
      "  attn-demo translate --model DIR --beam 4 < english.txt > german.txt\n"
      "  attn-demo translate -- \"-5 degrees in the morning\"");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { TranslateCommand(*options).run(); }; });
}

}  // namespace attn
