// What a self-attention meets besides the rows at hand: the keys and values of past steps, sums
// that stand for them, or what global tokens have of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/kernels/read_next.h"
#include "nn/attention/attention.h"

namespace attn {

/// One layer's. Without any, rows look at the rows of their own sentence.
class AttentionMemory {
 public:
  AttentionMemory() = default;
  AttentionMemory(const AttentionMemory&) = delete;
  AttentionMemory& operator=(const AttentionMemory&) = delete;
  virtual ~AttentionMemory() = default;

  /// What is read next, so that the product that projects the rows may fetch it meanwhile.
  virtual ReadNext read_next() const { return {}; }
  /// Heads' outputs [T, D] of the rows at hand, whose queries, keys and values `rows` holds.
  virtual void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
                      AttentionObserver* observer) = 0;
};

/// What a decoder's self-attention keeps of `rows` hypotheses from one step to the next.
struct StepMemoryShape {
  const AttentionPattern& pattern;
  Index layers = 0;
  Index heads = 0;
  Index head_dim = 0;
  Index rows = 0;
  Index steps = 0;  ///< most of a hypothesis

  Index d_model() const { return heads * head_dim; }
};

/// The same of all layers.
class StepMemory {
 public:
  StepMemory() = default;
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;
  virtual ~StepMemory() = default;

  /// Row r of `rows` in this step goes on with row parents[r] of the step before; step 0 begins.
  virtual void begin(Index step, Index rows, std::span<const Index> parents) = 0;
  /// The number of this step's first row among the keys that are kept; row r has the r-th from it.
  virtual Index first_row() const { return 0; }
  virtual AttentionMemory& of_layer(Index layer) = 0;
};

/// Keys and values, which stay where they were written; those that no query of the pattern sees any
/// more give way to others.
std::unique_ptr<StepMemory> key_value_memory(const StepMemoryShape& shape);
/// Their bytes; nothing where those leave 64 bits.
std::optional<std::uint64_t> key_value_bytes(const StepMemoryShape& shape);

}  // namespace attn
