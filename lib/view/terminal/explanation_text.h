// A step-by-step explanation for people, on the terminal.
#pragma once

#include <string>
#include <vector>

#include "record/explanation.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Steps with formula, shape, reason and matrices; no line is wider than the window, or than 40
/// columns in a narrower one. Matrices with more than 40 rows or columns are cut in the middle, and
/// say so.
std::string explanation_text(const Explanation& explanation, const TerminalStyle& style);

// What the text and Markdown views of an explanation share: which rows and columns of a large
// matrix are shown, and how a number is written.

/// Indices to show, in order; `cut` stands for the ones left out between its neighbours.
using ShownIndices = std::vector<int>;
constexpr int omitted_index = -1;

/// All of up to 40, so that a toy is shown whole; else the `ends` first and last ones, or half as
/// many and as many at the ends of each marked range, with `cut` between.
ShownIndices shown_indices(int count, const std::vector<ColumnRange>& marked, int ends = 4);
ShownIndices shown_rows(const NamedMatrix& matrix);
/// At most `most` lines: the rows with the most of the telling column, and cuts.
ShownIndices most_telling_rows(const NamedMatrix& matrix, int most);
ShownIndices shown_columns(const NamedMatrix& matrix, int ends = 4);

/// Three decimals and a real minus sign; where all numbers of a matrix are tiny, as 3e-07. What a
/// mask forbids is −∞.
std::string format_number(float value, bool tiny = false);

/// Whether a matrix has numbers other than 0 and none of them reaches 0.01.
bool all_tiny(const NamedMatrix& matrix);

/// Labels of all rows or columns: tokens as a person reads them, else numbers. A row that is a step
/// says what it reads and writes: "Gruppe → ging".
std::vector<std::string> row_labels(const NamedMatrix& matrix);
std::vector<std::string> column_labels(const NamedMatrix& matrix);

/// "[6, 36], columns 6–11, 18–23, 30–35 are this head's, rows and columns cut"; of a list
/// only what is cut, if anything
std::string matrix_caption(const NamedMatrix& matrix);

}  // namespace attn
