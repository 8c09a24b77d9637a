// Times the encoder inside one process, for bench/compare_encoders.py: prints one JSON object.
//   bench_encode --model DIR --tokens 4096 --threads 2
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/at.h"
#include "base/error.h"
#include "base/random.h"
#include "model/directory/model_directory.h"

using namespace attn;

namespace {

struct Options {
  std::string model;
  int tokens = 4096;
  int threads = 1;
  int repeat = 3;
};

/// Returns a field of /proc/self/status, in bytes.
std::uint64_t status_bytes(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) return 1024 * std::stoull(line.substr(field.size()));
  }
  return 0;
}

/// Returns one sentence of random ids; the last ids are special ones.
PackedTokens random_sentence(const ModelConfig& config, int tokens) {
  RandomGenerator random(1, "ids", 0);
  std::vector<int> ids;
  for (int i = 0; i < tokens; ++i) {
    ids.push_back(4 + to_int(random.below(to_size(config.vocab_size - 8))));
  }
  PackedTokens sentence;
  sentence.add(ids);
  return sentence;
}

int run(const Options& o) {
  set_threads(o.threads);
  const LoadedModel model = load_model(o.model, default_backend());
  const PackedTokens sentence = random_sentence(model.transformer.config(), o.tokens);
  const std::uint64_t before = status_bytes("VmRSS:");
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak size
  std::vector<double> times;
  for (int i = 0; i <= o.repeat; ++i) {  // the first is a warm-up
    const auto start = std::chrono::steady_clock::now();
    model.transformer.encode(sentence);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (i > 0) times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("{{\"seconds\": {:.6f}, \"bytes_over_weights\": {}, \"kernels\": \"{}\"}}\n",
             times[times.size() / 2], status_bytes("VmHWM:") - before, kernels().name);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Times the encoder");
  app.add_option("--model", o.model)->required();
  app.add_option("--tokens", o.tokens);
  app.add_option("--threads", o.threads);
  app.add_option("--repeat", o.repeat);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(o);
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
