// Tests the residual stream and next-token data in records: the forward pass's own numbers, each
// checked against the formula in double precision, for every golden model.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/at.h"
#include "golden_model.h"
#include "model/layers.h"
#include "translate/recorder.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr double kRounding =
    1e-5;  // error of 32-bit sums, relative to the largest number of the row

using Row = std::vector<double>;

/// Returns row t of a step.
Row row_of(const ResidualStreamState& step, std::size_t t) {
  const auto width = to_size(step.columns);
  const auto first = step.values.begin() + to_index(t * width);
  return {first, first + to_index(width)};
}

void check_near(const Row& found, const Row& expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(std::abs(found[i] - expected[i]) <= kRounding * largest);
  }
}

Row plus(Row a, const Row& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Row normed(const Row& x, const LayerNorm& norm) {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x) {
    variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
  }
  Row out;
  if (norm.kind == NormType::rms) {
    double square = 0;
    for (const double value : x) square += value * value / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.push_back(x[i] / std::sqrt(square + static_cast<double>(norm.epsilon)) *
                    static_cast<double>(norm.weight.at(0, to_index(i))));
    }
    return out;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) *
                      static_cast<double>(norm.weight.at(0, to_index(i))) +
                  static_cast<double>(norm.bias.at(0, to_index(i))));
  }
  return out;
}

Row affine(const Row& x, const Linear& layer) {
  Row out;
  for (Index j = 0; j < layer.weight.columns; ++j) {
    double sum = layer.bias.data == nullptr ? 0 : static_cast<double>(layer.bias.at(0, j));
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i] * static_cast<double>(layer.weight.at(to_index(i), j));
    }
    out.push_back(sum);
  }
  return out;
}

double activated(Activation activation, double x) {
  if (activation == Activation::relu) return std::max(x, 0.0);
  if (activation == Activation::gelu) return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
  if (activation == Activation::gelu_new) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x / (1 + std::exp(-x));
}

/// The blocks of a layer in order, each with its parameters.
struct Block {
  std::string name;
  const LayerNorm* norm;
  const FeedForward* feed_forward = nullptr;
};

std::vector<std::vector<Block>> blocks_of(const ModelParameters& p, bool encoder) {
  std::vector<std::vector<Block>> layers;
  if (encoder) {
    for (const EncoderLayer& l : p.encoder_layers) {
      layers.push_back({{"encoder_self", &l.self_attention_norm},
                        {"feed_forward", &l.feed_forward_norm, &l.feed_forward}});
    }
    return layers;
  }
  for (const DecoderLayer& l : p.decoder_layers) {
    layers.push_back({{"decoder_self", &l.self_attention_norm},
                      {"cross", &l.cross_attention_norm},
                      {"feed_forward", &l.feed_forward_norm, &l.feed_forward}});
  }
  return layers;
}

/// Reads the steps one after another.
class Walk {
 public:
  explicit Walk(const std::vector<ResidualStreamState>& residual_stream) : way_(residual_stream) {}

  const ResidualStreamState& next(const std::string& stage, const std::string& block = "",
                                  int layer = -1) {
    REQUIRE_MESSAGE(next_ < way_.size(), stage << " is missing");
    const ResidualStreamState& step = way_[next_++];
    CHECK(step.stage == stage);
    CHECK(step.block == block);
    CHECK(step.layer == layer);
    return step;
  }
  bool done() const { return next_ == way_.size(); }

 private:
  const std::vector<ResidualStreamState>& way_;
  std::size_t next_ = 0;
};

/// Checks the residual stream of token t, each step from the earlier ones. Returns the last
/// vector.
Row check_way(const std::vector<ResidualStreamState>& residual_stream, const Transformer& model,
              bool encoder, std::size_t t) {
  const ModelConfig& config = model.config();
  const ModelParameters& parameters = model.parameters();
  const StackParameters& ends = encoder ? parameters.encoder : parameters.decoder;
  Walk walk(residual_stream);
  Row x = row_of(walk.next("token"), t);
  if (config.absolute_positions) x = plus(x, row_of(walk.next("position"), t));
  if (config.normalize_embedding) x = normed(x, ends.embedding_norm);
  const Row entered = row_of(walk.next("embedded"), t);
  check_near(entered, x);
  x = entered;
  int layer = 0;
  for (const std::vector<Block>& blocks : blocks_of(parameters, encoder)) {
    for (const Block& block : blocks) {
      CAPTURE(layer);
      CAPTURE(block.name);
      Row reads = x;
      if (config.normalize_before) {
        reads = row_of(walk.next("normed", block.name, layer), t);
        check_near(reads, normed(x, *block.norm));
      }
      Row expected;
      if (block.feed_forward != nullptr) {
        const Row hidden = row_of(walk.next("hidden", block.name, layer), t);
        Row inside = affine(reads, block.feed_forward->first);
        for (double& value : inside) value = activated(config.activation, value);
        if (block.feed_forward->gated()) {
          const Row gates = affine(reads, block.feed_forward->gate);
          for (std::size_t i = 0; i < inside.size(); ++i) inside[i] *= gates[i];
        }
        check_near(hidden, inside);
        expected = affine(hidden, block.feed_forward->second);
      }
      const Row added = row_of(walk.next("added", block.name, layer), t);
      if (block.feed_forward != nullptr) check_near(added, expected);
      const Row sum = row_of(walk.next("sum", block.name, layer), t);
      check_near(sum, plus(x, added));
      x = sum;
      if (!config.normalize_before) {
        x = row_of(walk.next("output", block.name, layer), t);
        check_near(x, normed(sum, *block.norm));
      }
    }
    ++layer;
  }
  if (config.add_final_layer_norm) {
    const Row left = row_of(walk.next("stack_output"), t);
    Row expected = normed(x, ends.final_norm);
    if (!encoder && config.scale_output) {
      for (double& value : expected) value /= std::sqrt(static_cast<double>(config.d_model));
    }
    check_near(left, expected);
    x = left;
  }
  CHECK(walk.done());
  return x;
}

