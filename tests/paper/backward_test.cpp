// Tests lib/paper's gradients against numeric ones, and training's gradients against lib/paper's.
#include "paper/backward.h"

#include <doctest/doctest.h>

#include <cmath>
#include <concepts>
#include <set>

#include "model/small_training.h"
#include "paper/train.h"
#include "paper_model.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Calls f(name, matrix) for a matrix or row of each model; all of them have the same shape.
template <typename F, typename... Linears>
void each_of_linear(const std::string& name, const F& f, Linears&... linear) {
  f(name + ".weight", linear.weight...);
  f(name + ".bias", linear.bias...);
}

/// Calls g(name, f, part) for a part that the models may have.
template <typename G, typename First, typename... Parts>
void each_if_any(const G& g, First& first, Parts&... parts) {
  if (first) g(*first, *parts...);
}

template <typename F, typename... Layers>
void each_of_attention(const std::string& name, const F& f, Layers&... layer) {
  each_of_linear(name + ".query", f, layer.query...);
  each_of_linear(name + ".key", f, layer.key...);
  each_of_linear(name + ".value", f, layer.value...);
  each_of_linear(name + ".output", f, layer.output...);
  if constexpr ((requires { layer.bias; } && ...)) {
    each_if_any([&](auto&... bias) { f(name + ".relative", bias.table...); }, layer.bias...);
  }
}

/// Visits the parts that layers of the encoder and the decoder share.
template <typename F, typename... Layers>
void each_of_layer(const std::string& name, const F& f, Layers&... layer) {
  each_of_attention(name + ".self", f, layer.self_attention...);
  each_of_linear(name + ".self_norm", f, layer.self_norm...);
  each_of_linear(name + ".feed_forward.first", f, layer.feed_forward.first...);
  each_of_linear(name + ".feed_forward.second", f, layer.feed_forward.second...);
  each_of_linear(name + ".feed_norm", f, layer.feed_norm...);
}

template <typename F, typename First, typename... Layers>
void each_of_variant(const std::string& name, const F& f, First& first, Layers&... layer) {
  each_of_layer(name, f, first, layer...);
  each_if_any([&](auto&... gate) { each_of_linear(name + ".feed_forward.gate", f, gate...); },
              first.feed_forward.gate, layer.feed_forward.gate...);
  each_if_any([&](auto&... cross) { each_of_attention(name + ".cross", f, cross...); },
              first.cross_attention, layer.cross_attention...);
  if (first.cross_attention) {
    each_of_linear(name + ".cross_norm", f, first.cross_norm, layer.cross_norm...);
  }
}

template <typename F, typename First, typename... Stacks>
void each_of_stack(const std::string& name, const F& f, First& first, Stacks&... stack) {
  f(name + ".embedding", first.embedding.tokens, stack.embedding.tokens...);
  f(name + ".positions", first.embedding.positions, stack.embedding.positions...);
  each_if_any([&](auto&... norm) { each_of_linear(name + ".embedding_norm", f, norm...); },
              first.embedding_norm, stack.embedding_norm...);
  for (std::size_t i = 0; i < first.layers.size(); ++i) {
    each_of_variant(name + "." + std::to_string(i), f, first.layers[i], stack.layers[i]...);
  }
  each_if_any([&](auto&... norm) { each_of_linear(name + ".final_norm", f, norm...); },
              first.final_norm, stack.final_norm...);
}

/// Visits the same parameters of several models, under one name each.
template <typename F, std::same_as<variants::Transformer>... Models>
void each_parameter(const F& f, Models&... model) {
  each_of_stack("encoder", f, model.encoder...);
  each_of_stack("decoder", f, model.decoder...);
  each_of_linear("output", f, model.output...);
}

template <typename F, std::same_as<paper::Transformer>... Models>
void each_parameter(const F& f, paper::Transformer& first, Models&... model) {
  f("encoder.embedding", first.source.tokens, model.source.tokens...);
  f("decoder.embedding", first.target.tokens, model.target.tokens...);
  f("encoder.positions", first.source.positions, model.source.positions...);
  f("decoder.positions", first.target.positions, model.target.positions...);
  for (std::size_t i = 0; i < first.encoder.size(); ++i) {
    each_of_layer("encoder." + std::to_string(i), f, first.encoder[i], model.encoder[i]...);
  }
  for (std::size_t i = 0; i < first.decoder.size(); ++i) {
    const std::string name = "decoder." + std::to_string(i);
    each_of_layer(name, f, first.decoder[i], model.decoder[i]...);
    each_of_attention(name + ".cross", f, first.decoder[i].cross_attention,
                      model.decoder[i].cross_attention...);
    each_of_linear(name + ".cross_norm", f, first.decoder[i].cross_norm,
                   model.decoder[i].cross_norm...);
  }
  each_of_linear("output", f, first.output, model.output...);
}

struct Sentence {
  std::vector<int> source, target, labels;

  explicit Sentence(const TrainingBatch& batch)
      : source(batch.source.ids), target(batch.decoder_input.ids), labels(batch.targets) {}
};

/// Computes the loss and the gradient of the classic model or of a variant.
template <typename Model>
std::pair<double, Model> loss_and_gradient(const Model& model, const Sentence& s) {
  return loss_and_gradient(model, s.source, s.target, s.labels);
}

/// Sets each tied matrix to the sum of its gradients in all uses, as training stores it.
void add_up_tied(const ModelConfig& config, variants::Transformer& gradient) {
  paper::Matrix& encoder = gradient.encoder.embedding.tokens;
  paper::Matrix& decoder = gradient.decoder.embedding.tokens;
  if (config.tie_word_embeddings) decoder += gradient.output.weight.transpose();
  if (config.share_embeddings) decoder += encoder;
  if (config.share_embeddings) encoder = decoder;
  if (config.tie_word_embeddings) gradient.output.weight = decoder.transpose();
}

