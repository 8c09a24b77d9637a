// The head for explain to show, chosen by --kind, --layer and --head together.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "commands/model_options.h"
#include "commands/search_options.h"
#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/explanation.h"
#include "record/head_report.h"

namespace attn {

/// The options of explain, as typed.
struct ExplainOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string target, kind, layer, head, query, step;
  int hypothesis = 1;  ///< in the n-best list, from 1
  bool target_given = false, order_given = false, compare = false, brief = false, why = false;
  std::string key;
  std::string meaning, json, markdown;
  std::vector<std::string> order = {"dog bites man", "man bites dog"};
};

/// Adds the options that select the head to explain and the steps to show.
void add_head_options(CLI::App& command, ExplainOptions& options);

/// Parses a head. `head` is a number, "best", or a full name (config/attention_site.h), which
/// includes kind and layer. Empty strings mean not given. Throws UsageError naming the option; a
/// mean over heads cannot be explained.
HeadName parse_head_options(const std::string& kind, const std::string& layer,
                            const std::string& head);

/// True if --head includes kind and layer.
bool is_full_head_name(const std::string& head);

/// Throws UsageError if the model has no such layer or head; `whole` is the result of
/// is_full_head_name().
void check_head_options(const HeadName& name, bool whole, const ModelSummary& model);

/// Completes a head name. For cross-attention, chooses the head that aligns this hypothesis best
/// (resolve_best); for self-attention, which aligns nothing, the first head. Uses the named
/// layer, or else the last.
HeadIndex find_explained_head(HeadName name, const AttentionRecord& record, std::size_t hypothesis);

// --step: the steps of an explanation that are printed.

/// An inclusive range of steps, counted from 1.
struct StepRange {
  int first = 1;
  int last = 1;
};

/// Parses "5", "5-8", "1,7-9"; returns nothing if `text` is empty. Throws UsageError naming an
/// invalid part.
std::vector<StepRange> parse_steps(const std::string& text);

/// Returns the explanation with only these steps, which keep their numbers; without ranges, with
/// all. Throws UsageError if a range names a step that does not exist.
Explanation select_steps(Explanation explanation, const std::vector<StepRange>& ranges);

}  // namespace attn
