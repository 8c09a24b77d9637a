#include "service/measure/attention_patterns.h"

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <sstream>
#include <utility>

#include "base/at.h"
#include "base/files/descriptor.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/strings/utf8.h"
#include "compute/threads.h"
#include "config/key_reader.h"
#include "config/patterns/sparse_pattern.h"
#include "nn/attention/attention_mask.h"
#include "nn/attention/multi_head_attention.h"
#include "record/attention_cost.h"
#include "service/field_text.h"

namespace attn {
namespace {

constexpr int kRounds = 5;
constexpr double kLongEnough = 4.0;  ///< seconds; if they take longer, three rounds are enough

/// The form in which a measurement is sent through a pipe.
struct AttentionTiming {
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::uint64_t multiply_adds = 0;
  std::uint64_t peak_bytes = 0;
};

/// Returns a value in kB from /proc/self/status, in bytes.
std::uint64_t status_bytes(const char* field) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  std::uint64_t found = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, field, std::strlen(field)) == 0) {
      found = std::strtoull(line + std::strlen(field), nullptr, 10) * 1024;
    }
  }
  std::fclose(file);
  return found;
}

double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns random rows for queries, keys or values, all heads side by side, in [−1, 1).
Matrix random_rows(Index length, Index columns, const char* name) {
  Matrix rows(length, columns);
  fill_uniform(1, name, 1.0F, rows.data(), to_size(rows.size()));
  return rows;
}

/// The random extra parameters and tokens that a pattern needs besides queries, keys and values.
struct TrialExtras {
  std::deque<Matrix> numbers;
  ExtraAttentionParameters extras, gradient;

  explicit TrialExtras(const AttentionBenchmark& trial) {
    const auto whole = [&](Matrix m) {
      Matrix& kept = numbers.emplace_back(std::move(m));
      return row_major(kept.data(), kept.rows(), kept.cols());
    };
    const SelfAttentionDims stack{trial.pattern, to_size(trial.length),
                                  to_size(trial.heads * trial.head_dim), to_size(trial.heads)};
    for (const ExtraParameter& extra : sparse_pattern(trial.pattern).extra_parameters(stack)) {
      const Index rows = to_index(extra.rows), columns = to_index(extra.columns);
      *extra_parameter(extras, extra.part) =
          whole(random_rows(rows, columns, std::string(extra.name).c_str()));
      *extra_parameter(gradient, extra.part) = whole(Matrix::Zero(rows, columns));
    }
  }
};

/// Returns the multiply-adds of all heads' matrix multiplications in the forward pass.
std::uint64_t multiply_adds_of(const AttentionBenchmark& trial, const AttentionShape& shape,
                               const AttentionGroup& group) {
  const SparsePattern& kind = sparse_pattern(trial.pattern);
  const std::uint64_t columns = to_size(trial.head_dim);
  if (kind.approximates()) {
    const Index of_head = kind.multiply_adds(trial.pattern, trial.length, to_int(trial.head_dim));
    return to_size(of_head) * columns * to_size(trial.heads);
  }
  std::uint64_t sum = 0;
  for (Index h = 0; h < trial.heads; ++h) {
    sum += 2 * to_size(visible_pairs(shape, group, h)) * columns;
  }
  return sum;
}

/// Runs the measurement, in the process that was created for it.
AttentionTiming measure_here(const AttentionBenchmark& trial) {
  set_threads(trial.threads);
  const Index width = trial.heads * trial.head_dim;
  const Matrix rows = random_rows(trial.length, 3 * width, "rows");
  const Matrix doutput = random_rows(trial.backward ? trial.length : 0, width, "doutput");
  const AttentionShape shape{AttentionSite::encoder_self,
                             0,
                             trial.heads,
                             trial.head_dim,
                             1.0F / std::sqrt(static_cast<float>(trial.head_dim)),
                             &trial.pattern};
  const std::vector<AttentionGroup> groups{
      {0, 0, trial.length, 0, trial.length, nullptr, {trial.causal, {}}, trial.pattern.globals}};
  TrialExtras own(trial);
  const AttentionInput input{rows.leftCols(width), keys_and_values(rows.rightCols(2 * width)),
                             groups, nullptr, &own.extras};
  const std::uint64_t before = status_bytes("VmRSS:");
  Matrix output(trial.length, width);
  Matrix gradient(trial.backward ? trial.length : 0, 3 * width);
  SavedForBackward kept;
  const Dropout dropout(trial.dropout, 1);
  std::vector<double> forward, backward;
  double spent = 0;
  for (int round = 0; round <= kRounds && (round < 4 || spent < kLongEnough); ++round) {
    forward.push_back(seconds_of([&] {
      if (trial.backward) {
        attend_training(shape, input, dropout, output, kept);
      } else {
        attend(shape, input, output, nullptr);
      }
    }));
    backward.push_back(trial.backward ? seconds_of([&] {
      AttentionInputGradient to =
          input_gradient(gradient.leftCols(width), gradient.rightCols(2 * width));
      to.extras = &own.gradient;
      attend_backward(shape, input, kept, doutput, to);
    })
                                      : 0.0);
    spent += forward.back() + backward.back();
    if (round == 0) {  // caches and memory are not warm yet
      forward.clear();
      backward.clear();
    }
  }
  AttentionTiming timing;
  timing.forward_seconds = median(std::move(forward));
  timing.backward_seconds = median(std::move(backward));
  timing.peak_bytes = status_bytes("VmHWM:") - before;
  timing.multiply_adds = multiply_adds_of(trial, shape, groups.front());
  return timing;
}

