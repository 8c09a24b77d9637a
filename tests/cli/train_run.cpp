#include "train_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace attn::test {
namespace {

namespace fs = std::filesystem;

const std::string kToy = std::string(ATTN_SOURCE_DIR) + "/data/toy/";

/// Returns the first lines of a file.
std::string head_of(const std::string& path, int lines) {
  std::ifstream file(path);
  std::string text;
  std::string line;
  for (int i = 0; i < lines && std::getline(file, line); ++i) text += line + "\n";
  return text;
}

}  // namespace

TrainScene::TrainScene() {
  for (const std::string side : {"en", "de"}) {
    directory.write("train." + side, head_of(kToy + "train." + side, 150));
    directory.write("dev." + side, head_of(kToy + "dev." + side, 8));
  }
  config = Json::parse(R"({
    "model": {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1,
              "encoder_attention_heads": 2, "decoder_attention_heads": 2,
              "encoder_ffn_dim": 12, "decoder_ffn_dim": 12, "max_position_embeddings": 32,
              "dropout": 0.1},
    "tokenizer": {"type": "word", "vocab_size": 200},
    "data": {"train": {"source": "train.en", "target": "train.de"},
             "dev": {"source": "dev.en", "target": "dev.de"},
             "probe": "The group went home"},
    "train": {"updates": 12, "batch_tokens": 200, "learning_rate": 0.02, "warmup_updates": 4,
              "validate_every": 4, "checkpoint_every": 3, "log_every": 1, "metric": "loss"},
    "decode": {"max_length": 12}
  })");
}

std::vector<std::string> TrainScene::args(const std::string& out,
                                          const std::vector<std::string>& more) const {
  directory.write("experiment.json", config.dump());
  std::vector<std::string> all = {"train", file("experiment.json"), "--out", file(out)};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Request TrainScene::request(const std::string& out, const std::vector<std::string>& more) const {
  return {.args = args(out, more)};
}

Result TrainScene::train(const std::string& out, const std::vector<std::string>& more) const {
  return run_program(request(out, more));
}

void TrainScene::must_train(const std::string& out, const std::vector<std::string>& more) const {
  const Result result = train(out, more);
  REQUIRE_MESSAGE(result.code == kDone, result.err);
}

void TrainScene::validate_long() const {
  std::string lines;
  for (int i = 0; i < 4000; ++i) lines += "the group went home with the children on monday\n";
  directory.write("dev.en", lines);
  directory.write("dev.de", lines);
}

std::string updates(std::uint64_t n) {
  return "train.updates=" + std::to_string(n);
}

Result interrupt(const TrainScene& scene, const std::string& out, const std::string& part,
                 int signal, const std::vector<std::string>& more) {
  std::vector<std::string> all = {"--set", updates(1'000'000'000)};
  all.insert(all.end(), more.begin(), more.end());
  Program program(scene.request(out, all));
  REQUIRE(program.wait_for_error(part));
  program.signal(signal);
  return program.finish();
}

CheckpointParts read_checkpoint(const std::string& path) {
  const std::string bytes = bytes_of(path);
  const std::size_t start = bytes.find('\n') + 1;
  std::uint64_t length = 0;
  REQUIRE(bytes.size() > start + sizeof length + 64);
  std::memcpy(&length, bytes.data() + start, sizeof length);
  const std::size_t header = start + sizeof length;
  REQUIRE(length < bytes.size() - header - 64);
  const Json json = Json::parse(bytes.substr(header, length));
  CheckpointParts parts;
  parts.update = json["update"].get<std::uint64_t>();
  parts.state = json["state"];
  parts.state["run"].erase("log_bytes");
  parts.state["run"].erase("probe_bytes");
  parts.arrays = bytes.substr(header + length, bytes.size() - header - length - 64);
  return parts;
}

std::vector<std::uint64_t> checkpoints_of(const std::string& run) {
  std::vector<std::uint64_t> updates;
  if (!fs::exists(run + "/checkpoints")) return updates;
  for (const auto& entry : fs::directory_iterator(run + "/checkpoints")) {
    const std::string name = entry.path().filename();
    REQUIRE_MESSAGE(name.starts_with("checkpoint-"), name);
    updates.push_back(std::stoull(name.substr(11)));
  }
  std::sort(updates.begin(), updates.end());
  return updates;
}

std::string newest_checkpoint_of(const std::string& run) {
  const std::string number = std::to_string(checkpoints_of(run).back());
  return run + "/checkpoints/checkpoint-" + std::string(9 - number.size(), '0') + number;
}

std::vector<Json> log_of(const std::string& run, const std::string& name) {
  const std::string text = bytes_of(run + "/" + name);
  CHECK(text.ends_with('\n'));
  std::vector<Json> log;
  for (const std::string& line : lines_of(text)) {
    REQUIRE_MESSAGE(Json::accept(line), line);
    log.push_back(Json::parse(line));
    log.back().erase("tokens_per_second");
    log.back().erase("seconds");
  }
  return log;
}

std::vector<std::pair<std::string, std::string>> snapshot_of(const std::string& directory) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& name : listing(directory)) {
    const bool folder = name.ends_with('/');
    all.emplace_back(name, folder ? "" : bytes_of(directory + "/" + name));
  }
  return all;
}

void check_same_run(const std::string& one, const std::string& other) {
  REQUIRE_FALSE(checkpoints_of(one).empty());
  REQUIRE_FALSE(checkpoints_of(other).empty());
  const CheckpointParts a = read_checkpoint(newest_checkpoint_of(one));
  const CheckpointParts b = read_checkpoint(newest_checkpoint_of(other));
  CHECK(a.update == b.update);
  CHECK(a.state["run"].dump() == b.state["run"].dump());
  CHECK(a.state == b.state);
  CHECK((a.arrays == b.arrays));
  const bool same_model =
      bytes_of(one + "/model/model.safetensors") == bytes_of(other + "/model/model.safetensors");
  CHECK(same_model);
  for (const std::string name : {"train.jsonl", "probe.jsonl"}) {
    const std::vector<Json> first = log_of(one, name);
    const std::vector<Json> second = log_of(other, name);
    CHECK(first.size() == second.size());
    for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
      CHECK_MESSAGE((first[i] == second[i]), first[i].dump().substr(0, 300), " and ",
                    second[i].dump().substr(0, 300));
    }
  }
}

}  // namespace attn::test
