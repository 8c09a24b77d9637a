// Training: Adam, and the loop around it. tests/paper/copy_test.cpp trains a model to copy.
#pragma once

#include "paper/backward.h"

namespace attn::paper {

/// Points to every trained number of a model, or of its gradient, always in the same order.
struct Parameters {
  std::vector<double*> all;
  explicit Parameters(Transformer& model) {
    add_each(model.source.tokens, model.target.tokens, model.output);
    for (EncoderLayer& layer : model.encoder) add(layer);
    for (DecoderLayer& layer : model.decoder) {
      add(static_cast<EncoderLayer&>(layer));
      add_each(layer.cross_attention, layer.cross_norm);
    }
  }
  void add_each(auto&... parts) { (add(parts), ...); }
  template <typename M>
  void add(Eigen::PlainObjectBase<M>& matrix) {
    for (Index i = 0; i < matrix.size(); ++i) all.push_back(matrix.data() + i);
  }
  void add(Linear& l) { add_each(l.weight, l.bias); }
  void add(LayerNorm& l) { add_each(l.weight, l.bias); }
  void add(MultiHead& l) { add_each(l.query, l.key, l.value, l.output); }
  void add(FeedForward& l) { add_each(l.first, l.second); }
  void add(EncoderLayer& l) {
    add_each(l.self_attention, l.feed_forward, l.self_norm, l.feed_norm);
  }
};

/// Adam (Kingma and Ba 2015): each number moves by its mean gradient divided by its root mean
/// square gradient. The constants and the learning rate are those of section 5.3.
struct Adam {
  double factor = 1, warmup = 4000, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  std::vector<double> m = {}, v = {};  ///< running means of the gradient and of its square
  int step = 0;

  void update(const Parameters& weights, const std::vector<double>& gradient, Index d_model) {
    if (step++ == 0) m = v = std::vector<double>(gradient.size());
    // Equation 3: the learning rate rises for `warmup` steps, then falls with the root of the step.
    const double rate = factor / std::sqrt(double(d_model)) *
                        std::min(1 / std::sqrt(double(step)), step / std::pow(warmup, 1.5));
    const double m_sum = 1 - std::pow(beta1, step), v_sum = 1 - std::pow(beta2, step);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * gradient[i];
      v[i] = beta2 * v[i] + (1 - beta2) * gradient[i] * gradient[i];
      *weights.all[i] -= rate * (m[i] / m_sum) / (std::sqrt(v[i] / v_sum) + epsilon);
    }
  }
};

struct Example {
  std::vector<int> source, target;  ///< the target begins with the start token
};
using Batch = std::vector<Example>;

/// One step for each batch. The decoder reads the right tokens so far and learns to write the next
/// one (teacher forcing). Returns the last batch's mean loss per sentence.
inline double train(Transformer& model, Adam& adam, const std::vector<Batch>& batches) {
  const Parameters weights(model);
  double loss = 0;
  for (const Batch& batch : batches) {
    std::vector<double> sum(weights.all.size());  // of the sentences' gradients
    loss = 0;
    for (const auto& [source, target] : batch) {
      const Tokens all(target), read = all.first(all.size() - 1), write = all.subspan(1);
      auto [sentence_loss, gradient] = loss_and_gradient(model, source, read, write);
      const Parameters slopes(gradient);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += *slopes.all[i];
      loss += sentence_loss / double(batch.size());
    }
    adam.update(weights, sum, model.output.weight.rows());
  }
  return loss;
}

}  // namespace attn::paper
