// Tests explanations as text, Markdown and JSON: shortened and complete, exact, and safely
// escaped.
#include <doctest/doctest.h>

#include <limits>

#include "base/at.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "view/data/explanation_json.h"
#include "view/terminal/explanation_markdown.h"
#include "view/terminal/explanation_text.h"

namespace attn::test {
namespace {

NamedMatrix matrix(int rows, int columns) {
  NamedMatrix m;
  m.name = "M";
  m.rows = rows;
  m.columns = columns;
  for (int i = 0; i < rows * columns; ++i) m.values.push_back(0.001F * static_cast<float>(i) - 1);
  return m;
}

Explanation explanation(std::vector<NamedMatrix> matrices) {
  Explanation e;
  e.title = "A title";
  e.facts = {"source: x"};
  e.steps.push_back(
      {"scores", "Scores", "S = Q · Kᵀ", "[2, 3]", "Because.", std::move(matrices), {"1 + 1 = 2"}});
  return e;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

const std::vector<std::string> kHostile = {"</script><svg onload=alert(1)>",
                                           "\x1b[31mred",
                                           "a\"b'c`d|e\\",
                                           "\xe2\x80\xae"
                                           "rtl",
                                           "\xe2\x80\xa8",
                                           "😀",
                                           std::string(200, 'w'),
                                           "שלום",
                                           ""};

}  // namespace

TEST_CASE("a toy's matrix is shown whole, a larger one is cut and says so") {
  CHECK(shown_indices(36, {}).size() == 36);
  CHECK(shown_indices(40, {}).size() == 40);
  CHECK(shown_indices(100, {}) == ShownIndices{0, 1, 2, 3, omitted_index, 96, 97, 98, 99});
  CHECK(shown_indices(100, {{30, 40}}) ==
        ShownIndices{0, 1, omitted_index, 30, 31, omitted_index, 38, 39, omitted_index, 98, 99});
  CHECK(shown_indices(100, {{0, 10}}) ==
        ShownIndices{0, 1, omitted_index, 8, 9, omitted_index, 98, 99});
  CHECK(shown_indices(100, {{50, 51}}) ==
        ShownIndices{0, 1, omitted_index, 50, omitted_index, 98, 99});
  CHECK(shown_indices(0, {}).empty());
  CHECK(matrix_caption(matrix(2, 3)) == "[2, 3]");
  CHECK(matrix_caption(matrix(2, 41)) == "[2, 41], columns cut");
  NamedMatrix marked = matrix(50, 50);
  marked.marked_columns = {{6, 12}, {18, 24}};
  CHECK(matrix_caption(marked) ==
        "[50, 50], columns 6–11, 18–23 are this head's, rows and columns cut");
}

TEST_CASE("numbers as on a blackboard") {
  CHECK(format_number(0.12345F) == "0.123");
  CHECK(format_number(-0.5F) == "−0.500");
  CHECK(format_number(-0.0F) == "0.000");
  CHECK(format_number(3e-7F) == "0.000");
  CHECK(format_number(-3e-7F) == "0.000");
  CHECK(format_number(3e-7F, true) == "3e-07");
  CHECK(format_number(0.0F, true) == "0.000");
  CHECK(format_number(-std::numeric_limits<float>::infinity()) == "−∞");
  CHECK(format_number(std::numeric_limits<float>::quiet_NaN()) == "NaN");
  CHECK(format_number(1e30F) == "1e+30");
}

TEST_CASE("text keeps within the window and shows every cell of a toy") {
  for (const int width : {40, 80, 120}) {
    NamedMatrix toy = matrix(6, 36);
    toy.row_tokens = {"▁The", "▁group", "▁went", "▁home", "▁" + std::string(100, 'x'), "</s>"};
    toy.marked_row = 3;
    const std::string text =
        explanation_text(explanation({toy}), {.width = width, .color = ColorMode::none});
    std::size_t cells = 0;
    for (const std::string& line : lines(text)) {
      CHECK_MESSAGE(display_width(line) <= width, line);
      for (std::size_t at = 0; (at = line.find("−0.", at)) != std::string::npos; ++at) ++cells;
      for (std::size_t at = 0; (at = line.find("−1.", at)) != std::string::npos; ++at) ++cells;
    }
    CHECK(cells == 6 * 36);
    CHECK(text.find("▸ home") != std::string::npos);
    CHECK(text.find("S = Q · Kᵀ") != std::string::npos);
    CHECK(text.find("1 + 1 = 2") != std::string::npos);
    CHECK(text.find("\x1b") == std::string::npos);
  }
  CHECK(explanation_text(explanation({matrix(2, 2)}), {.color = ColorMode::true_color})
            .find("\x1b[1m") != std::string::npos);
}

TEST_CASE("a short explanation fits the window: two facts a line, few rows, whole equations") {
  Explanation e = explanation({matrix(12, 4)});
  e.facts = {"source: a b", "target: c d", "query 2: " + std::string(100, 'q')};
  ExplanationStep& step = e.steps.front();
  step.title = step.shape = step.why = "";
  step.formula =
      "x = q · k / √64 + mask,  e = exp(x − max),  weight = e / Σ e,  head = Σ weight · v";
  NamedMatrix& table = step.matrices.front();
  table.listing = true;
  table.ranking_column = 3;
  table.name = "a query and its keys";
  table.values[3] = 5;          // row 0
  table.values[7 * 4 + 3] = 9;  // row 7
  table.values[8 * 4 + 3] = 7;  // row 8
  const std::vector<std::string> shown =
      lines(explanation_text(e, {.width = 80, .height = 24, .color = ColorMode::none}));
  CHECK(shown.size() <= 24);  // the last one is empty
  CHECK(shown[2] == "source: a b · target: c d");
  CHECK(display_width(shown[3]) == 80);
  CHECK(shown[5] == "x = q · k / √64 + mask,  e = exp(x − max),  weight = e / Σ e,");
  CHECK(shown[6] == "head = Σ weight · v");
  CHECK(shown[8] == "a query and its keys");
  // The rows with the largest values of the column of interest are shown, with a line where others
  // are left out.
  const char* const starts[] = {"  0 ", "  ⋮", "  7 ", "  8 ", "  ⋮", "  11"};
  for (std::size_t i = 0; i < 6; ++i) CHECK_MESSAGE(shown[10 + i].starts_with(starts[i]), i);
  CHECK(shown[16].empty());
  // Without a window, as in a file, all rows are shown.
  CHECK(lines(explanation_text(e, {.width = 80, .color = ColorMode::none})).size() > 24);
}

TEST_CASE("JSON holds every number to the bit, and masked ones as null") {
  NamedMatrix m = matrix(3, 50);
  m.values[7] = -std::numeric_limits<float>::infinity();
  m.values[8] = 1.0F / 3.0F;
  m.row_tokens = {"a", "b", "c"};
  m.marked_row = 1;
  m.marked_columns = {{4, 8}, {20, 24}};
  m.first_column = 12;
  const std::string line = explanation_json(explanation({m}));
  CHECK(line.back() == '\n');
  const Json json = parse_json(line, "explanation");
  CHECK(json["format"] == "attn-demo.explanation");
  CHECK(json["version"] == 1);
  const Json& found = json["steps"][0]["matrices"][0];
  CHECK(found["rows"] == 3);
  CHECK(found["columns"] == 50);
  CHECK(found["first_column"] == 12);
  CHECK(found["marked_row"] == 1);
  CHECK(found["marked_columns"] == Json::parse("[[4,8],[20,24]]"));
  CHECK(found["row_tokens"] == Json::array({"a", "b", "c"}));
  for (std::size_t i = 0; i < m.values.size(); ++i) {
    const Json& value = found["values"][i / 50][i % 50];
    if (i == 7) {
      CHECK(value.is_null());
    } else {
      CHECK(value.get<float>() == m.values[i]);
    }
  }
}

TEST_CASE("hostile tokens go through text, Markdown and JSON unharmed") {
  NamedMatrix m = matrix(to_int(kHostile.size()), to_int(kHostile.size()));
  m.row_tokens = m.column_tokens = kHostile;
  Explanation e = explanation({m});
  e.steps[0].matrices[0].listing = true;
  e.facts = e.steps[0].lines = kHostile;
  e.title = kHostile[0];
  const std::string text = explanation_text(e, {.color = ColorMode::none});
  CHECK(text.find('\x1b') == std::string::npos);
  for (const std::string& line : lines(text)) CHECK(display_width(line) <= 80);
  const std::string markdown = explanation_markdown(e);
  CHECK(markdown.find('\x1b') == std::string::npos);
  CHECK(markdown.find("\xe2\x80\xae") == std::string::npos);
  // Every table row has the same number of cells: no token ended or began a cell.
  int bars = -1;
  for (const std::string& line : lines(markdown)) {
    if (line.empty() || line[0] == '#') CHECK(line.find('<') == std::string::npos);
    if (line.empty() || line[0] != '|') continue;
    int count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++count;
    }
    if (bars < 0) bars = count;
    CHECK_MESSAGE(count == bars, line);
  }
  CHECK(bars == to_int(kHostile.size()) + 2);
  const Json json = parse_json(explanation_json(e), "explanation");
  CHECK(json["steps"][0]["matrices"][0]["row_tokens"] == Json(kHostile));
  CHECK(json["title"] == kHostile[0]);
}

TEST_CASE("a matrix that is cut is cut to what the window holds") {
  NamedMatrix wide = matrix(3, 256);
  for (const int width : {40, 60, 80, 120}) {
    for (const bool marked : {false, true}) {
      if (marked && width < 60) continue;
      wide.marked_columns.clear();
      if (marked) wide.marked_columns = {{64, 128}};
      const std::string text = explanation_text(explanation({wide}), {width, 0, ColorMode::none});
      std::size_t headings = 0;
      for (const std::string& line : lines(text)) {
        if (line.find(" 255") != line.npos) ++headings;
      }
      CHECK_MESSAGE(headings == 1, text);
      // There is one block: the first and the last column are above the same rows.
      const std::size_t heading = text.find("      0 ");
      REQUIRE(heading != text.npos);
      CHECK(text.substr(heading, text.find('\n', heading) - heading).ends_with(" 255"));
    }
  }
}

TEST_CASE("Markdown has formulas and sums as LaTeX, small matrices in parentheses") {
  NamedMatrix m = matrix(2, 2);
  m.marked_row = 1;
  m.row_tokens = {"▁Die", "▁Gruppe"};
  m.row_outputs = {"▁Gruppe", "▁ging"};
  Explanation e = explanation({m});
  e.steps[0].lines = {"“<pad>” → “Die”: 1.5·−2.0 = −3.0", "“$”: 1 = 1", "a fact"};
  CHECK(explanation_markdown(e) ==
        "# A title\n\n- `source: x`\n\n## 1. Scores\n\n"
        "$$\nS = Q \\cdot  K^{\\top}\n$$\n\nShapes: `[2, 3]`\n\nBecause.\n\n"
        "`M` [2, 2]; rows `Die → Gruppe`, `Gruppe → ging`\n\n"
        "$$\nM = \\begin{pmatrix}\n-1.000 & -0.999 \\\\\n\\mathbf{-0.998} & \\mathbf{-0.997}\n"
        "\\end{pmatrix}\n$$\n\n"
        "$$\n\\begin{gathered}\n"
        "\\text{“}\\lt\\text{pad}\\gt\\text{”} \\to  \\text{“Die”}: 1.5\\cdot (-2.0) = -3.0\n"
        "\\end{gathered}\n$$\n\n- `“$”: 1 = 1`\n- `a fact`\n");
}

TEST_CASE("the notation of explanations in LaTeX") {
  const auto latex = [](const std::string& formula) { return to_latex(formula).value_or("none"); };
  CHECK(latex("Q_all = X · W_q + b_q") == "Q_{\\text{all}} = X \\cdot  W_{q} + b_{q}");
  CHECK(latex("[K | V]_all = M") == "[K \\mid V]^{\\text{all}} = M");
  CHECK(latex("√d_model + √64 + √(a + 1e-5)") ==
        "\\sqrt{d_{\\text{model}}} + \\sqrt{64} + \\sqrt{a + 10^{-5}}");
  CHECK(latex("raw / √head_dim") == "\\text{raw }/ \\sqrt{d_{\\text{head}}}");
  CHECK(latex("X = the output of the previous block,  M = x") ==
        "X = \\text{ the output of the block before}, \\quad M = x");
  CHECK(latex("q · k of v0") == "q \\cdot  k \\text{ of }v_{0}");
  CHECK(latex("3e-07") == "3 \\cdot 10^{-7}");
  CHECK(latex("1e+30") == "10^{30}");
  CHECK(latex("−∞") == "-\\infty ");
  CHECK(latex("−1·−2.5 + −3") == "-1\\cdot (-2.5) + (-3)");
  // Nothing has a special meaning in Markdown or LaTeX.
  for (const std::string bad :
       {"$", "a{b", "a\\b", "“unclosed", "“a$b”", "“a_b”", "a * b", "100%"}) {
    CHECK_MESSAGE(latex(bad) == "none", bad);
  }
}

TEST_CASE("steps that are left out leave the others their numbers, and a step may have no title") {
  Explanation e = explanation({matrix(1, 1)});
  e.steps[0].number = 5;
  CHECK(explanation_text(e, {.color = ColorMode::none}).find("\n5. Scores\n") != std::string::npos);
  CHECK(explanation_markdown(e).find("## 5. Scores\n") != std::string::npos);
  e.steps[0].title.clear();
  CHECK(explanation_text(e, {.color = ColorMode::none}).find("5.") == std::string::npos);
  CHECK(explanation_markdown(e).find("##") == std::string::npos);
}

TEST_CASE("a row that is a step says what it reads and writes") {
  NamedMatrix m = matrix(2, 2);
  m.row_tokens = {"<pad>", "▁Die"};
  m.row_outputs = {"▁Die", "▁Gruppe"};
  const std::string text = explanation_text(explanation({m}), {.color = ColorMode::none});
  CHECK(text.find("\n  <pad> → Die  −1.000 −0.999\n") != std::string::npos);
  CHECK(text.find("\n  Die → Gruppe −0.998 −0.997\n") != std::string::npos);
  // The JSON form has no new keys.
  CHECK(explanation_json(explanation({m})).find("writes") == std::string::npos);
}

TEST_CASE("Markdown has a table a listing, the marked row in bold") {
  NamedMatrix m = matrix(2, 2);
  m.marked_row = 1;
  m.listing = true;
  const std::string markdown = explanation_markdown(explanation({m}));
  CHECK(markdown.starts_with("# A title\n"));
  CHECK(markdown.find("## 1. Scores\n") != std::string::npos);
  CHECK(markdown.find("| | `0` | `1` |\n|---|---:|---:|\n| `0` | −1.000 | −0.999 |\n"
                      "| **`1`** | **−0.998** | **−0.997** |\n") != std::string::npos);
}

}  // namespace attn::test
