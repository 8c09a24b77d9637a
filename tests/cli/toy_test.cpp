// Trains the toy from scratch. This takes seconds in a release build; under the sanitizers it
// would take minutes and test nothing more than the small runs do.
#ifndef ATTN_ASAN
#include <doctest/doctest.h>

#include "bad_input.h"
#include "toy_model.h"
#include "train_run.h"

namespace attn::test {
namespace {

std::string test_file(const std::string& language) {
  return kProject + "/data/toy/test." + language;
}

}  // namespace

TEST_CASE("the toy translates the demo sentence") {
  const Result result =
      run_program({.args = {"translate", "--model", toy_model(), "The group went home"}});
  CHECK(result.code == kDone);
  CHECK(result.out.find("Die Gruppe ging nach Hause\n") != std::string::npos);
  const Result piped = run_program(
      {.args = {"translate", "--model", toy_model()}, .input = "The group went home\n"});
  CHECK(piped.out == "Die Gruppe ging nach Hause\n");
}

TEST_CASE("the toy translates at least 95% of the held-out pairs exactly") {
  const std::vector<std::string> expected = lines_of(bytes_of(test_file("de")));
  const Result result = run_program(
      {.args = {"translate", "--model", toy_model()}, .input = bytes_of(test_file("en"))});
  const std::vector<std::string> found = lines_of(result.out);
  REQUIRE(found.size() == expected.size());
  REQUIRE(expected.size() >= 50);
  std::size_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) ++right;
  }
  CHECK_MESSAGE(100 * right >= 95 * expected.size(), right, " of ", expected.size());
}

TEST_CASE("the toy's BLEU on the held-out pairs is above 95") {
  const Result result =
      run_program({.args = {"evaluate", "--model", toy_model(), "--source", test_file("en"),
                            "--target", test_file("de"), "--json", "-"}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const double bleu = Json::parse(result.out)["bleu"]["score"].get<double>();
  CHECK(bleu > 95.0);
}

}  // namespace attn::test
#endif
