// Trains a model with the formulas of lib/paper alone: it learns to copy, the first task of "The
// Annotated Transformer" (Rush 2018), with its vocabulary of 11 and its length of 10.
#include <doctest/doctest.h>

#include "base/random.h"
#include "paper/train.h"

namespace attn::paper {
namespace {

constexpr Index kVocabulary = 11, kLength = 10;
constexpr int kStart = 1, kNoEnd = 0;  // symbols are 1 to 10, and a sentence begins with 1

/// Returns [in, out], uniform within ±√(6 / (in + out)) (Glorot and Bengio 2010).
Matrix random_matrix(Index in, Index out, RandomGenerator& random) {
  const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
  Matrix m(in, out);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = (2 * random.uniform() - 1) * bound;
  return m;
}

Linear random_linear(Index in, Index out, RandomGenerator& random) {
  return {random_matrix(in, out, random), Row::Zero(out)};
}

/// Returns a model with D = 16, H = 2, F = 32, and one layer on each side.
Transformer random_model(RandomGenerator& random) {
  const Index d_model = 16, heads = 2, ffn_dim = 32;
  const double root = std::sqrt(static_cast<double>(d_model));
  const LayerNorm norm{Row::Ones(d_model), Row::Zero(d_model)};
  const auto attention = [&]() -> MultiHead {
    const auto linear = [&] { return random_linear(d_model, d_model, random); };
    return {linear(), linear(), linear(),
            linear(), heads,    std::sqrt(static_cast<double>(heads)) / root};
  };
  const auto layer = [&]() -> EncoderLayer {
    const MultiHead self = attention();
    const FeedForward feed_forward{random_linear(d_model, ffn_dim, random),
                                   random_linear(ffn_dim, d_model, random)};
    return {self, feed_forward, norm, norm};
  };
  const auto embedding = [&]() -> Embedding {
    return {random_matrix(kVocabulary, d_model, random), sinusoids(kLength, d_model), root};
  };
  Transformer model;
  model.source = embedding();
  model.target = embedding();
  model.encoder.push_back(layer());
  model.decoder.push_back({layer(), attention(), norm});
  model.output = random_linear(d_model, kVocabulary, random);
  return model;
}

/// Returns a random sentence, to be copied.
Example random_example(RandomGenerator& random) {
  std::vector<int> symbols{kStart};
  while (std::ssize(symbols) < kLength) {
    symbols.push_back(1 + static_cast<int>(random.below(kVocabulary - 1)));
  }
  return {symbols, symbols};
}

std::vector<Batch> random_batches(int count, RandomGenerator& random) {
  std::vector<Batch> batches(static_cast<std::size_t>(count));
  for (Batch& batch : batches) {
    for (int i = 0; i < 20; ++i) batch.push_back(random_example(random));
  }
  return batches;
}

/// Returns how many of `sentences` unseen sentences the model copies without an error.
int exact_copies(const Transformer& model, int sentences, RandomGenerator& random) {
  int exact = 0;
  for (int i = 0; i < sentences; ++i) {
    const Example example = random_example(random);
    std::vector<int> copy = translate(model, example.source, kStart, kNoEnd, kLength - 1);
    copy.insert(copy.begin(), kStart);
    exact += copy == example.target ? 1 : 0;
  }
  return exact;
}

}  // namespace

TEST_CASE("the paper's Transformer learns to copy every sentence") {
  RandomGenerator random(1, "copy task", 0);
  Transformer model = random_model(random);
  CHECK(exact_copies(model, 100, random) == 0);
  Adam adam{.factor = 0.7, .warmup = 100};
  const double first_loss = train(model, adam, random_batches(1, random));
  train(model, adam, random_batches(599, random));
  adam.factor /= 5;
  const double last_loss = train(model, adam, random_batches(400, random));
  CHECK(first_loss > 9 * std::log(5.0));  // for 9 symbols: about as bad as guessing
  CHECK(last_loss < 0.1);
  CHECK(exact_copies(model, 500, random) == 500);
}

}  // namespace attn::paper
