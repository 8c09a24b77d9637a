// attn-demo why: where each written word's logit came from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "analysis/alignment.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "commands/model_options.h"
#include "commands/search_options.h"
#include "files/output_file.h"
#include "raster/svg_export.h"
#include "service/html_pages.h"
#include "service/output_safety.h"
#include "service/training/untrained_model.h"
#include "service/translate_lines.h"
#include "service/why/why.h"
#include "service/why/why_csv.h"
#include "service/why/why_tables.h"
#include "terminal/console.h"
#include "view/svg/why_svg.h"
#include "view/terminal/table.h"
#include "view/terminal/why_text.h"
#include "why/why_json.h"

namespace attn {
namespace {

struct WhyOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string target, word, instead, methods, units, corrupt, json, csv, svg, png, pdf, html;
  int top = 4;
  bool target_given = false, brief = false;
};

class WhyCommand {
 public:
  explicit WhyCommand(WhyOptions options) : options_(std::move(options)) {
    check_usage();
    const ModelChoice choice = options_.source.choice();
    decode_options(options_.search);  // rejects invalid values before opening files
    use_threads(options_.search.threads);
    FileGuard guard;
    register_inputs(choice, guard);
    guard.write("--json", options_.json);
    guard.write("--csv", options_.csv);
    guard.write("--svg", options_.svg);
    guard.write("--png", options_.png);
    guard.write("--pdf", options_.pdf);
    guard.write("--html", options_.html);
    model_ = open_or_make_model(choice);
    settings_ = translation_settings(model_, options_.search);
    translator_.emplace(make_translator(model_));
  }

  void run() {
    note_all(model_.notes);
    if (model_.seed) {
      note(fmt::format("random weights (seed {}): the numbers show the mechanism, not German",
                       *model_.seed));
    }
    PreparedLine line =
        prepare_line(*translator_, settings_, options_.sentences.front(), Splitting::never);
    notes_.add(line, translator_->max_source_tokens());
    const PreparedSentence sentence = std::move(line.parts.front());
    WhyAnswer answer =
        answer_why({*translator_, *model_.transformer, settings_, say}, sentence, question_);
    notes_.report();
    if (!options_.json.empty()) write_output(options_.json, why_json(answer.why));
    if (!options_.csv.empty()) write_output(options_.csv, why_csv(answer.why));
    write_pictures(answer);
    if (!options_.html.empty()) write_page(answer);
    if (std::ranges::any_of(files(), [](const std::string* file) { return !file->empty(); }))
      return;
    output().write(why_text(answer.words, {options_.top, options_.brief}, terminal_style()));
    if (options_.brief && options_.methods.empty()) return;
    const std::string tables =
        render_tables(why_tables(answer, options_.top), terminal_style().width);
    if (!tables.empty()) output().write("\n" + tables);
  }

 private:
  /// Returns the output files, of which at most one may be stdout.
  std::array<const std::string*, 6> files() const {
    return {&options_.json, &options_.csv, &options_.svg,
            &options_.png,  &options_.pdf, &options_.html};
  }

  void write_pictures(const WhyAnswer& answer) const {
    if (options_.svg.empty() && options_.png.empty() && options_.pdf.empty()) return;
    constexpr double kPngScale = 2;
    const std::string svg = why_svg(answer.words, answer.why.model);
    if (!options_.svg.empty()) write_output(options_.svg, svg);
    if (!options_.png.empty()) write_output(options_.png, svg_to_png(svg, kPngScale));
    if (!options_.pdf.empty()) write_output(options_.pdf, svg_to_pdf(svg));
  }

  /// Writes the page of the record with the receipts of the words in question.
  void write_page(WhyAnswer& answer) const {
    AttentionRecord& record = answer.record;
    annotate(record, {true, AlignmentOptions{}});
    PageContent page(options_.html, {});
    page.add(record);
    const std::string html = page.html("");
    note_all(page.notes(html));
    write_output(options_.html, html);
  }

