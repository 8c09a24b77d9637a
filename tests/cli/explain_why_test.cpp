// explain --why: how one item of a receipt comes about, in the numbers that why has.
#include <doctest/doctest.h>

#include "base/json.h"
#include "run_program.h"

namespace attn::test {
namespace {

constexpr const char* kExplainedSentence = "The group went home";

Result receipt_explained(std::vector<std::string> more) {
  more.insert(more.begin(), {"explain", kExplainedSentence});
  return run_program({.args = std::move(more)});
}

Json receipt_explanation(std::vector<std::string> more) {
  more.insert(more.end(), {"--why", "--json", "-"});
  const Result result = receipt_explained(std::move(more));
  REQUIRE_MESSAGE(result.code == 0, result.err);
  return Json::parse(result.out);
}

/// Returns the matrix of a step by its name.
std::vector<double> row_of_step(const Json& explanation, const char* step, const char* name) {
  for (const Json& one : explanation["steps"]) {
    if (one["id"] != step) continue;
    for (const Json& matrix : one["matrices"]) {
      if (matrix["name"] == name) return matrix["values"][0].get<std::vector<double>>();
    }
  }
  FAIL("no matrix ", name);
  return {};
}

double dot_product(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("explain --why: weight times vector dot carried row is the item of the receipt") {
  const Json why = Json::parse(
      run_program({.args = {"why", kExplainedSentence, "--json", "-"}}).out)["receipt"]["word"];
  const struct {
    const char* head;
    const char* site;
    std::size_t layer, number;
  } heads[]{
      {"cross:2:1", "cross", 2, 1}, {"cross:0:3", "cross", 0, 3}, {"decoder:1:2", "self", 1, 2}};
  for (const auto& [head, site, layer, number] : heads) {
    for (const std::size_t key : {0U, 1U}) {
      const Json told =
          receipt_explanation({"--head", head, "--query", "2", "--key", std::to_string(key)});
      const double product =
          dot_product(row_of_step(told, "head_vector", "f"), row_of_step(told, "carried_row", "u"));
      const double weight = row_of_step(told, "weight", "α")[key];
      const double item = why[site][2][layer][number][key].get<double>();
      CHECK_MESSAGE(weight * product == doctest::Approx(item).epsilon(1e-4), head);
      CHECK(row_of_step(told, "item", "items of this head")[key] ==
            doctest::Approx(item).epsilon(1e-4));
    }
  }
}

TEST_CASE("explain --why chooses the largest item, and takes words for query and key") {
  const Json chosen = receipt_explanation({"--head", "cross:2:2", "--query", "Gruppe"});
  const Json named =
      receipt_explanation({"--head", "cross:2:2", "--query", "Gruppe", "--key", "group"});
  CHECK(chosen == named);
  const Result text = receipt_explained({"--why", "--query", "ging"});
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(text.out.find("item = α · (f · u)") != std::string::npos);
}

TEST_CASE("explain --why refuses what has no item") {
  const auto refused = [](std::vector<std::string> more, int code, const std::string& part) {
    const Result result = receipt_explained(std::move(more));
    CHECK_MESSAGE(result.code == code, result.err);
    CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
    CHECK(result.out.empty());
  };
  refused({"--why", "--head", "encoder:0:1"}, 3, "adds nothing to a logit directly");
  refused({"--why", "--key", "9"}, 2, "9");
  refused({"--why", "--key", "house"}, 2, "--key house");
  refused({"--key", "1"}, 2, "--key needs --why");
  refused({"--why", "--short"}, 2, "different explanations; choose one");
  refused({"--why", "--head", "decoder:0:0", "--query", "1", "--key", "3"}, 2, "3");
}

}  // namespace attn::test
