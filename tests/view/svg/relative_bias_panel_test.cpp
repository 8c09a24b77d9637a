// Tests the plot of a head's relative position bias beside its map.
#include <doctest/doctest.h>

#include <utility>

#include "base/strings/utf8.h"
#include "view/svg/map/attention_svg.h"
#include "view/svg/small_xml.h"

namespace attn::test {
namespace {

constexpr int kTokens = 3;

/// Returns a record with two layers of two heads; head 1 of layer 1 looks at the previous token.
AttentionRecord record_with_distances() {
  AttentionRecord record;
  record.source = {{"▁a", "▁b", "</s>"}, {1, 2, 0}};
  std::vector<float> even(3 * kTokens * kTokens, 1.0F / 3);
  even.insert(even.end(), {0.25F, 0.5F, 0.25F, 0.75F, 0.25F, 0, 0, 0.75F, 0.25F});
  record.encoder_self = AttentionMaps{2, 2, kTokens, kTokens, even};
  AttentionVectors vectors;
  vectors.relative_bias = {2, 2, 1, 5, std::vector<float>(15, 0)};
  vectors.relative_bias.values.insert(vectors.relative_bias.values.end(),
                                      {-0.5F, 2, 0.25F, -1, -1});
  record.encoder_vectors = vectors;
  HypothesisRecord hypothesis;
  hypothesis.produced = {{"▁c", "▁d", "</s>"}, {3, 4, 0}};
  hypothesis.decoder_input = {{"<pad>", "▁c", "▁d"}, {5, 3, 4}};
  hypothesis.decoder_self =
      AttentionMaps{1, 1, kTokens, kTokens, {1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.5F, 0.25F}};
  hypothesis.cross = record.encoder_self;
  AttentionVectors decoder;
  decoder.relative_bias = {1, 1, 1, 5, {-3, 1, 0.5F, 7, 8}};
  hypothesis.decoder_self_vectors = decoder;
  hypothesis.cross_vectors = AttentionVectors{};
  record.hypotheses.push_back(hypothesis);
  return record;
}

/// Returns the distance and value of every bar in a plot.
std::vector<std::pair<double, double>> bars(const std::string& svg, const std::string& data) {
  std::vector<std::pair<double, double>> found;
  for (const Element& element : parse_xml(svg)) {
    if (!element.attributes.contains("data-distance") || !element.attributes.contains(data))
      continue;
    found.emplace_back(element.number("data-distance"), element.number(data));
  }
  return found;
}

bool says(const std::string& svg, const std::string& text) {
  return svg.find(">" + text + "<") != std::string::npos;
}

}  // namespace

TEST_CASE("beside a head with relative positions stand its biases and weights by distance") {
  const AttentionRecord record = record_with_distances();
  const std::string svg = attention_svg(record, {AttentionSite::encoder_self, 0, 1, 1});
  using Bars = std::vector<std::pair<double, double>>;
  CHECK(bars(svg, "data-bias") == Bars{{-2, -0.5}, {-1, 2}, {0, 0.25}, {1, -1}, {2, -1}});
  CHECK(bars(svg, "data-weight") == Bars{{-2, 0}, {-1, 0.75}, {0, 0.25}, {1, 0.25}, {2, 0.25}});
  CHECK(says(svg, "bias by distance, key − query: the most, 2.00, at −1"));
  CHECK(says(svg, "mean weight by distance: the most, 0.75, at −1"));
  CHECK(svg.find("id=\"encoder-1-1-bias-by-distance\"") != std::string::npos);
  // Positive bars go up from the line at 0, negative ones go down; 96 pixels are a value of 3.
  double zero = 0;
  for (const Element& element : parse_xml(svg)) {
    if (!element.attributes.contains("data-bias")) continue;
    if (element.number("data-distance") == -1) {
      CHECK(element.number("height") == doctest::Approx(64));
      zero = element.number("y") + 64;
    }
    if (element.number("data-distance") == 1) {
      CHECK(element.number("height") == doctest::Approx(32));
      CHECK(element.number("y") == doctest::Approx(zero));
    }
  }
}

TEST_CASE("of a decoder's head distances end at the query's own place") {
  const AttentionRecord record = record_with_distances();
  const std::string svg = attention_svg(record, {AttentionSite::decoder_self, 0, 0, 0});
  using Bars = std::vector<std::pair<double, double>>;
  CHECK(bars(svg, "data-bias") == Bars{{-2, -3}, {-1, 1}, {0, 0.5}});
  CHECK(bars(svg, "data-weight").size() == 3);
  CHECK(says(svg, "bias by distance, key − query: the most, 1.00, at −1"));
}

TEST_CASE("other pictures have no distances: cross-attention, a mean, a model without them") {
  AttentionRecord record = record_with_distances();
  const auto has = [&](const AttentionSvgOptions& choice) {
    return attention_svg(record, choice).find("by-distance") != std::string::npos;
  };
  CHECK(has({AttentionSite::encoder_self, 0, 0, 0}));
  CHECK_FALSE(has({AttentionSite::cross, 0, 0, 0}));
  const std::vector<float> mean(kTokens * kTokens, 1.0F / 3);
  AttentionSvgOptions of_mean{AttentionSite::encoder_self, 0, 0, {}};
  of_mean.mean = mean;
  CHECK_FALSE(has(of_mean));
  record.encoder_vectors->relative_bias = {};
  CHECK_FALSE(has({AttentionSite::encoder_self, 0, 0, 0}));
  record.encoder_vectors.reset();
  CHECK_FALSE(has({AttentionSite::encoder_self, 0, 0, 0}));
}

}  // namespace attn::test
