#include "toy_model.h"

#include <doctest/doctest.h>

#include "train_run.h"

namespace attn::test {

const std::string& toy_model() {
  static const TemporaryDirectory directory;
  static const std::string model = [] {
    const Result result =
        run_program({.args = {"train", std::string(ATTN_SOURCE_DIR) + "/configs/toy.json", "--out",
                              directory.file("toy")}});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return directory.file("toy/model");
  }();
  return model;
}

}  // namespace attn::test
