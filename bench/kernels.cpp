// Products with weights: our panels and Eigen on the shapes of a d_model 256 Transformer.
//   build/bench/bench/bench_kernels
#include <benchmark/benchmark.h>

#include "base/at.h"
#include "base/random.h"
#include "compute/matmul.h"

using namespace attn;

namespace {

void product(benchmark::State& state, Backend backend) {
  const Index rows = state.range(0);
  const Index in = state.range(1);
  const Index out = state.range(2);
  set_threads(to_int(state.range(3)));
  Matrix w(in, out);
  Matrix x(rows, in);
  fill_uniform(1, "w", 1.0F, w.data(), to_size(w.size()));
  fill_uniform(1, "x", 1.0F, x.data(), to_size(x.size()));
  Matrix y(rows, out);
  const WeightProduct multiply({row_major(w.data(), in, out)}, {}, backend);
  for (auto _ : state) {
    multiply(x, y);
    benchmark::DoNotOptimize(y.data());
  }
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(rows * in * out),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "in", "out", "threads"})->UseRealTime();
  for (const int threads : {1, 2}) {
    for (const int rows : {1, 4, 32, 128, 640, 2048}) {
      for (const auto& [in, out] : {std::pair{256, 768}, {256, 1024}, {1024, 256}, {256, 8000}}) {
        b->Args({rows, in, out, threads});
      }
    }
  }
}

BENCHMARK_CAPTURE(product, panels, Backend::panels)->Apply(shapes);
BENCHMARK_CAPTURE(product, plain, Backend::plain)->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
