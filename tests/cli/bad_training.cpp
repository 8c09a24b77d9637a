#include "bad_training.h"

#include <doctest/doctest.h>

namespace attn::test {

void check_bad_training(const BadTraining& bad) {
  TrainScene scene;
  if (bad.change) bad.change(scene);
  Request request = scene.request("deep/run", bad.more);
  request.in_child = bad.in_child;
  const std::vector<std::string> before = listing(scene.directory.path());
  const Result result = run_program(request);
  INFO("case: ", bad.name);
  INFO("stderr: ", result.err);
  CHECK(result.code == bad.code);
  CHECK(result.out == "");
  CHECK(is_plain(result.err));
  std::vector<std::string> errors;
  for (const std::string& line : lines_of(result.err)) {
    if (line.starts_with("attn-demo: ")) errors.push_back(line);
  }
  CHECK(errors.size() == 1);
  for (const std::string& part : bad.parts) {
    const std::string wanted = filled(part, scene.directory);
    CHECK_MESSAGE((!errors.empty() && errors.front().find(wanted) != std::string::npos),
                  "expected in the message: ", wanted);
  }
  CHECK(listing(scene.directory.path()) == before);
}

void check_all_bad(const std::vector<BadTraining>& all) {
  for (const BadTraining& bad : all) check_bad_training(bad);
}

}  // namespace attn::test
