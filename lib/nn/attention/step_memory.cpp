#include "nn/attention/step_memory.h"

#include <cstring>

#include "base/at.h"
#include "base/checked.h"
#include "compute/growing_rows.h"
#include "config/kinds/pattern_kind.h"

namespace attn {
namespace {

Index kept_steps(const AttentionPattern& pattern, Index steps) {
  return kind_of(pattern).kept_steps(pattern, steps);
}

/// One layer's keys and values of past steps: a key and its value a row.
class KeyValueCache : public AttentionMemory {
 public:
  KeyValueCache(Index d_model, const StepRows& step)
      : d_model_(d_model), rows_(2 * d_model), step_(step) {}

  void reserve(Index rows) { rows_.reserve(rows); }

  ReadNext read_next() const override { return {rows_.row(0), step_.rows_read * rows_.columns()}; }

  void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
              AttentionObserver* observer) override {
    for (Index t = 0; t < rows.queries.rows(); ++t) {
      float* row = rows_.row(at(step_.kept, t));
      const Index from = t * rows.memory.stride;
      std::memcpy(row, rows.memory.keys + from, to_size(d_model_) * sizeof(float));
      std::memcpy(row + d_model_, rows.memory.values + from, to_size(d_model_) * sizeof(float));
    }
    rows.memory = {rows_.row(0), rows_.row(0) + d_model_, rows_.columns()};
    attn::attend(shape, rows, heads, observer);
  }

 private:
  Index d_model_;
  GrowingRows rows_;      ///< [rows, 2D]
  const StepRows& step_;  ///< the step at hand
};

class KeyValueCaches : public StepMemory {
 public:
  explicit KeyValueCaches(const StepMemoryShape& shape) : pattern_(shape.pattern) {
    for (Index layer = 0; layer < shape.layers; ++layer) {
      layers_.push_back(std::make_unique<KeyValueCache>(shape.d_model(), step_));
    }
  }

  Index kept_steps(Index steps) const override { return attn::kept_steps(pattern_, steps); }
  Index kept_place(Index step, Index kept) const override {
    return kind_of(pattern_).kept_place(pattern_, step, kept);
  }
  void reserve(Index rows) override {
    for (const std::unique_ptr<KeyValueCache>& layer : layers_) layer->reserve(rows);
  }
  void begin(const StepRows& rows) override { step_ = rows; }
  AttentionMemory& of_layer(Index layer) override { return *at(layers_, layer); }

 private:
  const AttentionPattern& pattern_;
  StepRows step_;
  std::vector<std::unique_ptr<KeyValueCache>> layers_;
};

}  // namespace

std::unique_ptr<StepMemory> key_value_memory(const StepMemoryShape& shape) {
  return std::make_unique<KeyValueCaches>(shape);
}

std::optional<std::uint64_t> key_value_bytes(const StepMemoryShape& shape, Index hypotheses,
                                             Index steps) {
  return checked_product({to_size(hypotheses), to_size(kept_steps(shape.pattern, steps)),
                          2 * to_size(shape.d_model()), sizeof(float), to_size(shape.layers)});
}

}  // namespace attn
