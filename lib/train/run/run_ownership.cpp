#include "train/run/run_ownership.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "model/directory/weights.h"
#include "text/tokenizer.h"
#include "train/run/checkpoint.h"

namespace attn {
namespace {

/// False if the previous holder removed the file that was opened.
bool is_file_of(int descriptor, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

constexpr std::string_view kMark = "attn-demo training run\n";

/// Returns at most the first `most` bytes of a file; empty if it is missing or cannot be read.
std::string first_bytes(const std::string& path, std::size_t most) try {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  const FileDescriptor file(open_to_read(path, status));
  std::string bytes(most, '\0');
  bytes.resize(read_up_to(file.number(), bytes.data(), most, path));
  return bytes;
} catch (const SystemError&) {
  return "";
}

}  // namespace

bool contains_training_run(const std::string& directory) {
  if (first_bytes(directory + "/lock", kMark.size() + 1) == kMark) return true;
  const std::string folder = directory + "/checkpoints";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with("checkpoint-") &&
        first_bytes(folder + "/" + name, kCheckpointMagic.size()) == kCheckpointMagic) {
      return true;
    }
  }
  return false;
}

bool is_foreign_lock(const std::string& directory) {
  const std::string path = directory + "/lock";
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode)) return true;
  // A killed run may have left the file empty.
  return status.st_size != 0 && first_bytes(path, kMark.size() + 1) != kMark;
}

RunLock::RunLock(const std::string& directory) {
  const std::string path = directory + "/lock";
  do {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = open_descriptor(path, O_RDWR | O_CREAT, 0666);
    if (descriptor_ < 0) throw_system_error(path, "cannot open", errno);
    lock(directory, path);
  } while (!is_file_of(descriptor_, path));
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) throw_system_error(path, "cannot read", errno);
  if (status.st_size == 0) write_all(descriptor_, kMark, path);
}

