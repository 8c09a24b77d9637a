// Prepares a run of translate in three steps: check the options, open files and models, choose what
// to show. Each step reports its own errors, so their order decides which of several is reported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/map_selection.h"
#include "commands/forced_pairs.h"
#include "commands/model_options.h"
#include "commands/view_options.h"
#include "config/option_table.h"
#include "files/line_output.h"
#include "files/output_file.h"
#include "files/view_files.h"
#include "service/model/open_model.h"
#include "service/what_if.h"
#include "terminal/line_input.h"
#include "translate/line_parts.h"

namespace attn {

/// The options of translate, as typed.
struct TranslateOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string input, output;
  std::string target, targets;
  bool target_given = false;
  ViewOptions view;
  WhatIfOptions what_if;

  /// True if translations are given and not searched for.
  bool forced() const { return target_given || !targets.empty(); }
  /// Returns the option that gives them.
  const char* target_option() const { return target_given ? "--target" : "--targets"; }
  bool by_line() const { return sentences.empty(); }  ///< sentences come from --input or stdin
  /// True if each sentence is scored or compared as a whole, so that it must not be split.
  bool keeps_lines_whole() const { return forced() || what_if.given(); }
  bool writes_lines() const { return !output.empty() && output != "-"; }
};

/// The plan that follows from the options alone, made without looking at any file.
struct TranslatePlan {
  const TranslateOptions& options;
  ModelChoice model;
  Splitting split = Splitting::automatic;
  MapSelection show;  ///< --show
};

/// Throws UsageError for invalid values and for options that contradict each other. `options` must
/// outlive the plan.
TranslatePlan plan_translation(const TranslateOptions& options);

/// The open files and models of a run.
struct TranslateInputs {
  std::optional<LineSource> lines;   ///< nothing if sentences are arguments or pairs are given
  std::optional<ForcedPairs> pairs;  ///< of --input and --targets
  std::unique_ptr<OutputFile> translations;  ///< --output; null: stdout
  ViewFiles files;
  ReadyEnsemble models;
  TranslationSettings settings;
  Translator translator;

  ModelSummary shape() const { return summarise(models.mapped().transformer->config()); }
};

/// Opens all files, then the models, and notes a missing target language. Throws UsageError if one
/// file has two uses or the models do not have what the search options ask for, and the errors of
/// files and models.
TranslateInputs open_translation(const TranslatePlan& plan);

/// The data to record and show.
struct TranslateDisplay {
  RecordDetail detail;
  LineOutput output;
  MapSelection drawn;    ///< the maps in pictures
  MapSelection shown;    ///< the maps on the terminal
  ModelChanges changes;  ///< by --without, --force and --swap
};

/// Throws UsageError if the options ask for layers, heads or hypotheses that there are not. `plan`
/// and `inputs` must outlive the display.
TranslateDisplay choose_display(const TranslatePlan& plan, const TranslateInputs& inputs);

}  // namespace attn
