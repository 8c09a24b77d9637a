// lib/paper's way back against numeric gradients, and training's against lib/paper's.
#include "paper/backward.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "model/small_training.h"
#include "paper_model.h"

using namespace attn;
using namespace attn::test;

namespace {

using Model = paper::Transformer<double>;

/// f(name, matrix) for a matrix or row of each of `models`, which have the same shape.
template <typename F, typename... Linears>
void each_of_linear(const std::string& name, const F& f, Linears&... linear) {
  f(name + ".weight", linear.weight...);
  f(name + ".bias", linear.bias...);
}

template <typename F, typename... Layers>
void each_of_attention(const std::string& name, const F& f, Layers&... layer) {
  each_of_linear(name + ".query", f, layer.query...);
  each_of_linear(name + ".key", f, layer.key...);
  each_of_linear(name + ".value", f, layer.value...);
  each_of_linear(name + ".output", f, layer.output...);
  f(name + ".relative", layer.relative.table...);
}

template <typename F, typename... Layers>
void each_of_layer(const std::string& name, const F& f, Layers&... layer) {
  each_of_attention(name + ".self", f, layer.self_attention...);
  each_of_linear(name + ".self_norm", f, layer.self_norm...);
  if constexpr ((requires { layer.cross_attention; } && ...)) {
    each_of_attention(name + ".cross", f, layer.cross_attention...);
    each_of_linear(name + ".cross_norm", f, layer.cross_norm...);
  }
  each_of_linear(name + ".feed_forward.first", f, layer.feed_forward.first...);
  each_of_linear(name + ".feed_forward.gate", f, layer.feed_forward.gate...);
  each_of_linear(name + ".feed_forward.second", f, layer.feed_forward.second...);
  each_of_linear(name + ".feed_norm", f, layer.feed_norm...);
}

template <typename F, typename First, typename... Stacks>
void each_of_stack(const std::string& name, const F& f, First& first, Stacks&... stack) {
  f(name + ".embedding", first.embedding, stack.embedding...);
  f(name + ".positions", first.positions, stack.positions...);
  if (first.embedding_norm.weight.size() > 0)
    each_of_linear(name + ".embedding_norm", f, first.embedding_norm, stack.embedding_norm...);
  for (std::size_t i = 0; i < first.layers.size(); ++i) {
    each_of_layer(name + "." + std::to_string(i), f, first.layers[i], stack.layers[i]...);
  }
  if (first.final_norm.weight.size() > 0)
    each_of_linear(name + ".final_norm", f, first.final_norm, stack.final_norm...);
}

/// The same parameter of several models, by one name.
template <typename F, typename... Models>
void each_parameter(const F& f, Models&... model) {
  each_of_stack("encoder", f, model.encoder...);
  each_of_stack("decoder", f, model.decoder...);
  f("output", model.output...);
}

struct Sentence {
  std::vector<int> source, target, labels;

  explicit Sentence(const TrainingBatch& batch)
      : source(batch.source.ids), target(batch.decoder_input.ids), labels(batch.targets) {}
};

template <typename T>
paper::Transformer<T> gradient_of(const paper::Transformer<T>& model, const Sentence& s) {
  paper::Transformer<T> gradient;
  paper::loss_and_gradient<T>(model, s.source, s.target, s.labels, gradient);
  return gradient;
}

double loss_of(const Model& model, const Sentence& s) {
  Model unused;
  return paper::loss_and_gradient<double>(model, s.source, s.target, s.labels, unused);
}

/// Tied matrices get the sum of the gradients at all their places, as training stores them.
template <typename T>
void add_up_tied(const ModelConfig& config, paper::Transformer<T>& gradient) {
  paper::Matrix<T>& encoder = gradient.encoder.embedding;
  paper::Matrix<T>& decoder = gradient.decoder.embedding;
  if (config.tie_word_embeddings) decoder += gradient.output;
  if (config.share_embeddings) decoder += encoder;
  if (config.share_embeddings) encoder = decoder;
  if (config.tie_word_embeddings) gradient.output = decoder;
}

/// Keys and values that heads share get the sum of the gradients of all who read them; here each
/// head has a copy of it, as it has of them.
template <typename T>
void add_up_shared(const ModelConfig& config, paper::Transformer<T>& gradient) {
  const auto add_up = [&](paper::MultiHead<T>& of, AttentionSite site) {
    const AttentionShape shape = attention_shape(config, site, 0);
    if (of.query.weight.size() == 0) return;
    for (paper::Linear<T>* part : {&of.key, &of.value}) {
      const paper::Linear<T> all = *part;
      for (Index to = 0; to < shape.heads; ++to) {
        const auto own = Eigen::seqN(to * shape.head_dim, shape.head_dim);
        part->weight(Eigen::all, own).setZero();
        part->bias(own).setZero();
        for (Index from = 0; from < shape.heads; ++from) {
          if (shape.key_column(from) != shape.key_column(to)) continue;
          const auto other = Eigen::seqN(from * shape.head_dim, shape.head_dim);
          part->weight(Eigen::all, own) += all.weight(Eigen::all, other);
          part->bias(own) += all.bias(other);
        }
      }
    }
  };
  for (auto& layer : gradient.encoder.layers) {
    add_up(layer.self_attention, AttentionSite::encoder_self);
  }
  for (auto& layer : gradient.decoder.layers) {
    add_up(layer.self_attention, AttentionSite::decoder_self);
    add_up(layer.cross_attention, AttentionSite::cross);
  }
}

/// Likewise all layers of a stack, where one table of biases serves them.
template <typename T>
void add_up_tables(const ModelConfig& config, paper::Transformer<T>& gradient) {
  if (!config.relative.enabled() || config.relative.per_layer) return;
  for (paper::Stack<T>* stack : {&gradient.encoder, &gradient.decoder}) {
    paper::Matrix<T> sum = stack->layers[0].self_attention.relative.table;
    for (std::size_t i = 1; i < stack->layers.size(); ++i) {
      sum += stack->layers[i].self_attention.relative.table;
    }
    for (auto& layer : stack->layers) layer.self_attention.relative.table = sum;
  }
}

/// T5's, with more layers.
ModelConfig deep_t5_config() {
  ModelConfig config = family_defaults(family_of("t5"));
  config.d_model = 10;
  config.encoder_layers = 3;
  config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.head_dim = 3;
  config.encoder_ffn_dim = config.decoder_ffn_dim = 7;
  config.vocab_size = config.decoder_vocab_size = 20;
  config.relative = {6, 5, false};
  config.pad_token_id = config.decoder_start_token_id = 19;  // as training wants it
  config.gated = config.scale_output = true;
  config.activation = Activation::gelu_new;
  return config;
}

const std::initializer_list<ModelConfig (*)()> kConfigs{small_config, small_pre_norm_config,
                                                        small_untied_config};

}  // namespace

