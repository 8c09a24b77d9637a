// attn-demo translate: translates sentences and shows every attention head.
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
#include "commands/model_options.h"
#include "commands/search_options.h"
#include "commands/translate_setup.h"
#include "commands/translate_text.h"
#include "commands/view_options.h"
#include "files/line_output.h"
#include "files/output_file.h"
#include "files/view_files.h"
#include "service/model/languages.h"
#include "service/model/open_model.h"
#include "service/progress.h"
#include "service/what_if.h"
#include "service/why/measured_maps.h"
#include "service/why/why.h"
#include "terminal/console.h"
#include "terminal/line_input.h"
#include "translate/translator.h"

namespace attn {
namespace {

/// Number of batches of lines that are read ahead; their sentences are searched in groups of
/// `--batch`. With this many, only a small part of the time is spent at the end of the window,
/// where no further sentence joins.
constexpr std::size_t kWindow = 16;

/// Runs the command: translates the input and shows the results.
class TranslateCommand {
 public:
  TranslateCommand(const TranslatePlan& plan, TranslateInputs& inputs, TranslateDisplay display)
      : plan_(plan), options_(plan.options), inputs_(inputs), display_(std::move(display)) {
    const auto measure = [this](const AttentionRecord& record, const MeasuredItem& item,
                                bool scaled) { return measured(record, item, scaled); };
    inputs_.files.measure_with(measure);
    display_.output.measure_with(measure);
    inputs_.files.choose(display_.drawn);
    display_.output.select(display_.shown);
    if (!options_.keeps_lines_whole()) notes_.suggest_split();
    texts_ = markup_settings(options_.search, options_.view,
                             {plan.split, options_.search.batch, kWindow});
  }

  void run() {
    for (const ReadyModel& model : inputs_.models.models) note_all(model.notes);
    if (const auto seed = inputs_.models.mapped().seed) {
      note(fmt::format("random weights (seed {}): {}; the maps show the mechanism, not German",
                       *seed,
                       options_.forced() ? "the scores are noise" : "the translation is noise"));
    }
    std::string heads;
    if (options_.what_if.given()) {
      run_what_ifs();
    } else {
      if (options_.by_line() && is_html()) {
        translate({{whole_text(*inputs_.lines), 0}});
      } else if (options_.by_line()) {
        run_lines();
      } else {
        run_arguments();
      }
      heads = display_.output.finish(inputs_.models.mapped().name, inputs_.files);
    }
    notes_.report();
    if (const std::string kept = markup_note(markup_); !kept.empty()) note(kept);
    inputs_.files.finish(heads);
    if (inputs_.translations) inputs_.translations->commit();
  }

 private:
  bool is_html() const { return options_.search.html_input; }

