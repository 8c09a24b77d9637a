// Tests the costs of attention as tables, JSON, CSV and picture, all from the same numbers.
#include <doctest/doctest.h>

#include "view/data/attention_csv.h"
#include "view/data/inspect_json.h"
#include "view/svg/attention_patterns_svg.h"
#include "view/terminal/attention_patterns_text.h"

namespace attn {
namespace {

AttentionCosts costs_of(bool backward) {
  AttentionCosts costs{1, 64, 2, true, backward, {}, {}};
  costs.measured = {{"full", false, 2048, 0.25, backward ? 0.5 : 0.0, 1'000'000, 2'000'000},
                    {"lsh", true, 2048, 0.125, backward ? 0.25 : 0.0, 5'000, 1'000}};
  costs.growth = {{"full", 2, 1.5, std::nullopt}, {"lsh", 1.04, 1, 512}};
  return costs;
}

TEST_CASE("costs of attention: rows of the tables") {
  const std::vector<Table> tables = attention_cost_tables(costs_of(true));
  REQUIRE(tables.size() == 2);
  using Row = std::vector<std::string>;
  CHECK(tables[0].rows[0] == Row{"full", "2,048", "250.0 ms", "500.0 ms", "1,000,000", "2.0 MB"});
  CHECK(tables[1].rows[1] == Row{"lsh", "N^1.04", "N^1.00", "512"});
  CHECK(tables[0].title == "Attention alone, one sentence, causal: 1 head of 64, 2 threads");
  CHECK(attention_cost_tables(costs_of(false))[0].rows[0] ==
        Row{"full", "2,048", "250.0 ms", "1,000,000", "2.0 MB"});
  AttentionCosts one = costs_of(false);
  one.measured[0].forward_seconds = 0.0000123;
  CHECK(attention_cost_tables(one)[0].rows[0][2] == "12.3 µs");
  one.growth.clear();
  CHECK(attention_cost_tables(one).size() == 1);
}

TEST_CASE("costs of attention: JSON and CSV") {
  CHECK(attention_costs_json(costs_of(false)).dump() ==
        R"({"attention":[{"kind":"full","length":2048,"causal":true,"forward_seconds":0.25,)"
        R"("backward_seconds":null,"multiply_adds":1000000,"peak_bytes":2000000},)"
        R"({"kind":"lsh","length":2048,"causal":true,"forward_seconds":0.125,)"
        R"("backward_seconds":null,"multiply_adds":5000,"peak_bytes":1000}],)"
        R"("growth":[{"kind":"full","time_exponent":2.0,"memory_exponent":1.5,"overtakes":null},)"
        R"({"kind":"lsh","time_exponent":1.04,"memory_exponent":1.0,"overtakes":512}]})");
  CHECK(attention_costs_csv(costs_of(true)) ==
        "kind,length,causal,forward_seconds,backward_seconds,multiply_adds,peak_bytes\n"
        "full,2048,true,0.25,0.5,1000000,2000000\n"
        "lsh,2048,true,0.125,0.25,5000,1000\n");
  CHECK(attention_costs_csv(costs_of(false)).find("\nlsh,2048,true,0.125,,5000,1000\n") !=
        std::string::npos);
}

TEST_CASE("costs of attention: what the picture says") {
  const std::string svg = attention_costs_svg(costs_of(true));
  for (const char* said : {"Attention alone, causal, both ways: 1 head of 64, 2 threads",
                           "time N^1.04, memory N^1.00", " dashed\""}) {
    CAPTURE(said);
    CHECK(svg.find(said) != std::string::npos);
  }
}

}  // namespace
}  // namespace attn