  void check_usage() {
    if (options_.sentences.size() != 1) {
      throw UsageError("why takes exactly one sentence, but you gave {}{}",
                       options_.sentences.size(),
                       are_single_words(options_.sentences)
                           ? "; put quotation marks around the words of a sentence"
                           : "");
    }
    if (!options_.units.empty() && options_.units != "words" && options_.units != "tokens") {
      throw UsageError("--units {}: expected words or tokens", excerpt(options_.units));
    }
    if (options_.source.models.size() > 1) {
      throw UsageError(
          "why explains one model, but you gave {} --model: an ensemble's logits are not a sum of "
          "one model's parts",
          options_.source.models.size());
    }
    if (!options_.methods.empty()) {
      question_.methods = for_field("methods", [&] { return parse_why_methods(options_.methods); });
    }
    if (options_.target_given) question_.target = options_.target;
    question_.by_tokens = options_.units == "tokens";
    question_.page = !options_.html.empty();
    const auto to_stdout = [](const std::string* file) { return *file == "-"; };
    if (std::ranges::count_if(files(), to_stdout) > 1) {
      throw UsageError("only one output can write to stdout (-); name files for the others");
    }
    question_.corrupt = options_.corrupt;
    question_.word = options_.word;
    question_.instead = options_.instead;
  }

  WhyOptions options_;
  WhyQuestion question_;
  ReadyModel model_;
  TranslationSettings settings_;
  std::optional<Translator> translator_;
  SentenceNotes notes_{say};
};

/// Adds the options that say what is explained, and how it is printed.
void add_question_options(CLI::App& command, WhyOptions& options) {
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type) {
    return command.add_option(name, value, help)->type_name(type)->group(help_group::explained);
  };
  text("--word", options.word, "The written word: its text, or the number of a token, from 0 [all]",
       "N|TEXT");
  text("--instead", options.instead,
       "With --word: the word to compare with. Otherwise: a translation that differs in one word "
       "[the runner-up]",
       "TEXT");
  text("--methods", options.methods,
       "receipt, occlusion, contributions, lens, gradients, integrated, patch, or all; separate "
       "several by commas [receipt]",
       "LIST");
  text("--corrupt", options.corrupt,
       "The sentence with words swapped, for patching, which shows the activations that carry the "
       "difference",
       "TEXT");
  text("--units", options.units, "Sum by words or tokens [words]", "words|tokens");
  add_number(command, options.top, WholeField{"top", 1, 1000},
             "Number of words that each line names; the others are summed [4]")
      ->type_name("N")
      ->group(help_group::terminal);
  command.add_flag("--short", options.brief, "One line per word, for a blackboard")
      ->group(help_group::terminal);
}

void add_file_options(CLI::App& command, WhyOptions& options) {
  const auto file = [&](const char* name, std::string& path, const char* help) {
    command.add_option(name, path, help)->type_name("FILE")->group(help_group::files);
  };
  file("--json", options.json, "Write every number as JSON; - is stdout, with nothing else");
  file("--csv", options.csv, "Write the numbers as a table; - is stdout, with nothing else");
  file("--svg", options.svg, "Draw each word's receipt as bars; - is stdout, with nothing else");
  file("--png", options.png, "The same as PNG");
  file("--pdf", options.pdf, "The same as PDF");
  file("--html", options.html,
       "Write a page with the maps and receipts; - is stdout, with nothing else");
}

}  // namespace

void add_why(CLI::App& app, Run& run) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command =
      app.add_subcommand("why", "Show why each word was written, as contributions that add up");
  command->add_option("SENTENCE", options->sentences, "The sentence")->group(help_group::reads);
  command->add_option("--target", options->target, "Explain this translation")
      ->type_name("TEXT")
      ->each([options](const std::string&) { options->target_given = true; })
      ->group(help_group::reads);
  add_question_options(*command, *options);
  add_file_options(*command, *options);
  add_color_to(*command);
  options->source.add_models_to(*command, false);
  options->source.add_to(*command);
  options->source.add_globals_to(*command);
  options->source.add_prefix_to(*command);
  options->source.add_heads_to(*command);
  add_search_options(*command, options->search, on_explain);
  command->footer(
      "Examples:\n"
      "  attn-demo why \"The group went home\"\n"
      "  attn-demo why \"The group went home\" --word Hause --instead Haus\n"
      "  attn-demo why \"The group went home\" --methods all --json why.json");
  refuse_empty_values(*command, {"--target"});
  command->callback([options, &run] { run = [options] { WhyCommand(*options).run(); }; });
}

}  // namespace attn
