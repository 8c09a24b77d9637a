// A step-by-step explanation for people, on the terminal.
#pragma once

#include <string>
#include <vector>

#include "record/explanation.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Returns the steps with formula, shape, reason and matrices. No line is wider than the window, or
/// than 40 columns if the window is narrower. Matrices with more than 40 rows or columns are cut in
/// the middle, with a note.
std::string explanation_text(const Explanation& explanation, const TerminalStyle& style);

// Shared by the text and Markdown views of an explanation: selects the rows and columns of a large
// matrix to show, and formats numbers.

/// Indices to show, in order; `cut` stands for the indices left out between its neighbors.
using ShownIndices = std::vector<int>;
constexpr int omitted_index = -1;

/// Returns all indices if there are at most 40, so that toy models are shown in full. Otherwise
/// returns the `ends` first and last ones or, if ranges are marked, half as many and as many at the
/// ends of each marked range, with `cut` between.
ShownIndices shown_indices(int count, const std::vector<ColumnRange>& marked, int ends = 4);
ShownIndices shown_rows(const NamedMatrix& matrix);
/// Returns at most `most` lines: the rows with the largest values in the telling column, and cuts.
ShownIndices most_telling_rows(const NamedMatrix& matrix, int most);
ShownIndices shown_columns(const NamedMatrix& matrix, int ends = 4);

/// Formats a number with three decimals and a real minus sign or, if all numbers of a matrix are
/// tiny, as 3e-07. Masked scores are −∞.
std::string format_number(float value, bool tiny = false);

/// True if a matrix has numbers other than 0 and all of them are below 0.01.
bool all_tiny(const NamedMatrix& matrix);

/// Returns labels of all rows or columns: tokens as a person reads them, otherwise numbers. A row
/// that is a decoding step shows what it reads and writes: "Gruppe → ging".
std::vector<std::string> row_labels(const NamedMatrix& matrix);
std::vector<std::string> column_labels(const NamedMatrix& matrix);

/// Returns "[6, 36], columns 6–11, 18–23, 30–35 are this head's, rows and columns cut"; for a list
/// only what is cut, if anything.
std::string matrix_caption(const NamedMatrix& matrix);

}  // namespace attn
