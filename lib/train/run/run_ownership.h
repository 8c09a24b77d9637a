// Allows one training run at a time in a directory, and resumes only the same run.
#pragma once

#include <string>

#include "config/experiment.h"
#include "text/languages.h"

namespace attn {

/// Whether a run has written into this directory: by what its lock says, or by a checkpoint.
bool contains_training_run(const std::string& directory);

/// Whether DIR/lock is there and says something that no run has written.
bool is_foreign_lock(const std::string& directory);

/// Holds DIR/lock (flock) while a run writes into DIR, which exists, and writes into it whose it
/// is. SystemError where another run has it. The file stays; only the holder of the lock may remove
/// it, and whoever had opened it before then opens and locks the new file.
class RunLock {
 public:
  explicit RunLock(const std::string& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  void lock(const std::string& directory, const std::string& path);

  int descriptor_ = -1;
};

// What makes two runs the same run: resuming goes on only with the config and the data that it
// began with.

/// The experiment without its paths and without what only ends a run or watches it (updates where
/// the schedule does not depend on it, epochs, patience, log_every, checkpoint_every, early_growth,
/// early_scores), every key with its default filled in by the reader; and SHA-256 digests of data
/// and tokenizer files, and of the weights in the model directory `from` that the run began with
/// ("": random weights).
Json run_identity(const ExperimentConfig& experiment, const ModelConfig& model,
                  const std::string& tokenizer_directory, const std::string& from);

/// The languages of all texts, where there are any.
void add_languages(Json& identity, const Languages& languages, const LanguageChoice& chosen);

/// The identity that a checkpoint holds, with the keys that came after the program that wrote it: a
/// run from before them goes on as long as they are off.
Json with_newer_keys(Json identity);

/// The first difference as a clause, "train.seed was 1 and is 2"; empty where there is none.
std::string first_difference(const Json& before, const Json& now);

}  // namespace attn
