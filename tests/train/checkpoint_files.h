// A small checkpoint, which the tests write and read.
#pragma once

#include <string>
#include <vector>

#include "train/run/checkpoint.h"

namespace attn::test {

struct SmallRun {
  std::vector<float> weights = {1.5f, -0.0f, 3.25e-38f, 0.1f, 7.0f};
  std::vector<float> moments = {-1.0f, 2.0f};
  std::vector<float> none;
  Json state = {{"epoch", 2}, {"best", {{"bleu", 17.25}, {"chrf", 0.1}}}, {"order", {3, 1, 2}}};

  std::vector<CheckpointArray> arrays() {
    return {{"weights", weights}, {"none", none}, {"moments", moments}};
  }
  void write(const std::string& folder, std::uint64_t update) {
    write_checkpoint(folder, update, state, arrays());
  }
};

}  // namespace attn::test
