// attn-demo page: shows saved records as a page for the browser, as pictures and tables, and on the
// terminal.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "commands/model_options.h"
#include "commands/view_options.h"
#include "files/line_output.h"
#include "files/output_file.h"
#include "files/view_files.h"
#include "record/json/record_reader.h"
#include "service/html_pages.h"
#include "service/model/model_choice.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/progress.h"
#include "terminal/console.h"
#include "train/run/training_log.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

struct PageOptions {
  std::vector<std::string> records;
  ViewOptions view;
  std::string alone;
  std::string dtype;  ///< empty: int8
  bool embed = false;
  std::vector<std::string> compare;  ///< two files of records, of two models
  ModelOptions source;
};

/// Returns the log beside a run's probe.jsonl; empty if there is none.
std::string find_training_log(const std::string& path) {
  const std::filesystem::path probe(path);
  if (probe.filename() != "probe.jsonl") return "";
  const std::string log = (probe.parent_path() / "train.jsonl").string();
  return file_exists(log) ? log : "";
}

/// Rejects a run's directory or its log of updates, because neither contains records.
void refuse_run(const std::string& path) {
  std::filesystem::path run(path);
  if (run.filename() == "train.jsonl") run = run.parent_path();
  const std::string probe = (run / "probe.jsonl").string();
  if (probe == path || !file_exists(probe)) return;
  throw InputError("{}: a training run; its records are in {}", printable(path), printable(probe));
}

FileGuard guard_of(const PageOptions& options) {
  FileGuard guard;
  for (const std::string& path : options.compare) guard.read("--compare", path);
  for (const std::string& path : options.records) {
    if (directory_exists(path) || std::filesystem::path(path).filename() == "train.jsonl") {
      refuse_run(path);
    }
    guard.read("RECORDS", path);
    guard.read("RECORDS", find_training_log(path));
  }
  return guard;
}

/// Returns the heads that an experiment changed, in the notation of translate: "without cross:1:3",
/// "forced cross:1:3:2=4". If there are none, returns the default.
MapSelection changed_heads(const AttentionRecord& after) {
  MapSelection shown;
  for (const std::string& change : after.changes) {
    const std::size_t blank = change.find(' ');
    const std::string kind = change.substr(0, blank);
    if (blank == change.npos || (kind != "without" && kind != "forced")) continue;
    std::string name = change.substr(blank + 1);
    if (kind == "forced") name.erase(std::min(name.rfind(':', name.find('=')), name.size()));
    try {
      const MapSelection one = parse_map_selection({name});
      check_map_selection(one, after.model);
      shown.items.insert(shown.items.end(), one.items.begin(), one.items.end());
      shown.last_layers = false;
    } catch (const UsageError&) {
      continue;  // an external record may contain anything
    }
  }
  return shown;
}

/// The state of a running command.
class PageCommand {
 public:
  explicit PageCommand(const PageOptions& options)
      : options_(options),
        view_(options.view),
        selection_(for_field("show", [&] { return parse_map_selection(view_.show); })),
        files_(view_, guard_of(options), {.vectors = true, .search = true}),
        progress_("reading records", "records") {
    if (!selection_.measured.empty()) {
      throw UsageError(
          "--show {0}: page draws the weights of saved records; translate --show {0} computes it",
          to_string(selection_.measured.front()));
    }
    if (options.embed) files_.page().embed();
  }

  void run() {
    if (!options_.compare.empty()) compare();
    for (const std::string& path : options_.records) read(path);
    if (count_ == 0) {
      throw InputError(
          "{} holds no record; use a file from translate --json, or a training run's probe.jsonl",
          printable((options_.compare.empty() ? options_.records : options_.compare).front()));
    }
    files_.finish(heads_);
  }

 private:
  /// True if the terminal shows maps: those that were requested or, if no file is written, the
  /// default.
  bool shows() const { return !view_.show.empty() || !view_.draws(); }

  /// Calls use(line, where, last) for each line of a file of records.
  template <typename Use>
  static void for_each_line(const std::string& path, const Use& use) {
    const std::string text = read_file(path, PageContent::max_bytes);
    const std::vector<std::string_view> lines = split_lines(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      use(lines[i], fmt::format("{}:{}", printable(path), i + 1), i + 1 == lines.size());
    }
  }

