// Times searching inside one process, for bench/compare_speed.py: prints one JSON object. "share"
// is the number of multiply-adds divided by what the cores could have done in that time (peak.h).
//   bench_decode --model DIR --sentences FILE --threads 1 --batch 32 --beam 4 --max-length 20
// With --decoders N, each of N threads translates the whole file, as the threads of a server do.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "config/model_report.h"
#include "model/directory/model_directory.h"
#include "peak.h"
#include "text/tokenizer.h"
#include "translate/translator.h"

using namespace attn;

namespace {

struct Options {
  std::string model;
  std::string sentences;
  int threads = 1;
  int decoders = 1;
  int batch = 32;
  int beam = 1;
  int max_length = 20;
  int repeat = 7;
  std::string precision = "float32";
};

std::vector<std::vector<PreparedSentence>> read_batches(const Options& o, const Translator& t,
                                                        const TranslationSettings& settings) {
  std::vector<std::vector<PreparedSentence>> batches(1);
  std::ifstream file(o.sentences);
  for (std::string line; std::getline(file, line);) {
    if (to_int(batches.back().size()) == o.batch) batches.emplace_back();
    batches.back().push_back(t.prepare(line, settings));
  }
  return batches;
}

/// Returns the multiply-adds of a search: the source and the first step once, each later step once
/// per beam.
std::uint64_t multiply_adds_of(const ModelConfig& config, std::size_t source, std::size_t target,
                               int beam) {
  const CostReport whole = cost_report(config, to_int(source), to_int(target));
  const CostReport first_step = cost_report(config, to_int(source), 1);
  return first_step.total_multiply_adds +
         to_size(beam) * (whole.total_multiply_adds - first_step.total_multiply_adds);
}

Backend backend_of(const std::string& precision) {
  return precision == "int8"       ? Backend::int8
         : precision == "bfloat16" ? Backend::bfloat16
                                   : default_backend();
}

/// Returns how many operations per second a core can do at most, in the given precision.
double peak_of(const std::string& precision) {
  return precision == "int8"       ? peak_int8_gops()
         : precision == "bfloat16" ? peak_bfloat16_gflops()
                                   : peak_gflops();
}

int run(const Options& o) {
  set_threads(o.threads);
  keep_freed_memory();  // as the program does for a file
  const LoadedModel model = load_model(o.model, backend_of(o.precision));
  const Tokenizer tokenizer(o.model);
  DecodeOptions given;
  given.num_beams = o.beam;
  given.num_return_sequences = 1;
  given.max_length = o.max_length + 1;
  const TranslationSettings settings{
      resolve_decode_options(merge_decode_options(given, model.decode), std::nullopt, o.model)};
  const Translator translator(model.transformer, tokenizer);
  const auto batches = read_batches(o, translator, settings);
  const auto translate_all = [&] {
    std::size_t tokens = 0;
    for (const auto& batch : batches) {
      for (const auto& translations : translator.translate({batch, settings})) {
        tokens += translations.front().ids.size();
      }
    }
    return tokens;
  };
  std::uint64_t multiply_adds = 0;
  for (const auto& batch : batches) {
    const auto translations = translator.translate({batch, settings});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      multiply_adds += multiply_adds_of(model.transformer.config(), batch[i].ids.size(),
                                        translations[i].front().ids.size(), o.beam);
    }
  }
  std::vector<double> times;
  std::size_t tokens = 0;
  for (int i = 0; i < o.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> others;
      for (int n = 1; n < o.decoders; ++n) others.emplace_back(translate_all);
      tokens = translate_all();
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  const double peak = peak_of(o.precision);
  const double gflops = 2e-6 * static_cast<double>(multiply_adds) * o.decoders / median;
  const double share = peak > 0 ? gflops / (peak * o.threads * o.decoders) : 0;
  fmt::print(
      "{{\"median_ms\": {:.4f}, \"runs_ms\": [{:.4f}], \"tokens\": {}, \"kernels\": \"{}\", "
      "\"gflops\": {:.1f}, \"peak_gflops\": {:.1f}, \"share\": {:.3f}}}\n",
      median, fmt::join(times, ", "), tokens, kernels().name, gflops, peak, share);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Times searching for translations");
  app.add_option("--model", o.model)->required();
  app.add_option("--sentences", o.sentences)->required();
  app.add_option("--threads", o.threads);
  app.add_option("--decoders", o.decoders);
  app.add_option("--batch", o.batch);
  app.add_option("--beam", o.beam);
  app.add_option("--max-length", o.max_length);
  app.add_option("--repeat", o.repeat);
  app.add_option("--precision", o.precision)->check(CLI::IsMember({"float32", "bfloat16", "int8"}));
  CLI11_PARSE(app, argc, argv);
  try {
    return run(o);
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_decode: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
