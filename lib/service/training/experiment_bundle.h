// An experiment with everything that it trains on, in one folder: to be carried to where nothing
// else of this machine is.
#pragma once

#include <string>
#include <vector>

namespace attn {

struct ExperimentBundle {
  std::string name;                ///< of the experiment file, without .json
  std::vector<std::string> files;  ///< all that was put there
  std::size_t pairs = 0;           ///< to train on
};

/// Puts the experiment `config` into `directory`, which exists: NAME.json, whose paths are relative
/// to it, the texts of data.train and data.dev, and its tokenizer, trained where the experiment
/// asks for that. A run by it has the same numbers. Errors are those of everything that it reads.
ExperimentBundle bundle_experiment(const std::string& config, const std::string& directory);

}  // namespace attn
