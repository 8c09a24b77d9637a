// Small training runs through the real program, and the files that they leave in their
// directories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bad_input.h"
#include "base/json.h"

namespace attn::test {

/// A directory with a small corpus (from data/toy) and a config that trains on it in milliseconds
/// per update: 12 updates, each logged, with a checkpoint at every third and a validation at every
/// fourth.
struct TrainScene {
  TrainScene();

  TemporaryDirectory directory;
  Json config;  ///< written as experiment.json before each run

  std::string file(const std::string& name) const { return directory.file(name); }

  /// Returns the arguments of `attn-demo train` for the folder `out`.
  std::vector<std::string> args(const std::string& out,
                                const std::vector<std::string>& more = {}) const;
  Request request(const std::string& out, const std::vector<std::string>& more = {}) const;
  Result train(const std::string& out, const std::vector<std::string>& more = {}) const;

  /// Adds enough dev pairs to make a validation take some time.
  void validate_long() const;

  /// Like train, but the run must succeed.
  void must_train(const std::string& out, const std::vector<std::string>& more = {}) const;
};

/// Starts a run that would never end, sends it a signal once stderr contains `part`, and returns
/// its exit code and stderr.
Result interrupt(const TrainScene& scene, const std::string& out, const std::string& part,
                 int signal, const std::vector<std::string>& more = {});

/// Returns "train.updates=N", for --set.
std::string updates(std::uint64_t n);

/// A checkpoint, parsed without the code under test.
struct CheckpointParts {
  std::uint64_t update = 0;
  Json state;          ///< without the logs' lengths, because their lines contain times
  std::string arrays;  ///< the bytes of all arrays
};
CheckpointParts read_checkpoint(const std::string& path);

/// Returns the updates of a run's checkpoints in ascending order.
std::vector<std::uint64_t> checkpoints_of(const std::string& run);
std::string newest_checkpoint_of(const std::string& run);

/// Returns the lines of a run's train.jsonl or probe.jsonl, each a JSON object, without times.
std::vector<Json> log_of(const std::string& run, const std::string& name = "train.jsonl");

/// Returns every file of a directory with its bytes, to check that nothing changes.
std::vector<std::pair<std::string, std::string>> snapshot_of(const std::string& directory);

/// Checks that both runs ended at the same update with the same numbers, logs and saved model.
void check_same_run(const std::string& one, const std::string& other);

}  // namespace attn::test
