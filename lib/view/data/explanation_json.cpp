#include "view/data/explanation_json.h"

#include "base/at.h"
#include "record/json/json_parts.h"

namespace attn {
namespace {

void write_matrix(JsonWriter& json, const NamedMatrix& matrix) {
  json.object([&] {
    json.member("name", matrix.name);
    json.member("rows", matrix.rows);
    json.member("columns", matrix.columns);
    json.member("first_column", matrix.first_column);
    if (matrix.marked_row >= 0) json.member("marked_row", matrix.marked_row);
    if (!matrix.marked_columns.empty()) {
      json.key("marked_columns");
      json.array(matrix.marked_columns, [&](ColumnRange range) {
        json.value(std::array{range.begin, range.end});
      });
    }
    if (!matrix.row_tokens.empty()) json.member("row_tokens", matrix.row_tokens);
    if (!matrix.column_tokens.empty()) json.member("column_tokens", matrix.column_tokens);
    json.key("values");
    json.array_of(matrix.rows, [&](int row) {
      const auto columns = to_size(matrix.columns);
      json.array(std::span(matrix.values).subspan(to_size(row) * columns, columns),
                 [&](float value) { json.number_or_null(value); });
    });
  });
}

void write_step(JsonWriter& json, const ExplanationStep& step) {
  json.object([&] {
    json.member("id", step.id);
    json.member("title", step.title);
    json.member("formula", step.formula);
    json.member("shape", step.shape);
    json.member("why", step.why);
    json.key("matrices");
    json.array(step.matrices, [&](const NamedMatrix& matrix) { write_matrix(json, matrix); });
    json.member("lines", step.lines);
  });
}

}  // namespace

std::string explanation_json(const Explanation& explanation) {
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("format", "attn-demo.explanation");
      json.member("version", 1);
      json.member("model", [&] { write_model(json, explanation.model); });
      json.member("title", explanation.title);
      json.member("facts", explanation.facts);
      json.key("steps");
      json.array(explanation.steps, [&](const ExplanationStep& step) { write_step(json, step); });
    });
  });
}

}  // namespace attn
