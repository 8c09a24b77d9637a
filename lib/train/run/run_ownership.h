// Allows one training run at a time in a directory, and resumes only the same run.
#pragma once

#include <string>

#include "config/experiment.h"
#include "text/languages.h"

namespace attn {

/// True if a run has written into this directory, according to its lock file or a checkpoint.
bool contains_training_run(const std::string& directory);

/// True if DIR/lock exists with content that no run has written.
bool is_foreign_lock(const std::string& directory);

/// Holds DIR/lock (flock) while a run writes into the existing directory DIR, and writes the owner
/// into the file. Throws SystemError if another run holds it. The file stays. Only the lock's
/// holder may remove it; processes that had opened the removed file then open and lock the new one.
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

// The identity of a run: a run resumes only with the config and data that it began with.

/// Returns the experiment without its paths and without settings that only end or observe a run
/// (updates if the schedule does not depend on it, epochs, patience, log_every, checkpoint_every,
/// early_growth, early_scores), with all defaults filled in. Adds SHA-256 digests of data and
/// tokenizer files, and of the weights in the model directory `from` that the run began with ("":
/// random weights).
Json run_identity(const ExperimentConfig& experiment, const ModelConfig& model,
                  const std::string& tokenizer_directory, const std::string& from);

/// Adds the languages of all texts, if there are any.
void add_languages(Json& identity, const Languages& languages, const LanguageChoice& chosen);

/// Returns a checkpoint's identity completed with keys newer than the program that wrote it, set to
/// off. An older run can thus resume as long as the new features are not used.
Json with_newer_keys(Json identity);

/// Returns the first difference as a clause, "train.seed was 1 and is 2"; empty if there is none.
std::string first_difference(const Json& before, const Json& now);

}  // namespace attn
