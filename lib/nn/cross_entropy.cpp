#include "nn/cross_entropy.h"

#include <stdexcept>
#include <vector>

#include "compute/matmul.h"

namespace attn {

LossSum cross_entropy(MatrixRef logits, std::span<const int> targets, float smoothing,
                      float scale) {
  if (static_cast<Index>(targets.size()) != logits.rows()) {
    throw std::logic_error("one target for each row of logits");
  }
  for (const int target : targets) {
    if (target < 0 || target >= logits.cols()) throw std::logic_error("target is no class");
  }
  std::vector<float> loss(targets.size());
  std::vector<float> nll(targets.size());
  parallel_for(logits.rows(), logits.size() * 8, [&](Index t) {
    const auto i = static_cast<std::size_t>(t);
    loss[i] = kernels().cross_entropy(logits.data() + t * logits.outerStride(), logits.cols(),
                                      targets[i], smoothing, scale, &nll[i]);
  });
  LossSum sum;
  for (std::size_t t = 0; t < targets.size(); ++t) {  // in order: the same sum on any threads
    sum.loss += static_cast<double>(loss[t]);
    sum.nll += static_cast<double>(nll[t]);
  }
  sum.tokens = logits.rows();
  return sum;
}

}  // namespace attn
