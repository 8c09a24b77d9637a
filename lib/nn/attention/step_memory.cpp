#include "nn/attention/step_memory.h"

#include <cstring>

#include "base/at.h"
#include "base/checked.h"
#include "config/kinds/pattern_kind.h"

namespace attn {
namespace {

Index kept_steps(const StepMemoryShape& shape) {
  return kind_of(shape.pattern).kept_steps(shape.pattern, shape.steps);
}

/// One layer's keys and values of past steps: a key and its value a row.
class KeyValueCache : public AttentionMemory {
 public:
  KeyValueCache(Index rows, Index d_model, const Index& first_row)
      : d_model_(d_model), rows_(to_size(rows * 2 * d_model)), first_row_(first_row) {}

  /// The rows before this step's: what it reads.
  ReadNext read_next() const override { return {rows_.data(), first_row_ * 2 * d_model_}; }

  void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
              AttentionObserver* observer) override {
    const Index width = 2 * d_model_;
    for (Index t = 0; t < rows.queries.rows(); ++t) {
      float* row = rows_.data() + (first_row_ + t) * width;
      const Index from = t * rows.memory.stride;
      std::memcpy(row, rows.memory.keys + from, to_size(d_model_) * sizeof(float));
      std::memcpy(row + d_model_, rows.memory.values + from, to_size(d_model_) * sizeof(float));
    }
    rows.memory = {rows_.data(), rows_.data() + d_model_, width};
    attn::attend(shape, rows, heads, observer);
  }

 private:
  Index d_model_;
  AlignedFloats rows_;      ///< [rows, 2D]
  const Index& first_row_;  ///< where the rows of the step at hand go
};

class KeyValueCaches : public StepMemory {
 public:
  explicit KeyValueCaches(const StepMemoryShape& shape)
      : pattern_(shape.pattern), rows_(shape.rows), kept_(kept_steps(shape)) {
    for (Index layer = 0; layer < shape.layers; ++layer) {
      layers_.push_back(
          std::make_unique<KeyValueCache>(shape.rows * kept_, shape.d_model(), first_row_));
    }
  }

  void begin(Index step, Index /*rows*/, std::span<const Index> /*parents*/) override {
    first_row_ = kind_of(pattern_).kept_place(pattern_, step, kept_) * rows_;
  }
  Index first_row() const override { return first_row_; }
  AttentionMemory& of_layer(Index layer) override { return *at(layers_, layer); }

 private:
  const AttentionPattern& pattern_;
  Index rows_;
  Index kept_;           ///< steps whose keys and values are there at a time
  Index first_row_ = 0;  ///< of the step at hand
  std::vector<std::unique_ptr<KeyValueCache>> layers_;
};

}  // namespace

std::unique_ptr<StepMemory> key_value_memory(const StepMemoryShape& shape) {
  return std::make_unique<KeyValueCaches>(shape);
}

std::optional<std::uint64_t> key_value_bytes(const StepMemoryShape& shape) {
  return checked_product({to_size(shape.rows), to_size(kept_steps(shape)),
                          2 * to_size(shape.d_model()), sizeof(float), to_size(shape.layers)});
}

}  // namespace attn