TEST_CASE("the paper's gradients are the slopes of its loss") {
  std::vector<ModelConfig (*)()> configs(kConfigs);
  configs.push_back(deep_t5_config);
  configs.push_back([] { return small_own_config(choose_rotary); });
  for (const auto config : configs) {
    TrainableModel trainable(config(), 7);
    randomise(trainable);
    const Sentence s(random_batch(config(), 1, 6, 6, "slopes"));
    Model model = paper_model<double>(config(), trainable.parameters());
    Model gradient = gradient_of(model, s);
    Index checked = 0;
    each_parameter(
        [&](const std::string& name, auto& weight, auto& slope) {
          CAPTURE(name);
          REQUIRE(slope.rows() == weight.rows());
          REQUIRE(slope.cols() == weight.cols());
          for (Index i = 0; i < weight.size(); i += 1 + weight.size() / 5) {
            double& x = weight.data()[i];
            const double before = x, step = 1e-5;
            x = before + step;
            const double above = loss_of(model, s);
            x = before - step;
            const double found = (above - loss_of(model, s)) / (2 * step);
            x = before;
            CHECK(slope.data()[i] == doctest::Approx(found).epsilon(1e-5).scale(1));
            ++checked;
          }
        },
        model, gradient);
    CHECK(checked > 300);
  }
}

TEST_CASE("training's gradients are the paper's") {
  std::vector<NamedConfig> configs = small_own_configs();
  for (const auto make : kConfigs) configs.push_back({"usual", make()});
  for (const char* type : {"t5", "mt5", "umt5"}) configs.push_back({type, small_t5_config(type)});
  for (const NamedConfig& each : configs) {
    const ModelConfig& config = each.config;
    CAPTURE(each.name);
    TrainableModel trainable(config, 8);
    randomise(trainable);
    const TrainingBatch batch = random_batch(config, 1, 9, 9, "gradients");
    TrainingPass pass(trainable, Backend::panels);
    pass.prepare();
    PassOptions options;
    options.dropout = false;
    const LossSum loss = pass.run(batch, options);

    const Sentence s(batch);
    Model model = paper_model<double>(config, trainable.parameters());
    auto rough = paper_model<float>(config, trainable.parameters());
    model.logits_bias[config.pad_token_id] = rough.logits_bias[config.pad_token_id] = -1e4F;
    Model expected = gradient_of(model, s);
    auto in_float = gradient_of(rough, s);
    CHECK(loss.loss == doctest::Approx(loss_of(model, s)).epsilon(1e-6));
    for (const auto add_up : {add_up_tied<double>, add_up_shared<double>, add_up_tables<double>}) {
      add_up(config, expected);
    }
    for (const auto add_up : {add_up_tied<float>, add_up_shared<float>, add_up_tables<float>}) {
      add_up(config, in_float);
    }
    Model found = paper_model<double>(config, trainable.gradient_parameters());
    int compared = 0;
    each_parameter(
        [&](const std::string& name, auto& fast, auto& exact, auto& rounded) {
          CAPTURE(name);
          if (config.static_positions && name.ends_with(".positions")) return;  // not trained
          if (exact.size() == 0) return;  // a part that the model does not have
          if (!config.attention_biases && name.ends_with(".bias")) return;
          const bool tokens = name.ends_with("embedding") || name == "output";
          for (Index i = 0; i < exact.rows(); ++i) {
            if (tokens && i == frozen_row(config)) continue;
            const double size = std::max(1.0, exact.cwiseAbs().maxCoeff());
            const double e = (rounded.template cast<double>() - exact).cwiseAbs().maxCoeff() / size;
            CHECK((fast.row(i) - exact.row(i)).cwiseAbs().maxCoeff() / size <=
                  std::max(1e-5, 3 * e));
          }
          ++compared;
        },
        found, expected, in_float);
    CHECK(compared > 35);
  }
}

TEST_CASE("softmax hands no gradient through a mask") {
  const paper::Matrix<double> mask = paper::causal_mask<double>(4, 4);
  const paper::Matrix<double> q = paper::Matrix<double>::Random(4, 3);
  const paper::QueriesKeysValues<double> was{q, q.reverse(), 2 * q};
  paper::Matrix<double> only_first = paper::Matrix<double>::Zero(4, 3);
  only_first.row(0).setOnes();  // of the query that sees the first key alone
  const auto d = paper::attention_backward<double>(was, 0.5, mask, only_first);
  CHECK(d.q.isZero(0.0));
  CHECK(d.k.isZero(0.0));
  CHECK(d.v.bottomRows(3).isZero(0.0));
  CHECK(d.v.row(0) == paper::Row<double>::Ones(3));
}
