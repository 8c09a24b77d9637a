// attn-demo page: records that were written before, as a page to look at in a browser.
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/lines.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "files/file_guard.h"
#include "files/output_file.h"
#include "files/view_files.h"
#include "page_content.h"
#include "terminal/console.h"
#include "terminal/progress.h"
#include "train/run/train_log.h"
#include "view/page/page_curve.h"
#include "view/page/page_records.h"

namespace attn {
namespace {

struct PageOptions {
  std::vector<std::string> records;
  std::string out;
};

/// The log beside a run's probe.jsonl; empty where there is none.
std::string log_beside(const std::string& path) {
  const std::filesystem::path probe(path);
  if (probe.filename() != "probe.jsonl") return "";
  const std::string log = (probe.parent_path() / "train.jsonl").string();
  return file_exists(log) ? log : "";
}

/// A run's directory, and the log of its updates, are not where its records are.
void refuse_run(const std::string& path) {
  std::filesystem::path run(path);
  if (run.filename() == "train.jsonl") run = run.parent_path();
  const std::string probe = (run / "probe.jsonl").string();
  if (probe == path || !file_exists(probe)) return;
  throw InputError("{}: of this training run, the records are in {}", printable(path),
                   printable(probe));
}

void run_page(const PageOptions& options) {
  FileGuard guard;
  for (const std::string& path : options.records) {
    if (directory_exists(path) || std::filesystem::path(path).filename() == "train.jsonl") {
      refuse_run(path);
    }
    guard.read("RECORDS", path);
    guard.read("RECORDS", log_beside(path));
  }
  guard.write("--html", options.out);
  OutputFile file(options.out);
  PageContent content(options.out, {.vectors = true, .search = true});
  std::string heads;  // the last line, where it has the figures over all before it
  Progress progress("reading records", "records");
  for (const std::string& path : options.records) {
    const std::size_t first = content.size();
    const std::string text = read_file(path, PageContent::most_bytes);
    const std::vector<std::string_view> lines = split_lines(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string where = fmt::format("{}:{}", printable(path), i + 1);
      if (is_heads_line(lines[i])) {
        const std::size_t sentences = check_heads_line(lines[i], where);
        const std::size_t records = content.size();
        const bool ends_all = options.records.size() == 1 && i + 1 == lines.size();
        if (ends_all && records > 1 && sentences <= records) heads = lines[i];
        continue;
      }
      for (const std::string& record : page_record_lines(lines[i], where)) content.add(record);
      progress.update(content.size());
    }
    if (const std::string log = log_beside(path); !log.empty()) {
      content.add_curve(page_curve(read_curve(log), first, content.size()));
    }
  }
  if (content.size() == 0) {
    throw InputError("{} holds no record; translate --json and train's probe.jsonl do",
                     printable(options.records.front()));
  }
  content.write(file, heads);
  file.commit();
}

}  // namespace

void add_page(CLI::App& app, Run& run) {
  auto options = std::make_shared<PageOptions>();
  CLI::App* command = app.add_subcommand("page", "A page to look at, from records written before");
  command
      ->add_option("RECORDS", options->records,
                   "Files of records: translate --json, or a training run's probe.jsonl")
      ->required();
  command->add_option("--html", options->out, "The page to write; - is stdout")
      ->type_name("FILE")
      ->required();
  command->footer(
      "Several moments of a training run become a slider over training, under the curve\n"
      "of the train.jsonl that stands beside a probe.jsonl.\n\n"
      "Examples:\n"
      "  attn-demo translate \"The group went home\" --report --json maps.json\n"
      "  attn-demo page maps.json --html page.html\n"
      "  attn-demo train configs/toy.json --out toy\n"
      "  attn-demo page toy/probe.jsonl --html training.html");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_page(*options); }; });
}

}  // namespace attn
