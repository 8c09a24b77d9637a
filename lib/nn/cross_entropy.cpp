#include "nn/cross_entropy.h"

#include <stdexcept>
#include <vector>

#include "base/at.h"
#include "compute/matmul.h"
#include "compute/per_thread.h"

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

/// At the two rows of logits of a token.
struct DivergenceGradient {
  std::vector<float> rows;  ///< [2, V]
};

/// In order: the same sum on any threads.
LossSum sum_of(const std::vector<float>& loss, const std::vector<float>& nll) {
  LossSum sum;
  for (std::size_t t = 0; t < loss.size(); ++t) {
    sum.loss += static_cast<double>(loss[t]);
    sum.nll += static_cast<double>(nll[t]);
  }
  sum.tokens = std::ssize(loss);
  return sum;
}

}  // namespace

LossSum cross_entropy(MatrixRef logits, std::span<const int> targets, float smoothing,
                      float scale) {
  check(targets, logits.rows(), logits.cols());
  std::vector<float> loss(targets.size());
  std::vector<float> nll(targets.size());
  parallel_for(logits.rows(), logits.size() * 8, [&](Index t) {
    const auto i = to_size(t);
    loss[i] = kernels().cross_entropy(logits.data() + t * logits.outerStride(), logits.cols(),
                                      targets[i], smoothing, scale, &nll[i]);
  });
  return sum_of(loss, nll);
}

LossSum cross_entropy_twice(MatrixRef logits, std::span<const int> targets,
                            const TwiceSettings& settings) {
  const Index tokens = logits.rows() / 2;
  const Index classes = logits.cols();
  if (logits.rows() % 2 != 0) throw std::logic_error("each token has two rows of logits");
  check(targets, tokens, classes);
  std::vector<float> loss(targets.size());
  std::vector<float> nll(targets.size());
  const float half = 0.5F * settings.scale;
  const float weight = 0.5F * settings.r_drop;
  parallel_for(tokens, logits.size() * 16, [&](Index t) {
    const auto i = to_size(t);
    float* p = logits.data() + t * logits.outerStride();
    float* q = logits.data() + (tokens + t) * logits.outerStride();
    std::vector<float>& gradient = of_this_thread<DivergenceGradient>().rows;
    gradient.resize(2 * to_size(classes));
    float* dp = gradient.data();
    float* dq = dp + classes;
    const float divergence = kernels().divergence(p, q, classes, weight * settings.scale, dp, dq);
    float nll_p = 0;
    float nll_q = 0;
    const float loss_p =
        kernels().cross_entropy(p, classes, targets[i], settings.smoothing, half, &nll_p);
    const float loss_q =
        kernels().cross_entropy(q, classes, targets[i], settings.smoothing, half, &nll_q);
    kernels().add(dp, p, classes);
    kernels().add(dq, q, classes);
    loss[i] = 0.5F * (loss_p + loss_q) + weight * divergence;
    nll[i] = 0.5F * (nll_p + nll_q);
  });
  return sum_of(loss, nll);
}

}  // namespace attn