void RunLock::lock(const std::string& directory, const std::string& path) {
  int result = -1;
  do {
    result = flock(descriptor_, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  const int error = errno;
  close(std::exchange(descriptor_, -1));
  if (error != EWOULDBLOCK) throw_system_error(path, "cannot lock", error);
  throw SystemError(
      "{}: another training run is writing here; wait until it ends, stop it, or choose another "
      "folder",
      printable(directory));
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) close(descriptor_);  // also unlocks
}

namespace {

std::string digest(const std::string& path) {
  return "sha256:" + sha256_hex(read_file(path, std::size_t{1} << 34));
}

/// Returns every key with its default, except those that only end or observe a run.
Json train_identity(const TrainConfig& c) {
  constexpr const char* kSchedules[] = {"inverse_sqrt", "constant", "linear", "cosine"};
  constexpr const char* kAverages[] = {"none", "exponential", "checkpoints"};
  constexpr const char* kMetrics[] = {"bleu", "chrf", "loss"};
  Json train{{"batch_tokens", c.batch_tokens},
             {"accumulate", c.accumulate},
             {"learning_rate", c.learning_rate},
             {"warmup_updates", c.warmup_updates},
             {"schedule", at(kSchedules, c.schedule)},
             {"adam_beta1", c.adam_beta1},
             {"adam_beta2", c.adam_beta2},
             {"adam_epsilon", c.adam_epsilon},
             {"label_smoothing", c.label_smoothing},
             {"r_drop", c.r_drop},
             {"clip_norm", c.clip_norm},
             {"average", at(kAverages, c.average)},
             {"average_decay", c.average_decay},
             {"average_last", c.average_last},
             {"validate_every", c.validate_every},
             {"validate_beams", c.validate_beams},
             {"metric", at(kMetrics, c.metric)},
             {"max_length", c.max_length},
             {"precision", c.precision == TrainingPrecision::bfloat16 ? "bfloat16" : "float32"},
             {"seed", c.seed}};
  if (c.schedule == LearningRateSchedule::linear || c.schedule == LearningRateSchedule::cosine) {
    train["updates"] = c.updates;
  }
  if (!c.guided_alignment.empty()) {
    train["guided_alignment"] = digest(c.guided_alignment);
    train["guided_alignment_weight"] = c.guided_alignment_weight;
    train["guided_alignment_layer"] =
        c.guided_alignment_layer ? Json(*c.guided_alignment_layer) : Json(nullptr);
    train["guided_alignment_heads"] = c.guided_alignment_heads;
  }
  // The average over checkpoints depends on when they are made.
  if (c.average == WeightAveraging::checkpoints) train["checkpoint_every"] = c.checkpoint_every;
  return train;
}

void add_digests(Json& data, const char* part, const ParallelFiles& files) {
  Json digests = Json::object();
  if (!files.source.empty()) digests["source"] = digest(files.source);
  if (!files.target.empty()) digests["target"] = digest(files.target);
  if (!digests.empty()) data[part] = std::move(digests);
}

}  // namespace

Json run_identity(const ExperimentConfig& experiment, const ModelConfig& model,
                  const std::string& tokenizer_directory, const std::string& from) {
  Json identity = Json::object();
  identity["model"] = to_config_json(model);
  for (const char* key : {"dropout", "attention_dropout", "activation_dropout"}) {
    if (!identity["model"].contains(key)) identity["model"][key] = 0.0;
  }
  identity["train"] = train_identity(experiment.train);
  identity["decode"] = experiment.document.value("decode", Json::object());
  identity["probe"] = experiment.data.probe;
  // Leave the key out if there is none, as checkpoints did before this key existed.
  if (!experiment.data.probe_target.empty()) {
    identity["probe_target"] = experiment.data.probe_target;
  }
  Json data = Json::object();
  add_digests(data, "train", experiment.data.train);
  add_digests(data, "dev", experiment.data.dev);
  identity["data"] = data;
  Json tokenizer = Json::object();
  if (experiment.tokenizer.model.empty()) {
    tokenizer["type"] = experiment.tokenizer.type;
    tokenizer["vocab_size"] = experiment.tokenizer.vocab_size;
    tokenizer["joint"] = experiment.tokenizer.joint;
  }
  for (const std::string& name : tokenizer_files()) {
    const std::string path = tokenizer_directory + "/" + name;
    if (file_exists(path)) tokenizer[name] = digest(path);
  }
  tokenizer["sampling"] = experiment.tokenizer.sampling;
  identity["tokenizer"] = tokenizer;
  for (const std::string& path : from.empty() ? std::vector<std::string>() : weight_files(from)) {
    Json& digests = identity["from"];  // one string, or a list of them for shards
    if (digests.is_null()) {
      digests = digest(path);
    } else {
      if (!digests.is_array()) digests = Json::array({digests});
      digests.push_back(digest(path));
    }
  }
  return identity;
}

void add_languages(Json& identity, const Languages& languages, const LanguageChoice& chosen) {
  for (const auto& [side, id] :
       {std::pair{"source", chosen.source}, std::pair{"target", chosen.target}}) {
    if (id >= 0) identity["languages"][side] = languages.code_of(id);
  }
}

Json with_newer_keys(Json identity) {
  const auto add = [&](const char* section, const char* key, const Json& value) {
    if (!identity.is_object() || !identity.contains(section)) return;
    Json& keys = identity[section];
    if (keys.is_object() && !keys.contains(key)) keys[key] = value;
  };
  add("tokenizer", "sampling", 0.0);
  add("train", "r_drop", 0.0);
  add("train", "precision", "float32");
  return identity;
}

std::string first_difference(const Json& before, const Json& now) {
  if (before.is_object() && now.is_object()) {
    Json keys = before;
    keys.update(now);
    for (const auto& [key, value] : keys.items()) {
      const Json was = before.contains(key) ? before[key] : Json(nullptr);
      const Json is = now.contains(key) ? now[key] : Json(nullptr);
      const std::string difference = first_difference(was, is);
      if (difference.empty()) continue;
      const bool leaf = difference.front() == ' ';
      return key + (leaf ? "" : ".") + difference;
    }
    return "";
  }
  if (before == now) return "";
  return " was " + describe(before) + " and is " + describe(now);
}

}  // namespace attn
