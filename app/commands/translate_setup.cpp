#include "commands/translate_setup.h"

#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/translate_text.h"
#include "config/key_reader.h"
#include "config/option_table.h"
#include "service/field_text.h"
#include "service/measure/alignment_heads.h"
#include "service/model/languages.h"
#include "service/search_settings.h"
#include "service/training/untrained_model.h"
#include "terminal/console.h"

namespace attn {
namespace {

void check_what_if(const TranslateOptions& options) {
  if (!options.what_if.given()) return;
  if (options.by_line()) {
    throw UsageError("--without, --force and --swap need a sentence as an argument");
  }
  if (!options.output.empty()) {
    throw UsageError("--output cannot be combined with --without, --force and --swap; use --json");
  }
  if (options.view.tree || options.view.why) {
    throw UsageError("{} cannot be combined with --without, --force and --swap",
                     options.view.tree ? "--tree" : "--why");
  }
}

void check_usage(const TranslateOptions& options, const ModelChoice& model) {
  const char* given = options.target_option();
  options.view.check();
  if (options.search.html_input) {
    check_html_input(options.view, options.forced()          ? given
                                   : options.what_if.given() ? "--without, --force and --swap"
                                                             : "");
  }
  if (options.search.sample && (options.forced() || options.view.tree)) {
    throw UsageError("--sample cannot be combined with {}",
                     options.view.tree ? "--tree, which shows a beam search"
                                       : fmt::format("{}, which needs no search", given));
  }
  if (!options.targets.empty() && (!options.by_line() || options.target_given)) {
    throw UsageError(
        "--targets needs --input FILE, the sources of its lines, and cannot be combined with {}",
        options.target_given ? "--target" : "sentences as arguments");
  }
  model.maps_index();
  if (model.several() && options.keeps_lines_whole()) {
    throw UsageError("several --model cannot be combined with {}; give one of them",
                     options.forced() ? given : "--without, --force and --swap");
  }
  if (model.several() && options.view.why) {
    throw UsageError(
        "--why explains one model, but you gave several --model: an ensemble's logits are not a "
        "sum of one model's parts");
  }
  if (!options.input.empty() && !options.by_line()) {
    throw UsageError("--input reads sentences from a file, so leave out the sentence \"{}\"",
                     excerpt(options.sentences.front()));
  }
  if (options.target_given && options.sentences.size() != 1) {
    throw UsageError("--target needs exactly one sentence, but you gave {}",
                     options.sentences.size());
  }
  check_what_if(options);
}

Splitting choose_splitting(const TranslateOptions& options) {
  const Splitting split = splitting_of(options.search);
  if (!options.keeps_lines_whole()) return split;
  if (split == Splitting::sentences || split == Splitting::document) {
    throw UsageError("{} cannot be combined with {}",
                     split == Splitting::document ? "--document" : "--split sentences",
                     options.forced() ? "--target and --targets, which translate the whole line"
                                      : "--without, --force and --swap");
  }
  return Splitting::never;
}

/// Measures need the values of one model, run as it is.
void check_measured(const TranslateOptions& options, const TranslatePlan& plan) {
  if (plan.show.measured.empty()) return;
  const std::string name = to_string(plan.show.measured.front());
  if (plan.model.several()) {
    throw UsageError("--show {} measures the values of one model, and several --model are given",
                     name);
  }
  if (options.what_if.given()) {
    throw UsageError("--show {} does not go with --without, --force and --swap", name);
  }
}

void check_hypothesis(const TranslateOptions& options, const DecodeConfig& decode) {
  const std::size_t wanted = options.view.hypothesis;
  const int count = options.forced() ? 1 : decode.num_return_sequences;
  if (wanted <= to_size(count)) return;
  if (options.forced()) {
    throw UsageError("--hypothesis {}: with --target or --targets there is only one translation",
                     wanted);
  }
  throw UsageError("--hypothesis {}: the search gives {}; ask for more with --beam {} --n-best {}",
                   wanted, count, wanted, wanted);
}

/// Says which options of the search have no effect on given translations. The length penalty is
/// part of their scores.
void note_unused_search(const TranslateOptions& options) {
  if (!options.forced()) return;
  std::vector<std::string> unused;
  for (const OptionSpec* option : search_options_at(on_translate)) {
    if (option->group != search_option("beam").group || option->name == "length_penalty") continue;
    if (is_given(options.search, *option)) unused.push_back(option_name(option->name));
  }
  if (unused.empty()) return;
  say(fmt::format("{} {} no effect: nothing is searched, because {} gives the translation",
                  list_words(unused, "and"), unused.size() == 1 ? "has" : "have",
                  options.target_option()));
}

/// True if maps or alignments are wanted, so that it matters which head aligns best.
bool needs_heads(const TranslateOptions& options) {
  const std::vector<std::string>& show = options.view.show;
  if (options.view.need_records() || options.what_if.given()) return true;
  return show.empty() ? !options.by_line() && !options.writes_lines()
                      : show != std::vector<std::string>{"none"};
}

}  // namespace

TranslatePlan plan_translation(const TranslateOptions& options) {
  TranslatePlan plan{options, options.source.choice(), {}, {}};
  check_usage(options, plan.model);
  decode_options(options.search);  // rejects invalid values before opening files
  plan.split = choose_splitting(options);
  plan.show = for_field("show", [&] { return parse_map_selection(options.view.show); });
  check_measured(options, plan);
  return plan;
}

TranslateInputs open_translation(const TranslatePlan& plan) {
  const TranslateOptions& options = plan.options;
  use_threads(options.search.threads);
  FileGuard guard(options.by_line() && LineSource::names_stdin(options.input));
  register_inputs(plan.model, guard);
  guard.read("--input", options.input);
  guard.read("--targets", options.targets);
  guard.write("--output", options.output);
  std::optional<LineSource> lines;
  std::optional<ForcedPairs> pairs;
  if (!options.targets.empty()) {
    pairs.emplace(options.input, options.targets);
  } else if (options.by_line()) {
    lines.emplace(options.input, options.search.html_input ? LineSource::Markup::html
                                                           : LineSource::Markup::test_sets);
  }
  std::unique_ptr<OutputFile> translations;
  if (options.writes_lines()) translations = std::make_unique<OutputFile>(options.output);
  ViewFiles files(options.view, std::move(guard),
                  {options.view.vectors, options.view.tree, options.view.why});
  ReadyEnsemble models = open_or_make_models(plan.model);
  if (needs_heads(options)) find_alignment_heads(models.models.at(models.maps_of));
  TranslationSettings settings = translation_settings(models.first(), options.search);
  const Translator translator = make_translator(models);
  note_missing_language(translator, settings, say);
  note_unused_search(options);
  settings.term_note = once_each(say);
  return {std::move(lines), std::move(pairs),  std::move(translations),
          std::move(files), std::move(models), std::move(settings),
          translator};
}

TranslateDisplay choose_display(const TranslatePlan& plan, const TranslateInputs& inputs) {
  const TranslateOptions& options = plan.options;
  const ViewOptions& view = options.view;
  const DecodeConfig& decode = inputs.settings.decode;
  const ModelSummary model = inputs.shape();
  for_field("show", [&] { check_map_selection(plan.show, model); });
  check_hypothesis(options, decode);
  RecordDetail detail = view.detail(options.forced() ? 1 : decode.num_beams);
  // Pictures show what relative positions add beside a head.
  const bool relative = inputs.models.mapped().transformer->config().relative.enabled();
  if (view.pictures() && relative) detail.vectors = true;
  TranslateDisplay display{detail, LineOutput(view, model, decode), plan.show, plan.show,
                           options.what_if.changes(model)};
  display.output.print_to(inputs.translations.get());
  const bool typed = !options.by_line() || stdin_is_terminal();
  if (!inputs.models.mapped().seed && stdout_is_terminal() && typed) {
    display.output.enable_confidence_notes();
  }
  if (!view.show.empty()) return display;
  display.shown = parse_map_selection({"best"});
  if (options.what_if.given()) {
    display.drawn = display.shown = options.what_if.selection(display.changes);
  }
  // By default, the terminal shows maps only if no other output is requested.
  const bool other =
      view.need_records() || options.search.n_best.has_value() || options.search.html_input;
  if (options.by_line() || options.writes_lines() || other) {
    display.shown = parse_map_selection({"none"});
  }
  return display;
}

}  // namespace attn