  void read(const std::string& path) {
    const std::size_t first = count_;
    for_each_line(path, [&](std::string_view text, const std::string& where, bool last) {
      if (is_head_report_line(text)) {
        const std::size_t sentences = read_head_report_line(text, where).sentences;
        const bool ends_all = options_.records.size() == 1 && last;
        if (ends_all && count_ > 1 && sentences <= count_) heads_ = text;
        return;
      }
      RecordLine line = read_record_line(text, where);
      if (auto* record = std::get_if<AttentionRecord>(&line)) {
        take(std::move(*record), where);
      } else {
        take(std::get<WhatIfRecord>(line), where);
      }
      progress_.update(count_);
    });
    show_line();
    if (const std::string log = find_training_log(path); !log.empty()) {
      files_.page().add_curve(page_curve(read_curve(log), first, count_));
    }
  }

  /// Shows the records of two models sentence by sentence: each of the second model as a change of
  /// the first one's.
  void compare() {
    const std::vector<AttentionRecord> first = records_of(options_.compare.front());
    std::vector<AttentionRecord> second = records_of(options_.compare.back());
    if (first.size() != second.size()) {
      throw InputError(
          "--compare: {} holds {} records and {} holds {}; expected the same sentences",
          printable(options_.compare.front()), first.size(), printable(options_.compare.back()),
          second.size());
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      check_pair(first[i], second[i], i + 1);
      second[i].changes = {fmt::format("model {}", model_title(second[i].model))};
      const std::string where = fmt::format("record {}", i + 1);
      take(first[i], where);
      take(std::move(second[i]), where);
    }
    show_line();
  }

  static std::string model_title(const ModelSummary& model) {
    return model.precision == "float32" ? model.name
                                        : fmt::format("{} in {}", model.name, model.precision);
  }

  static std::vector<AttentionRecord> records_of(const std::string& path) {
    if (directory_exists(path)) {
      throw InputError(
          "--compare: {} is a directory; compare files of records: attn-demo translate SENTENCE "
          "--model {} --json FILE writes one",
          printable(path), printable(path));
    }
    std::vector<AttentionRecord> records;
    for_each_line(path, [&](std::string_view text, const std::string& where, bool /*last*/) {
      if (is_head_report_line(text)) return;
      RecordLine line = read_record_line(text, where);
      auto* record = std::get_if<AttentionRecord>(&line);
      if (record == nullptr) {
        throw InputError(
            "{}: the record of an experiment; --compare takes the records of translate --json",
            where);
      }
      records.push_back(std::move(*record));
    });
    return records;
  }

  static void check_pair(const AttentionRecord& first, const AttentionRecord& second,
                         std::size_t number) {
    if (first.source_text != second.source_text) {
      throw InputError(
          "--compare: record {} is about \"{}\" in one file and about \"{}\" in the other", number,
          excerpt(first.source_text), excerpt(second.source_text));
    }
    const ModelSummary &a = first.model, &b = second.model;
    if (a.encoder_layers != b.encoder_layers || a.decoder_layers != b.decoder_layers ||
        a.encoder_heads != b.encoder_heads || a.decoder_heads != b.decoder_heads) {
      throw InputError(
          "--compare: the models have other numbers of layers or heads ({}: {} + {} layers of {} "
          "heads; {}: {} + {} of {}); expected two models of the same shape",
          printable(a.name), a.encoder_layers, a.decoder_layers, a.decoder_heads, printable(b.name),
          b.encoder_layers, b.decoder_layers, b.decoder_heads);
    }
  }

  void take(AttentionRecord record, const std::string& where) {
    check(record, where);
    files_.choose(selection_);
    files_.add(record);
    ++count_;
    if (!shows()) return;
    const bool goes_on = record.part && !line_.empty() && line_.back().part &&
                         line_.back().part->line == record.part->line;
    if (!goes_on) show_line();
    line_.push_back(std::move(record));
  }

  void take(const WhatIfRecord& record, const std::string& where) {
    check(record.before, where);
    show_line();
    const std::vector<AttentionRecord> records = what_if_records(record);
    const MapSelection selection = view_.show.empty() ? changed_heads(record.after) : selection_;
    files_.choose(selection);
    files_.add(record, records);
    count_ += records.size();
    if (shows()) views_of(record.before, selection).print(record);
  }

  void check(const AttentionRecord& record, const std::string& where) const {
    for_field("show", [&] { check_map_selection(selection_, record.model); });
    const std::size_t count = record.hypotheses.size();
    if (view_.hypothesis_index() < count || count == 0) return;
    throw UsageError("--hypothesis {}: {} has {}", view_.hypothesis, where, count);
  }

  LineOutput views_of(const AttentionRecord& record, const MapSelection& selection) const {
    DecodeConfig decode;
    decode.num_return_sequences = std::max(1, to_int(record.hypotheses.size()));
    if (record.decoding) decode.length_penalty = record.decoding->length_penalty;
    LineOutput views(view_, record.model, decode);
    views.select(view_.show.empty() && selection.last_layers ? parse_map_selection({"best"})
                                                             : selection);
    return views;
  }

