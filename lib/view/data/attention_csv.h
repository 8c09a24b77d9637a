// Attention as tables for R, pandas and spreadsheets: long form, one row a weight.
//
// docs/pictures.md describes the columns. RFC 4180: commas, CR LF, a header, quotes where needed;
// UTF-8 without a byte-order mark.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "record/attention_cost.h"
#include "record/attention_record.h"

namespace attn {

/// One file of a folder of tables.
struct CsvTable {
  std::string_view file_name;  ///< "cross.csv"
  std::string_view header;     ///< one line, with its CR LF
  /// Appends the rows of one record; `sentence` is its number in the run, from 0.
  void (*append)(std::string& out, const AttentionRecord& record, std::size_t sentence);
};

/// encoder.csv, decoder.csv and cross.csv hold the weights, tokens.csv the tokens with their ids
/// and log-probabilities, sentences.csv the texts with their scores. Rows of several records may
/// follow one another.
std::span<const CsvTable> csv_tables();

/// One field: quoted where it holds a comma, a quote or a line break. A text that a spreadsheet
/// would take for a formula (two or more characters, the first one after any blanks being one of
/// = + - @, one of these in full width, or a control) gets an apostrophe before it, and so does
/// such a text with apostrophes before it already: to get the text back, take one apostrophe off
/// whatever begins with one or more of them and then as a formula does. Bytes that are no UTF-8,
/// and U+0000, become U+FFFD.
void append_csv_field(std::string& out, std::string_view text);

// What attention alone takes, as a table for programs.

/// The measurements, a line each under a line of names.
std::string attention_costs_csv(const AttentionCosts& costs);

}  // namespace attn
