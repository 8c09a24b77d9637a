#include "nn/cross_entropy.h"

#include <stdexcept>
#include <vector>

#include "base/at.h"
#include "compute/matmul.h"
#include "compute/threads.h"

namespace attn {
namespace {

void check(std::span<const int> targets, Index rows, Index classes) {
  if (std::ssize(targets) != rows) {
    throw std::logic_error("one target for each row of logits");
  }
  for (const int target : targets) {
    if (target < 0 || target >= classes) throw std::logic_error("target is no class");
  }
}

/// The gradient of the divergence at a token's two rows of logits.
struct DivergenceGradient {
  std::vector<float> rows;  ///< [2, V]
};

/// Sums in order, so that the result does not depend on the number of threads.
LossSum sum_of(const std::vector<TokenLoss>& tokens) {
  LossSum sum;
  for (const TokenLoss& token : tokens) {
    sum.loss += static_cast<double>(token.loss);
    sum.nll += static_cast<double>(token.nll);
  }
  sum.tokens = std::ssize(tokens);
  return sum;
}

}  // namespace

LossSum cross_entropy(MatrixRef logits, std::span<const int> targets, float smoothing,
                      float scale) {
  check(targets, logits.rows(), logits.cols());
  std::vector<TokenLoss> losses(targets.size());
  parallel_for(logits.rows(), logits.size() * 8, [&](Index t) {
    const auto i = to_size(t);
    losses[i] = kernels().cross_entropy(logits.data() + t * logits.outerStride(), logits.cols(),
                                        targets[i], smoothing, scale);
  });
  return sum_of(losses);
}

LossSum cross_entropy_r_drop(MatrixRef logits, std::span<const int> targets,
                             const RDropSettings& settings) {
  const Index tokens = logits.rows() / 2;
  const Index classes = logits.cols();
  if (logits.rows() % 2 != 0) throw std::logic_error("each token has two rows of logits");
  check(targets, tokens, classes);
  std::vector<TokenLoss> losses(targets.size());
  const float half = 0.5F * settings.scale;
  const float weight = 0.5F * settings.r_drop;
  parallel_for(tokens, logits.size() * 16, [&](Index t) {
    const auto i = to_size(t);
    float* p = logits.data() + t * logits.outerStride();
    float* q = logits.data() + (tokens + t) * logits.outerStride();
    std::vector<float>& gradient = thread_instance<DivergenceGradient>().rows;
    gradient.resize(2 * to_size(classes));
    float* dp = gradient.data();
    float* dq = dp + classes;
    const float divergence =
        kernels().divergence({p, dp}, {q, dq}, classes, weight * settings.scale);
    const TokenLoss of_p =
        kernels().cross_entropy(p, classes, targets[i], settings.smoothing, half);
    const TokenLoss of_q =
        kernels().cross_entropy(q, classes, targets[i], settings.smoothing, half);
    kernels().add(dp, p, classes);
    kernels().add(dq, q, classes);
    losses[i] = {0.5F * (of_p.loss + of_q.loss) + weight * divergence,
                 0.5F * (of_p.nll + of_q.nll)};
  });
  return sum_of(losses);
}

}  // namespace attn