/// Runs the measurement in a new process. It starts with no more memory than this one, and its
/// peak memory is its own.
AttentionTiming measure_apart(const AttentionBenchmark& trial) {
  int ends[2];
  if (pipe(ends) != 0) throw_system_error("a pipe", "open", errno);
  const FileDescriptor read_end(ends[0]), write_end(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw_system_error("a process", "start", errno);
  if (child == 0) {
    int code = 1;
    try {
      const AttentionTiming timing = measure_here(trial);
      if (write(write_end.number(), &timing, sizeof timing) == ssize_t{sizeof timing}) code = 0;
    } catch (const std::exception&) {
      code = 5;
    }
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  AttentionTiming timing;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
      read_up_to(read_end.number(), &timing, sizeof timing, "a pipe") != sizeof timing) {
    throw FieldError<MemoryError>(
        FieldText(fmt::format("attention {} of {} tokens did not finish; try shorter ",
                              pattern_name(trial.pattern.type), trial.length),
                  Field{"lengths"}));
  }
  return timing;
}

/// Requires the minimum memory for the rows and what attention stores for them, all of which grow
/// in proportion to the length.
void require_room(const AttentionBenchmark& trial) {
  const auto rows =
      checked_product({to_size(trial.length), to_size(trial.heads), to_size(trial.head_dim),
                       trial.backward ? 9U : 4U, sizeof(float)});
  require_memory(rows.value_or(~std::uint64_t{0}),
                 fmt::format("attention of {} tokens", trial.length));
}

}  // namespace

namespace {

std::vector<std::string> known_kinds(bool causal) {
  std::vector<std::string> kinds;
  for (const SparsePattern* kind : all_sparse_patterns()) {
    if (!causal || !kind->is_encoder_only()) kinds.emplace_back(kind->name());
  }
  return kinds;
}

}  // namespace

std::vector<std::string> patterns_to_benchmark(const std::string& list, bool causal) {
  if (list == "all") return known_kinds(causal);
  std::vector<std::string> kinds;
  std::istringstream all(list + ",");
  for (std::string kind; std::getline(all, kind, ',');) kinds.push_back(kind);
  return kinds;
}

AttentionPattern pattern_for_benchmark(const std::string& kind, Index length, bool causal) {
  const std::vector<std::string> kinds = known_kinds(causal);
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    refuse_field(Field{"attention"},
                 fmt::format(" {}: expected {}{}, or all of them: all", excerpt(kind),
                             list_words(kinds), causal ? ", which can be causal" : ""));
  }
  return (*std::ranges::find(all_sparse_patterns(), kind, &SparsePattern::name))
      ->benchmark_for(length);
}

AttentionCosts benchmark_attention(const std::vector<AttentionBenchmark>& trials) {
  const AttentionBenchmark& first = trials.front();
  AttentionCosts costs{first.heads, first.head_dim, first.threads, first.causal, first.backward, {},
                       {}};
  for (const AttentionBenchmark& trial : trials) require_room(trial);
  for (const AttentionBenchmark& trial : trials) {
    const AttentionTiming timing = measure_apart(trial);
    costs.measured.push_back({std::string(pattern_name(trial.pattern.type)),
                              sparse_pattern(trial.pattern).approximates(), trial.length,
                              timing.forward_seconds, timing.backward_seconds, timing.multiply_adds,
                              timing.peak_bytes});
  }
  costs.growth = cost_growth(costs.measured);
  return costs;
}

ReceptiveField encoder_receptive_field(const ModelConfig& config, int tokens, int side) {
  const AttentionPattern& pattern = config.encoder_attention;
  const Index heads = sparse_pattern(pattern).differs_per_head() ? config.encoder_heads : 1;
  std::vector<std::vector<PatternCells>> seen(to_size(config.encoder_layers));
  std::vector<LayerCells> layers(seen.size());
  // The rows of a model's own global tokens precede the sentence and do not shift its positions.
  AttentionGroup group{0, 0, tokens, 0, tokens, nullptr, {}, pattern.globals};
  for (Index layer = 0; layer < config.encoder_layers; ++layer) {
    const AttentionShape shape{AttentionSite::encoder_self, layer, heads, 1, 1.0F, &pattern};
    if (is_dense(shape, group)) continue;
    for (Index head = 0; head < heads; ++head) {
      at(seen, layer).push_back(pattern_cells(shape, group, head));
    }
    for (const PatternCells& cells : at(seen, layer)) at(layers, layer).heads.push_back(&cells);
  }
  return receptive_field(layers, tokens, side, config.global_tokens > 0);
}

}  // namespace attn
