#include "view/data/attention_csv.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/data/csv_reader.h"
#include "view/map_labels.h"
#include "view/sample_record.h"

namespace attn {
namespace {

using namespace test;

std::vector<Row> table(std::size_t index, const AttentionRecord& record, std::size_t sentence = 0) {
  std::string text(csv_tables()[index].header);
  csv_tables()[index].append(text, record, sentence);
  CHECK(is_valid_utf8(text));
  return read_csv(text);
}

std::size_t column(const std::vector<Row>& rows, const std::string& name) {
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    if (rows[0][i] == name) return i;
  }
  FAIL("no column ", name);
  return 0;
}

float number(const std::string& field) {
  char* end = nullptr;
  const float value = std::strtof(field.c_str(), &end);
  REQUIRE((!field.empty() && *end == '\0'));
  return value;
}

const std::string& token_at(const std::vector<std::string>& tokens, int index) {
  return at(tokens, index);
}

/// Checks every row of a table of weights against the record; `hypothesis` is −1 for the encoder.
void check_weights(std::size_t index, AttentionSite kind, const AttentionRecord& record) {
  const std::vector<Row> rows = table(index, record, 3);
  CHECK(rows[0] == Row{"sentence", "hypothesis", "layer", "head", "query", "key", "query_token",
                       "query_writes", "key_token", "weight"});
  const bool encoder = kind == AttentionSite::encoder_self;
  std::size_t at = 1;
  for (std::size_t h = 0; h < (encoder ? 1 : record.hypotheses.size()); ++h) {
    const AttentionMaps& maps = *find_maps(record, kind, h);
    const auto& queries =
        encoder ? record.source.tokens : record.hypotheses[h].decoder_input.tokens;
    const auto& keys = kind == AttentionSite::decoder_self ? queries : record.source.tokens;
    for (std::size_t i = 0; i < maps.weights.size(); ++i, ++at) {
      REQUIRE(at < rows.size());
      const Row& row = rows[at];
      const int layer = std::stoi(row[2]);
      const int head = std::stoi(row[3]);
      const int query = std::stoi(row[4]);
      const int key = std::stoi(row[5]);
      CHECK(row[0] == "3");
      CHECK(row[1] == (encoder ? "" : std::to_string(h)));
      CHECK(((layer * maps.heads + head) * maps.queries + query) * maps.keys + key == to_int(i));
      CHECK(unguarded(row[6]) == token_at(queries, query));
      CHECK(unguarded(row[7]) ==
            (encoder ? "" : token_at(record.hypotheses[h].produced.tokens, query)));
      CHECK(unguarded(row[8]) == token_at(keys, key));
      const float weight = number(row[9]);
      const float expected = maps.at(layer, head, query, key);
      CHECK((weight == expected || (std::isnan(weight) && std::isnan(expected))));
    }
  }
  CHECK(at == rows.size());
}

void check_map_shapes(const AttentionRecord& record) {
  check_weights(0, AttentionSite::encoder_self, record);
  check_weights(1, AttentionSite::decoder_self, record);
  check_weights(2, AttentionSite::cross, record);
}

TEST_CASE("csv: every weight of every kind and hypothesis reads back exactly") {
  AttentionRecord record = demo_record();
  record.hypotheses.push_back(sample_record(record.source.tokens, {"▁Alle", "</s>"}).hypotheses[0]);
  check_map_shapes(record);
  CHECK(csv_tables()[0].file_name == "encoder.csv");
  CHECK(csv_tables()[1].file_name == "decoder.csv");
  CHECK(csv_tables()[2].file_name == "cross.csv");
}

TEST_CASE("csv: hostile tokens read back as they are") {
  AttentionRecord record = demo_record();
  record.source.tokens = {"a,b", "\"", "line\r\nbreak", " blank ", "▁שלום"};
  record.hypotheses[0].decoder_input.tokens = {"", "=1+1", "'=1+1", "''@x", "-", "\t=2"};
  record.hypotheses[0].produced.tokens = {
      "+49", "-5", "@SUM(A1)", "'", "'quoted'", "</script>\u2028\u202E😀" + std::string(200, 'x')};
  check_map_shapes(record);
  for (const Row& row : table(1, record)) {
    for (const std::string& field : row) {
      // Numbers and single characters are never computed by a spreadsheet.
      if (field.size() < 2 || (row[9] == field)) continue;
      CHECK(std::string_view("=+-@\t").find(field[0]) == std::string_view::npos);
    }
  }
}

TEST_CASE("csv: text of a field, byte for byte") {
  const auto field = [](std::string_view text) {
    std::string out;
    append_csv_field(out, text);
    return out;
  };
  CHECK(field("plain") == "plain");
  CHECK(field("") == "");
  CHECK(field("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(field("=1+1") == "'=1+1");
  CHECK(field("'=1+1") == "''=1+1");
  CHECK(field("=a,b") == "\"'=a,b\"");
  CHECK(field(" =1+1") == "\"' =1+1\"");  // some programs strip spaces
  CHECK(field("'  @x") == "''  @x");
  CHECK(field("＝1+1") == "'＝1+1");
  CHECK(field("－") == "－");
  CHECK(field(" a") == "\" a\"");
  CHECK(field("-") == "-");
  CHECK(field("'s") == "'s");
  CHECK(field(std::string_view("a\0b", 3)) == "a\ufffdb");
  CHECK(field("a\xff\xfe") == "a\ufffd\ufffd");
  CHECK(field("\r\n") == "\"'\r\n\"");
}

TEST_CASE("csv: tokens with ids and log-probabilities") {
  const AttentionRecord record = demo_record();
  const std::vector<Row> rows = table(3, record, 1);
  CHECK(csv_tables()[3].file_name == "tokens.csv");
  REQUIRE(rows.size() == 1 + 5 + 6 + 6);
  CHECK(rows[0] ==
        Row{"sentence", "hypothesis", "sequence", "position", "id", "token", "log_prob"});
  CHECK(rows[1] == Row{"1", "", "source", "0", "4", "▁The", ""});
  CHECK(rows[6] == Row{"1", "0", "decoder_input", "0", "1", "<pad>", ""});
  CHECK(rows[13] == Row{"1", "0", "produced", "1", "3", "▁Gruppe", "-0.2"});
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(number(rows[12 + i][column(rows, "log_prob")]) == record.hypotheses[0].log_probs[i]);
  }
}

TEST_CASE("csv: sentences with scores") {
  AttentionRecord record = demo_record();
  record.model.update = 300;
  record.changes = {"without cross:1:3", "swapped 2=a,b"};
  record.hypotheses[0].score = -0.125f;
  record.hypotheses.push_back(record.hypotheses[0]);
  record.hypotheses[1].text = "=HYPERLINK(\"http://x\",\"y\")";
  const std::vector<Row> rows = table(4, record, 2);
  CHECK(csv_tables()[4].file_name == "sentences.csv");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == Row{"sentence", "hypothesis", "source_text", "text", "score", "model", "update",
                       "changes"});
  CHECK(rows[1] == Row{"2", "0", "The group went home", "Die Gruppe ging nach Hause", "-0.125",
                       "sample", "300", "without cross:1:3; swapped 2=a,b"});
  CHECK(rows[2][3] == "'=HYPERLINK(\"http://x\",\"y\")");
}

TEST_CASE("csv: NaN, infinities and tokens that are missing break nothing") {
  AttentionRecord record = demo_record();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  record.hypotheses[0].cross.weights[0] = std::nanf("");
  record.hypotheses[0].cross.weights[1] = infinity;
  record.hypotheses[0].cross.weights[2] = -infinity;
  record.hypotheses[0].cross.weights[3] = 1e-45f;
  check_map_shapes(record);
  CHECK(table(2, record)[1][9] == "NaN");
  CHECK(table(2, record)[3][9] == "-Infinity");
  record.source.tokens.resize(2);
  CHECK(table(2, record)[3][8] == "");
}

TEST_CASE("csv: the empty sentence has headers and what there is") {
  AttentionRecord record = sample_record({"</s>"}, {"</s>"});
  record.hypotheses[0] = {};
  record.hypotheses[0].decoder_self = {2, 2, 0, 0, {}};
  record.hypotheses[0].cross = {2, 2, 0, 1, {}};
  CHECK(table(0, record).size() == 1 + 4);
  CHECK(table(1, record).size() == 1);
  CHECK(table(2, record).size() == 1);
  CHECK(table(3, record).size() == 2);
  for (std::size_t i = 0; i < csv_tables().size(); ++i)
    CHECK(table(i, AttentionRecord{}).size() == 1);
}

TEST_CASE("csv: the same record gives the same bytes") {
  std::string first;
  std::string second;
  csv_tables()[2].append(first, long_record(), 0);
  csv_tables()[2].append(second, long_record(), 0);
  CHECK(first == second);
}

}  // namespace
}  // namespace attn
