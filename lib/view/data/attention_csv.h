// Attention as tables for R, pandas and spreadsheets, in long form: one row per weight.
//
// docs/pictures.md describes the columns. The format is RFC 4180: commas, CR LF, a header, quotes
// where needed; UTF-8 without a byte-order mark.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "record/attention_cost.h"
#include "record/attention_record.h"

namespace attn {

/// One CSV file of the output directory.
struct CsvTable {
  std::string_view file_name;  ///< "cross.csv"
  std::string_view header;     ///< one line, including its CR LF
  /// Appends the rows of one record; `sentence` is its number in the run, counted from 0.
  void (*append)(std::string& out, const AttentionRecord& record, std::size_t sentence);
};

/// Returns the tables: encoder.csv, decoder.csv and cross.csv hold the weights, tokens.csv the
/// tokens with their ids and log-probabilities, sentences.csv the texts with their scores. The rows
/// of several records may follow one another.
std::span<const CsvTable> csv_tables();

/// Appends one field, quoted if it contains a comma, a quote or a line break. A text that a
/// spreadsheet would take for a formula gets an apostrophe in front. Such a text has two or more
/// characters, and the first one after any whitespace is = + - @, a full-width form of these, or a
/// control character. A text that already has apostrophes before such a formula gets one more. To
/// restore the text, remove one apostrophe from every field that begins with apostrophes followed
/// by a formula. Bytes that are not UTF-8, and U+0000, become U+FFFD.
void append_csv_field(std::string& out, std::string_view text);

// The measured costs of attention alone, as a table for programs.

/// Returns the measurements, one line each, after a line with the column names.
std::string attention_costs_csv(const AttentionCosts& costs);

}  // namespace attn
