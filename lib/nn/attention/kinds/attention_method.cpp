#include "nn/attention/kinds/attention_method.h"

#include <array>
#include <stdexcept>

#include "base/at.h"
#include "nn/attention/kinds/method_list.h"

namespace attn {

void AttentionMethod::make_tiles(TileMaker& /*maker*/) const {
  throw std::logic_error("no list of keys says what this kind of attention computes");
}

std::unique_ptr<StepMemory> AttentionMethod::step_memory(const StepMemoryShape& shape) const {
  return key_value_memory(shape);
}

std::optional<std::uint64_t> AttentionMethod::step_memory_bytes(const StepMemoryShape& shape,
                                                                Index hypotheses,
                                                                Index steps) const {
  return key_value_bytes(shape, hypotheses, steps);
}

const AttentionMethod& method_of(const AttentionPattern& pattern) {
  static const std::array<const AttentionMethod*, 10> methods = {
      &full_method(),           &window_method(),       &longformer_method(), &bigbird_method(),
      &sparse_strided_method(), &sparse_fixed_method(), &chunks_method(),     &linformer_method(),
      &performer_method(),      &lsh_method()};
  return *at(methods, pattern.type);
}

const AttentionMethod& method_of(const AttentionShape& shape) {
  return shape.pattern != nullptr ? method_of(*shape.pattern) : full_method();
}

}  // namespace attn
