// Runs of train that must fail, and what must hold for each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train_run.h"

namespace attn::test {

struct BadTraining {
  std::string name;
  int code;
  std::vector<std::string> parts;  ///< of the one line; {dir} is the scene's directory
  std::function<void(TrainScene&)> change = {};
  std::vector<std::string> more = {};
  std::function<void()> in_child = {};
};

/// Runs it in a TrainScene: the exit code, one error line with all parts, after progress lines at
/// most; and no file more or less.
void check_bad_training(const BadTraining& bad);
void check_all_bad(const std::vector<BadTraining>& all);

/// The arguments of one override.
inline std::vector<std::string> set(const std::string& override) {
  return {"--set", override};
}

}  // namespace attn::test