/// Does the same for the layers of a stack that share one relative position bias.
void add_up_tables(const ModelConfig& config, variants::Transformer& gradient) {
  if (!config.relative.enabled() || config.relative.per_layer) return;
  for (variants::Stack* stack : {&gradient.encoder, &gradient.decoder}) {
    paper::Matrix sum = stack->layers[0].self_attention.bias->table;
    for (std::size_t i = 1; i < stack->layers.size(); ++i) {
      sum += stack->layers[i].self_attention.bias->table;
    }
    for (auto& layer : stack->layers) layer.self_attention.bias->table = sum;
  }
}

/// Returns T5's config with more layers.
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
  config.pad_token_id = config.decoder_start_token_id = 19;  // as training requires
  config.gated = config.scale_output = true;
  config.activation = Activation::gelu_new;
  return config;
}

const std::initializer_list<ModelConfig (*)()> kConfigs{small_config, small_pre_norm_config,
                                                        small_untied_config};

}  // namespace

namespace {

/// Compares some elements of every gradient with central differences of the loss.
template <typename Model>
void check_slopes(Model model, const Sentence& s) {
  Model gradient = loss_and_gradient(model, s).second;
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
          const double above = loss_and_gradient(model, s).first;
          x = before - step;
          const double found = (above - loss_and_gradient(model, s).first) / (2 * step);
          x = before;
          CHECK(slope.data()[i] == doctest::Approx(found).epsilon(1e-5).scale(1));
          ++checked;
        }
      },
      model, gradient);
  CHECK(checked > 300);
}

/// False for parameters that only lib/paper has, or that the model does not train.
bool is_trained(const ModelConfig& config, const std::string& name) {
  if (name.ends_with(".positions")) return config.absolute_positions && !config.static_positions;
  if (!name.ends_with(".bias")) return true;
  if (name == "output.bias" || !config.attention_biases) return false;
  return !name.ends_with("norm.bias") || config.norm != NormType::rms;
}

}  // namespace

TEST_CASE("the paper's gradients, and those of its variants, are the slopes of the loss") {
  std::vector<ModelConfig (*)()> configs(kConfigs);
  configs.push_back(deep_t5_config);
  configs.push_back([] { return small_own_config(choose_rotary); });
  configs.push_back([] { return small_own_config([](ModelConfig& c) { c.key_value_heads = 2; }); });
  int classic = 0;
  for (const auto config : configs) {
    TrainableModel trainable(config(), 7);
    randomise(trainable);
    const Sentence s(random_batch(config(), 1, 6, 6, "slopes"));
    const variants::Transformer model = variant_model(config(), trainable.parameters());
    check_slopes(model, s);
    if (!is_classic(config())) continue;
    ++classic;
    check_slopes(classic_model(model), s);
  }
  CHECK(classic >= 1);
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
    variants::Transformer model = variant_model(config, trainable.parameters());
    model.output.bias[config.pad_token_id] = -1e4;
    auto [exact_loss, expected] = loss_and_gradient(model, s);
    CHECK(loss.loss == doctest::Approx(exact_loss).epsilon(1e-6));
    add_up_tied(config, expected);
    add_up_tables(config, expected);
    variants::Transformer found = variant_model(config, trainable.gradient_parameters());
    const Index frozen = frozen_row(config);  // row of <pad>; −1 if it is trained
    int compared = 0;
    each_parameter(
        [&](const std::string& name, auto& fast, auto& exact) {
          CAPTURE(name);
          if (!is_trained(config, name)) return;
          if (frozen >= 0 && name.ends_with("embedding")) exact.row(frozen) = fast.row(frozen);
          if (frozen >= 0 && name == "output.weight") exact.col(frozen) = fast.col(frozen);
          const double size = std::max(1.0, exact.cwiseAbs().maxCoeff());
          CHECK((fast - exact).cwiseAbs().maxCoeff() / size <= 1e-5);
          ++compared;
        },
        found, expected);
    CHECK(compared > 35);
  }
}

TEST_CASE("the optimizer trains every number of a model but its sinusoids, each once") {
  TrainableModel trainable(small_config(), 7);
  paper::Transformer model = classic_model(variant_model(small_config(), trainable.parameters()));
  std::set<const double*> expected;
  each_parameter(
      [&](const std::string& name, auto& weight) {
        if (name.ends_with(".positions")) return;
        for (Index i = 0; i < weight.size(); ++i) expected.insert(weight.data() + i);
      },
      model);
  const std::vector<double*> found = paper::Parameters(model).all;
  CHECK(found.size() == expected.size());
  CHECK(std::set<const double*>(found.begin(), found.end()) == expected);
}

TEST_CASE("softmax hands no gradient through a mask") {
  const paper::Matrix mask = paper::causal_mask(4, 4);
  const paper::Matrix q = paper::Matrix::Random(4, 3);
  const paper::AttentionCache cache = paper::attention(q, q.reverse(), 2 * q, 0.5, mask);
  paper::Matrix only_first = paper::Matrix::Zero(4, 3);
  only_first.row(0).setOnes();  // of the query that sees only the first key
  const auto d = paper::attention_backward(cache, 0.5, only_first);
  CHECK(d.q.isZero(0.0));
  CHECK(d.k.isZero(0.0));
  CHECK(d.v.bottomRows(3).isZero(0.0));
  CHECK(d.v.row(0) == paper::Row::Ones(3));
}
