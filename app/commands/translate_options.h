// The options of translate, as typed.
#pragma once

#include <string>
#include <vector>

#include "commands/model_options.h"
#include "commands/search_options.h"
#include "commands/view_options.h"
#include "commands/what_if_options.h"

namespace attn {

struct TranslateOptions {
  ModelOptions source;
  SearchOptions search;
  std::vector<std::string> sentences;
  std::string input, output;
  std::string target, targets;
  bool target_given = false;
  /// True if translations are given and not searched for.
  bool forced() const { return target_given || !targets.empty(); }
  ViewOptions view;
  WhatIfOptions what_if;
};

/// Throws UsageError for options that do not go together, before any file is opened.
void check_usage(const TranslateOptions& options, const ModelChoice& choice);

}  // namespace attn
