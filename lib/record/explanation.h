// A computation told step by step, with its real numbers: plain data for the views.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// Columns begin … end − 1.
struct ColumnRange {
  int begin = 0;
  int end = 0;
};

/// A matrix with names on its rows and columns.
struct NamedMatrix {
  std::string name;  ///< "Q", "softmax"
  int rows = 0;
  int columns = 0;
  std::vector<float> values;                ///< rows · columns, row-major
  std::vector<std::string> row_tokens;      ///< pieces, one a row; empty: rows are numbered from 0
  std::vector<std::string> row_outputs;     ///< what the step of each row writes; empty: no steps
  std::vector<std::string> column_tokens;   ///< pieces, one a column; empty: numbered
  int first_column = 0;                     ///< the number of the first column where numbered
  int marked_row = -1;                      ///< the row that the explanation follows; −1: none
  std::vector<ColumnRange> marked_columns;  ///< those that matter here: the head's
  int ranking_column = -1;  ///< where rows are left out, those with the most of it stay; −1: none
  bool listing = false;     ///< columns of several kinds: not to calculate with
};

struct ExplanationStep {
  std::string id;       ///< for programs: "scores"
  std::string title;    ///< "Every query meets every key"
  std::string formula;  ///< "scores = Q · Kᵀ"
  std::string shape;    ///< "[6, 6] · [6, 5] = [6, 5]"
  std::string why;      ///< one sentence or two
  std::vector<NamedMatrix> matrices;
  std::vector<std::string> lines;  ///< arithmetic of the marked row, or facts, a line each
  std::string latex = {};          ///< the formula, where LaTeX has a better form than its words
  int number = 0;                  ///< from 1; 0: as it stands in the list
};

struct Explanation {
  ModelSummary model;
  std::string title;
  std::vector<std::string> facts;  ///< what is explained, a line each
  std::vector<ExplanationStep> steps;
};

}  // namespace attn
