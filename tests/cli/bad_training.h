// Runs of train that must fail, and the requirements for each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train_run.h"

namespace attn::test {

struct BadTraining {
  std::string name;
  int code;
  std::vector<std::string> parts;  ///< parts of the error line; {dir} is the scene's directory
  std::function<void(TrainScene&)> change = {};
  std::vector<std::string> more = {};
  std::function<void()> in_child = {};
};

/// Runs the case in a TrainScene. Checks the exit code, one error line with all parts, which only
/// progress lines may precede, and that no file appears or disappears.
void check_bad_training(const BadTraining& bad);
void check_all_bad(const std::vector<BadTraining>& all);

/// Returns the arguments of one override.
inline std::vector<std::string> set(const std::string& override) {
  return {"--set", override};
}

}  // namespace attn::test