std::vector<ResidualStreamState> joined(std::vector<ResidualStreamState> first,
                                        std::vector<ResidualStreamState> rest) {
  for (ResidualStreamState& step : rest) first.push_back(std::move(step));
  return first;
}

}  // namespace

TEST_CASE("a token's way: every station follows from the ones before it, up to the logits") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    const Json& c = golden.golden["teacher_forced"][0];
    const std::vector<int> source = ids_of(c["source_ids"]);
    const std::vector<int> input = ids_of(c["decoder_input_ids"]);

    VectorRecorder in_encoder(true);
    const EncodedSource encoded = model.encode(pack({source}), &in_encoder);
    const std::vector<ResidualStreamState> encoder =
        joined(embedding_steps(model.parameters().encoder, model.config(), source),
               in_encoder.take_residual_stream());
    for (std::size_t t = 0; t < source.size(); ++t) {
      const Row last = check_way(encoder, model, true, t);
      for (std::size_t j = 0; j < last.size(); ++j) {
        CHECK(static_cast<double>(encoded.rows(to_index(t), to_index(j))) == last[j]);
      }
    }

    VectorRecorder in_decoder(true);
    const Matrix hidden = model.decode(pack({input}), encoded, &in_decoder);
    const std::vector<ResidualStreamState> decoder =
        joined(embedding_steps(model.parameters().decoder, model.config(), input),
               in_decoder.take_residual_stream());
    for (std::size_t t = 0; t < input.size(); ++t) {
      const Row last = check_way(decoder, model, false, t);
      for (std::size_t j = 0; j < last.size(); ++j) {
        CHECK(static_cast<double>(hidden(to_index(t), to_index(j))) == last[j]);
      }
    }
  }
}

TEST_CASE("without vectors the recorder keeps no way") {
  const GoldenModel golden(golden_names().front());
  VectorRecorder recorder(false);
  golden.model.transformer.encode(pack({{5, 6, 0}}), &recorder);
  CHECK(recorder.take_residual_stream().empty());
}

TEST_CASE(
    "the likeliest pieces: in order, with the log-probabilities that PyTorch gives the text") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    for (const Json& c : golden.golden["teacher_forced"]) {
      const std::vector<int> target = ids_of(c["target_ids"]);
      const EncodedSource encoded = model.encode(pack({ids_of(c["source_ids"])}));
      const Matrix hidden = model.decode(pack({ids_of(c["decoder_input_ids"])}), encoded);
      Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
      model.logits(hidden, logits);
      const Index vocabulary = logits.cols();
      const Alternatives all = likeliest_tokens(logits, target, to_int(vocabulary) + 5);
      REQUIRE(all.count == vocabulary);  // not more tokens than the vocabulary has
      const Alternatives ten = likeliest_tokens(logits, target, recorded_alternatives);
      const std::vector<float> log_probs = log_probabilities(logits, target);
      for (std::size_t t = 0; t < target.size(); ++t) {
        const std::size_t first = t * to_size(vocabulary);
        double total = 0;
        for (std::size_t i = 0; i < to_size(vocabulary); ++i) {
          const float logit = logits(to_index(t), at(all.ids, first + i));
          CHECK(all.logits[first + i] == logit);
          total += std::exp(static_cast<double>(all.log_probs[first + i]));
          if (i > 0) CHECK(all.logits[first + i - 1] >= logit);
        }
        CHECK(total == doctest::Approx(1).epsilon(1e-4));
        const std::size_t rank = to_size(ten.ranks[t]);
        CHECK(all.ids[first + rank] == target[t]);
        CHECK(all.log_probs[first + rank] == log_probs[t]);
        for (std::size_t i = 0; i < to_size(ten.count); ++i) {
          CHECK(ten.ids[t * to_size(ten.count) + i] == all.ids[first + i]);
        }
      }
    }
  }
}

TEST_CASE("pieces of one logit stand in the order of their ids") {
  Matrix logits(1, 4);
  logits << 1, 3, 1, 3;
  const Alternatives found = likeliest_tokens(logits, std::vector<int>{2}, 4);
  CHECK(found.ids == std::vector<int>{1, 3, 0, 2});
  CHECK(found.ranks == std::vector<int>{3});
}
