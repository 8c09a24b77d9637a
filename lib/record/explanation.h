// A step-by-step explanation of a computation with its actual numbers: plain data for the views.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// The columns from begin to end − 1.
struct ColumnRange {
  int begin = 0;
  int end = 0;
};

/// A matrix with names for its rows and columns.
struct NamedMatrix {
  std::string name;  ///< "Q", "softmax"
  int rows = 0;
  int columns = 0;
  std::vector<float> values;            ///< [rows, columns], row-major
  std::vector<std::string> row_tokens;  ///< one token per row; empty if rows are numbered from 0
  /// The token that the step of each row writes; empty if rows are not steps.
  std::vector<std::string> row_outputs;
  std::vector<std::string> column_tokens;   ///< one token per column; empty if columns are numbered
  int first_column = 0;                     ///< the number of the first column, if numbered
  int marked_row = -1;                      ///< the row that the explanation follows; −1 for none
  std::vector<ColumnRange> marked_columns;  ///< the relevant columns: those of the head
  int ranking_column = -1;  ///< when rows are left out, keep those with the largest values in this
                            ///< column; −1 for none
  /// True for a table whose columns have different meanings, not a matrix to compute with.
  bool listing = false;
};

struct ExplanationStep {
  std::string id;       ///< for programs: "scores"
  std::string title;    ///< "Every query meets every key"
  std::string formula;  ///< "scores = Q · Kᵀ"
  std::string shape;    ///< "[6, 6] · [6, 5] = [6, 5]"
  std::string why;      ///< one or two sentences
  std::vector<NamedMatrix> matrices;
  std::vector<std::string> lines;  ///< arithmetic of the marked row, or facts
  std::string latex = {};          ///< the formula in LaTeX, if that is better than the plain one
  int number = 0;                  ///< from 1; 0 uses the position in the list
};

struct Explanation {
  ModelSummary model;
  std::string title;
  std::vector<std::string> facts;  ///< what is explained, one line each
  std::vector<ExplanationStep> steps;
};

}  // namespace attn
