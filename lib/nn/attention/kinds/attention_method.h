// How one kind of attention is computed. A kind is one file here, and one in config/kinds/ that
// says what is known of it without computing. Kinds that list the keys of every query say tiles
// alone; those that go by way of something smaller replace the computing functions.
#pragma once

#include <memory>
#include <optional>

#include "config/attention_pattern.h"
#include "nn/attention/attention_training.h"
#include "nn/attention/step_memory.h"

namespace attn {

class TileMaker;

class AttentionMethod {
 public:
  AttentionMethod() = default;
  AttentionMethod(const AttentionMethod&) = delete;
  AttentionMethod& operator=(const AttentionMethod&) = delete;
  virtual ~AttentionMethod() = default;

  /// The tiles of one head, where the kind leaves keys out. std::logic_error: no list of keys says
  /// what it computes.
  virtual void make_tiles(TileMaker& maker) const;

  /// The formula of attention.h for every group and head, over the keys of the tiles.
  virtual void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer) const;
  /// The same, keeping what the way back needs; kept.dropout acts on the weights.
  virtual void attend_training(const AttentionShape& shape, const AttentionInput& input,
                               MatrixRef output, SavedForBackward& kept) const;
  virtual void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                               const SavedForBackward& kept, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient) const;

  /// What a decoder keeps from step to step: keys and values; and its bytes for so many hypotheses
  /// of so many steps.
  virtual std::unique_ptr<StepMemory> step_memory(const StepMemoryShape& shape) const;
  virtual std::optional<std::uint64_t> step_memory_bytes(const StepMemoryShape& shape,
                                                         Index hypotheses, Index steps) const;
};

const AttentionMethod& method_of(const AttentionPattern& pattern);
/// Of the shape's pattern; full where it has none.
const AttentionMethod& method_of(const AttentionShape& shape);

}  // namespace attn