  /// Shows the records of all parts of a line together.
  void show_line() {
    if (line_.empty()) return;
    views_of(line_.front(), selection_).print(line_);
    line_.clear();
  }

  const PageOptions& options_;
  const ViewOptions& view_;
  MapSelection selection_;
  ViewFiles files_;
  Progress progress_;
  LineRecords line_;   ///< of one line of text, not yet shown
  std::string heads_;  ///< the last line, if it has the statistics over all previous ones
  std::size_t count_ = 0;
};

/// Writes a page that contains the program and a model.
void write_standalone_page(const PageOptions& options) {
  if (!options.records.empty() || options.view.draws()) {
    throw UsageError(
        "--alone writes a page with a model inside and needs no records; leave RECORDS and other "
        "output files out");
  }
  const DType dtype = parse_dtype(options.dtype.empty() ? "int8" : options.dtype);
  check_file_name("--alone", options.alone, {"--alone"});
  const ModelChoice model = options.source.choice();
  FileGuard guard;
  register_inputs(model, guard);
  guard.write(Field{"alone"}, options.alone);
  write_output(options.alone, standalone_page(model, dtype, ATTN_VERSION, options.embed));
}

void check_combination(const PageOptions& options) {
  if (!options.compare.empty() && (!options.records.empty() || !options.alone.empty())) {
    throw UsageError("--compare makes a page of its two files alone; leave {} out",
                     options.records.empty() ? "--alone" : "RECORDS");
  }
  if (options.records.empty() && options.alone.empty() && options.compare.empty()) {
    throw UsageError("page needs RECORDS, or --alone FILE for a page with a model inside");
  }
  if (!options.alone.empty()) return;
  if (options.embed && options.view.html.empty()) {
    throw UsageError("--embed needs a page; add --html FILE or --alone FILE");
  }
  const bool model = !options.source.models.empty();
  if (!model && options.dtype.empty()) return;
  throw UsageError("{} is for the model inside a page; add --alone FILE",
                   model ? "--model" : "--dtype");
}

}  // namespace

void add_page(CLI::App& app, Run& run) {
  auto options = std::make_shared<PageOptions>();
  CLI::App* command =
      app.add_subcommand("page", "Turn saved records into a page, pictures, tables or maps");
  command
      ->add_option("RECORDS", options->records,
                   "Files of records, from translate --json or a training run's probe.jsonl")
      ->group(help_group::reads);
  command
      ->add_option("--alone", options->alone,
                   "Write a page that translates offline, with the program and a model inside")
      ->type_name("FILE")
      ->group(help_group::files);
  command
      ->add_option("--compare", options->compare,
                   "Two models side by side: two files of records of the same sentences")
      ->type_name("A B")
      ->expected(2)
      ->group(help_group::reads);
  options->source.add_model_to(*command);
  command
      ->add_option("--dtype", options->dtype,
                   "With --alone: number format of the model's weights in the page [int8]")
      ->type_name("int8|float16|float32")
      ->group(help_group::makes);
  command
      ->add_flag("--embed", options->embed,
                 "The page shows one head and nothing around it, for a frame in slides or another "
                 "page")
      ->group(help_group::makes);
  add_color_to(*command);
  options->view.add_maps_to(*command);
  options->view.add_files_to(*command);
  command->footer(
      "If the records come from several updates of a training run (probe.jsonl), the\n"
      "page has a slider over the updates. If the same folder has a train.jsonl, its\n"
      "loss curve is drawn above the slider.\n\n"
      "Examples:\n"
      "  attn-demo translate \"The group went home\" --report --json maps.json\n"
      "  attn-demo page maps.json --html page.html\n"
      "  attn-demo page maps.json --svg maps.svg --csv tables --show cross:2:best\n"
      "  attn-demo train configs/toy.json --out toy\n"
      "  attn-demo page toy/probe.jsonl --html training.html\n"
      "  attn-demo page --alone try.html   # one file that translates by itself\n"
      "  attn-demo page maps.json --html frame.html --embed\n"
      "  attn-demo translate \"The group went home\" --json float32.json\n"
      "  attn-demo translate \"The group went home\" --precision int8 --json int8.json\n"
      "  attn-demo page --compare float32.json int8.json --html compare.html");
  refuse_empty_values(*command, {});
  command->callback([options, &run] {
    run = [options] {
      check_combination(*options);
      if (!options->alone.empty()) return write_standalone_page(*options);
      options->view.check();
      PageCommand(*options).run();
    };
  });
}

}  // namespace attn
