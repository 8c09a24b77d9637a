// Measures multiplication with weights in each precision, for the shapes of a d_model 256
// Transformer: each shape repeatedly, and all those of a decoder step in turn, whose 19 MB do not
// fit the nearest caches.
//
//   build/bench/bench/bench_kernels
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "base/at.h"
#include "base/random.h"
#include "compute/matmul.h"
#include "compute/panel_weight.h"
#include "peak.h"

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
  const PackedLinear multiply({row_major(w.data(), in, out)}, {}, backend);
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
BENCHMARK_CAPTURE(product, int8, Backend::int8)->Apply(shapes);
BENCHMARK_CAPTURE(product, bfloat16, Backend::bfloat16)->Apply(shapes);

/// Returns the peak multiply-adds of a core in the precision of this backend.
double peak_of(Backend backend) {
  return backend == Backend::int8       ? peak_int8_gops()
         : backend == Backend::bfloat16 ? peak_bfloat16_gflops()
                                        : peak_gflops();
}

/// Measures the multiplications of one step of a decoder with 3 layers, ffn 1,024 and a vocabulary
/// of 8,000.
void step(benchmark::State& state, Backend backend) {
  const Index rows = state.range(0);
  set_threads(1);
  std::vector<std::pair<Index, Index>> shapes;
  for (int layer = 0; layer < 3; ++layer) {
    for (const Index out : {768, 256, 256, 256, 1024}) shapes.emplace_back(256, out);
    shapes.emplace_back(1024, 256);
  }
  shapes.emplace_back(256, 8000);
  Index numbers = 0;
  for (const auto& [in, out] : shapes) numbers += panel_floats(in, out, false);
  FloatArena arena(to_size(numbers));
  std::vector<PackedLinear> products;
  for (const auto& [in, out] : shapes) {
    Matrix w(in, out);
    fill_uniform(1, "w", 1.0F, w.data(), to_size(w.size()));
    products.emplace_back(std::vector{row_major(w.data(), in, out)}, std::vector<Parameter>{},
                          PreparationOptions(backend, &arena));
  }
  Matrix x(rows, 1024), y(rows, 8000);
  fill_uniform(1, "x", 1.0F, x.data(), to_size(x.size()));
  Index multiply_adds = 0;
  for (const PackedLinear& p : products) multiply_adds += rows * p.in() * p.out();
  for (auto _ : state) {
    for (const PackedLinear& p : products) p(x.leftCols(p.in()), y.leftCols(p.out()));
    benchmark::DoNotOptimize(y.data());
  }
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(multiply_adds),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  if (const double peak = peak_of(backend); peak > 0) {
    state.counters["of the peak"] =
        benchmark::Counter(2e-9 * static_cast<double>(multiply_adds) / peak,
                           benchmark::Counter::kIsIterationInvariantRate);
  }
}

void step_rows(benchmark::internal::Benchmark* b) {
  b->ArgName("rows")->UseRealTime()->Arg(1)->Arg(4)->Arg(32)->Arg(128);
}

BENCHMARK_CAPTURE(step, float32, Backend::panels)->Apply(step_rows);
BENCHMARK_CAPTURE(step, int8, Backend::int8)->Apply(step_rows);
BENCHMARK_CAPTURE(step, bfloat16, Backend::bfloat16)->Apply(step_rows);

}  // namespace

BENCHMARK_MAIN();
