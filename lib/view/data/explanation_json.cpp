#include "view/data/explanation_json.h"

#include <cmath>

#include "base/at.h"
#include "view/data/json_parts.h"

namespace attn {
namespace {

void append_text(std::string& out, std::string_view key, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "\"{}\":", key);
  append_string(out, text);
}

void append_matrix(std::string& out, const NamedMatrix& matrix) {
  out += '{';
  append_text(out, "name", matrix.name);
  fmt::format_to(std::back_inserter(out), ",\"rows\":{},\"columns\":{},\"first_column\":{}",
                 matrix.rows, matrix.columns, matrix.first_column);
  if (matrix.marked_row >= 0) {
    fmt::format_to(std::back_inserter(out), ",\"marked_row\":{}", matrix.marked_row);
  }
  if (!matrix.marked_columns.empty()) {
    out += ",\"marked_columns\":";
    append_list(out, matrix.marked_columns, [](std::string& to, ColumnRange range) {
      fmt::format_to(std::back_inserter(to), "[{},{}]", range.begin, range.end);
    });
  }
  if (!matrix.row_tokens.empty()) {
    out += ",\"row_tokens\":";
    append_strings(out, matrix.row_tokens);
  }
  if (!matrix.column_tokens.empty()) {
    out += ",\"column_tokens\":";
    append_strings(out, matrix.column_tokens);
  }
  out += ",\"values\":[";
  const auto columns = to_size(matrix.columns);
  for (std::size_t i = 0; i < to_size(matrix.rows); ++i) {
    if (i > 0) out += ',';
    append_list(out, std::span(matrix.values).subspan(i * columns, columns),
                [](std::string& to, float value) {
                  if (std::isfinite(value)) {
                    append_number(to, value);
                  } else {
                    to += "null";
                  }
                });
  }
  out += "]}";
}

void append_step(std::string& out, const ExplanationStep& step) {
  out += '{';
  append_text(out, "id", step.id);
  out += ',';
  append_text(out, "title", step.title);
  out += ',';
  append_text(out, "formula", step.formula);
  out += ',';
  append_text(out, "shape", step.shape);
  out += ',';
  append_text(out, "why", step.why);
  out += ",\"matrices\":";
  append_list(out, step.matrices, append_matrix);
  out += ",\"lines\":";
  append_strings(out, step.lines);
  out += '}';
}

}  // namespace

std::string explanation_json(const Explanation& explanation) {
  std::string out = "{\"format\":\"attn-demo.explanation\",\"version\":1,\"model\":";
  append_model(out, explanation.model);
  out += ',';
  append_text(out, "title", explanation.title);
  out += ",\"facts\":";
  append_strings(out, explanation.facts);
  out += ",\"steps\":";
  append_list(out, explanation.steps, append_step);
  return out + "}\n";
}

}  // namespace attn