  void run_arguments() {
    const std::size_t count = options_.sentences.size();
    for (const std::string& sentence : options_.sentences) {
      hint_at_file(sentence);
      if (is_head_name(sentence)) {
        note(fmt::format("translating {0} as a sentence; --show {0} shows the head", sentence));
      }
    }
    if (count == 1) hint_at_sentence(options_.sentences.front());
    if (count > 1 && are_single_words(options_.sentences)) {
      note(
          fmt::format("translating {} one-word sentences; use quotation marks to make one", count));
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

  void run_what_ifs() {
    const bool several = options_.sentences.size() > 1;
    for (const std::string& sentence : options_.sentences) {
      if (several && !options_.view.stdout_alone()) {
        const bool first = &sentence == &options_.sentences.front();
        output().write(fmt::format("{}source:  {}\n", first ? "" : "\n", printable(sentence)));
      }
      display_.output.select(display_.shown);
      run_what_if(sentence);
    }
    display_.output.finish_what_ifs(inputs_.models.mapped().name);
  }

  void run_what_if(const std::string& sentence) {
    if (const auto said = whole_line_note(
            prepare_line(inputs_.translator, inputs_.settings, sentence, Splitting::automatic))) {
      note(*said);
    }
    const Progress progress("translating");
    const WhatIfRequest request =
        what_if_request(inputs_.translator, inputs_.settings, options_.what_if,
                        prepare({sentence, 0}).parts.front(), target());
    if (!options_.what_if.swap.empty()) {
      notes_.note_cleaning(Field{"swap"}, request.after.invalid_bytes, request.after.controls);
    }
    WhatIfRecord record = apply_what_if(inputs_.translator, inputs_.settings, request,
                                        display_.detail, &display_.changes);
    if (options_.target_given) note_target(options_.target, record.before);
    if (options_.view.show.empty())
      inputs_.files.choose(options_.what_if.selection(display_.changes));
    display_.output.annotate_what_if(record);
    add_to_files(record);
    display_.output.print(record);
  }

  std::optional<std::string> target() const {
    return options_.target_given ? std::optional(options_.target) : std::nullopt;
  }

  void add_to_files(const WhatIfRecord& record) {
    std::vector<AttentionRecord> records = what_if_records(record);
    if (!options_.view.html.empty()) {
      for (AttentionRecord& each : records) annotate(each, {true, display_.output.alignment()});
    }
    inputs_.files.add(record, records);
  }

  void run_lines() {
    keep_freed_memory();
    if (inputs_.pairs) return run_pairs();
    const bool recorded = display_.output.wants_records();
    const std::size_t done =
        inputs_.lines->for_each(recorded ? options_.search.batch : kWindow * options_.search.batch,
                                [this](const LineSource::Lines& lines) { translate(lines); });
    if (done > 0) return;
    if (options_.view.need_records()) {
      note(inputs_.lines->name() + " held no sentence: there is nothing to show");
    } else if (!inputs_.lines->is_stdin()) {
      note(inputs_.lines->name() + " held no sentence");
    }
  }

  /// Scores and records the pairs of --input and --targets, one batch of lines at a time.
  void run_pairs() {
    Progress progress("scoring", "pairs");
    const Lines& sources = inputs_.pairs->sources();
    for (std::size_t i = 0; i < sources.size(); ++i) {
      record_pair({sources[i], 0}, inputs_.pairs->next());
      if ((i + 1) % options_.search.batch == 0) output().flush();
      progress.update_of(i + 1, sources.size());
    }
    if (sources.empty()) note("--input held no sentence");
  }

  void record_pair(const LineReader::Line& line, const std::string& target) try {
    AttentionRecord scored =
        record_sentence(inputs_.translator, inputs_.settings, prepare(line).parts.front(), target,
                        display_.output.needed(display_.detail));
    note_target(target, scored);
    add_why(scored);
    display_.output.take({std::move(scored)}, inputs_.files);
  } catch (const InputError& error) {
    throw InputError("{}: {}", inputs_.pairs->where(), error.what());
  }

  PreparedLine prepare(const LineReader::Line& line) {
    PreparedLine prepared =
        prepare_line(inputs_.translator, inputs_.settings, line.bytes, plan_.split);
    notes_.add(prepared, inputs_.translator.max_source_tokens(), line.dropped);
    return prepared;
  }

  void translate(const LineSource::Lines& lines) {
    if (options_.target_given || (display_.output.wants_records() && !is_html())) {
      return record(lines);
    }
    std::vector<std::string> texts;
    for (const LineReader::Line& line : lines) {
      texts.push_back(is_html() ? line.bytes : without_cursor_moves(line.bytes));
    }
    const auto prepared = [&](std::size_t text, const PreparedLine& line) {
      notes_.add(line, inputs_.translator.max_source_tokens(), lines[text].dropped);
    };
    for (const TranslatedText& text :
         translate_texts(inputs_.translator, inputs_.settings, texts, texts_, {prepared})) {
      display_.output.print(text.translations);
      markup_ += text.markup;
    }
  }

  /// Translates and records every head, or scores the given target.
  void record(const LineSource::Lines& lines) {
    std::vector<PreparedLine> prepared;
    for (const LineReader::Line& line : lines) {
      prepared.push_back(prepare(line));
      shown_markup_.add(line.bytes);
    }
    if (options_.target_given) {
      AttentionRecord scored =
          record_sentence(inputs_.translator, inputs_.settings, prepared.front().parts.front(),
                          target(), display_.detail);
      note_target(options_.target, scored);
      add_why(scored);
      display_.output.take({std::move(scored)}, inputs_.files);
      return;
    }
    auto line = prepared.begin();
    LineRecords parts;
    const std::vector<PreparedSentence> all = all_parts(prepared);
    // Handles --batch parts at a time, because a line may have hundreds of parts.
    for (std::size_t first = 0; first < all.size(); first += options_.search.batch) {
      const auto next =
          std::span(all).subspan(first, std::min(options_.search.batch, all.size() - first));
      for (AttentionRecord& found : inputs_.translator.record(
               {next, inputs_.settings, display_.output.needed(display_.detail)})) {
        found.part = line_part(*line, parts.size(), lines_taken_ + 1);
        add_why(found);
        parts.push_back(std::move(found));
        if (parts.size() < line->parts.size()) continue;
        display_.output.take(std::exchange(parts, {}), inputs_.files);
        ++line;
        ++lines_taken_;
      }
    }
  }

  MeasuredRecord measured(const AttentionRecord& record, const MeasuredItem& item,
                          bool scaled) const try {
    return measure_record(*inputs_.models.mapped().transformer, record, item, scaled);
  } catch (const InputError& error) {
    throw InputError("--show {}: {}", to_string(item), error.what());
  }

  /// Adds receipts where they are wanted and can be computed.
  void add_why(AttentionRecord& record) {
    if (!display_.output.wants_receipts() || inputs_.models.models.size() > 1) return;
    const Transformer& model = *inputs_.models.mapped().transformer;
    const std::string obstacle =
        add_receipts({inputs_.translator, model, inputs_.settings, say}, record);
    if (options_.view.why && !obstacle.empty()) {
      throw InputError("no receipts for {}: {}; leave --why out", model.name(), obstacle);
    }
  }

  /// Notes problems of --target, for example if it is empty.
  void note_target(const std::string& target, const AttentionRecord& record) {
    if (options_.target_given && target.empty()) {
      note("--target is empty: the maps show only its end symbol");
    }
    if (record.hypotheses.empty()) return;
    notes_.add_target(target, record.hypotheses.front().produced.ids,
                      inputs_.models.mapped().tokenizer->special_tokens().unk);
  }

  const TranslatePlan& plan_;
  const TranslateOptions& options_;
  TranslateInputs& inputs_;
  TranslateDisplay display_;
  std::size_t lines_taken_ = 0;
  SentenceNotes notes_{say};
  TextSettings texts_;
  MarkupCounts markup_;  ///< totals over all translations
  ShownMarkupNote shown_markup_;
};

/// Adds --without, --force and --swap.
void add_what_if_to(CLI::App& command, WhatIfOptions& words) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* text,
                       const char* form) {
    command.add_option(name, values, text)
        ->type_name(form)
        ->take_all()
        ->allow_extra_args(false)
        ->group(help_group::what_if);
  };
  add("--without", words.without, "Switch a head off, or a layer's heads, and compare",
      "KIND:LAYER[:HEAD]|best");
  add("--force", words.force,
      "Put all of a query's weight on one key (each a number or a word), and compare",
      "KIND:LAYER:HEAD:QUERY=KEY");
  add("--swap", words.swap, "Replace a word (named, or counted from 0), and compare", "OLD=NEW");
}

}  // namespace

void add_translate(CLI::App& app, Run& run) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App* command =
      app.add_subcommand("translate", "Translate, and show the attention of every head");
  command
      ->add_option("SENTENCE", options->sentences,
                   "Sentences; without any, stdin is translated line by line")
      ->group(help_group::reads);
  command->add_option("--input", options->input, "Translate this file's lines; - is stdin")
      ->type_name("FILE")
      ->group(help_group::reads);
  command
      ->add_option("--output", options->output,
                   "Write the translations to this file, one per line; - is stdout")
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
  command->callback([options, &run] {
    run = [options] {
      const TranslatePlan plan = plan_translation(*options);
      TranslateInputs inputs = open_translation(plan);
      TranslateCommand(plan, inputs, choose_display(plan, inputs)).run();
    };
  });
}

}  // namespace attn
