// Tests packed maps with an independent decoder: each weight must keep its bits.
#include "record/json/maps_json.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace attn {
namespace {

std::vector<bool> bits_of(const std::string& text) {
  std::string letters;
  for (char letter = '!'; letter <= '~'; ++letter) {
    if (letter != '"' && letter != '<' && letter != '\\') letters += letter;
  }
  REQUIRE(text.size() % 2 == 0);
  std::vector<bool> bits;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const std::size_t low = letters.find(text[at]);
    const std::size_t high = letters.find(text[at + 1]);
    REQUIRE(low != letters.npos);
    REQUIRE(high != letters.npos);
    for (int bit = 0; bit < 13; ++bit) bits.push_back(((low + 91 * high) >> bit & 1U) != 0);
  }
  return bits;
}

/// The stream's first bit, and its weights.
struct Unpacked {
  bool triangle = false;
  std::vector<float> weights;
};

Unpacked unpacked(const std::string& text, std::size_t count) {
  const std::vector<bool> bits = bits_of(text);
  std::size_t at = 0;
  const auto take = [&](int width) {
    std::uint32_t value = 0;
    for (int bit = 0; bit < width; ++bit) value |= std::uint32_t{bits.at(at++)} << bit;
    return value;
  };
  Unpacked result;
  result.triangle = take(1) == 1;
  while (result.weights.size() < count) {
    std::uint32_t size = 0;
    while (take(1) == 1) size += 8;
    size += take(3);
    std::uint32_t word = 0;
    if (size == 128) {
      word = take(32);
    } else if (size > 0) {
      word = take(23);
      word |= (128 - size) << 23;
    }
    result.weights.push_back(std::bit_cast<float>(word));
  }
  CHECK(bits.size() - at < 13);  // only padding bits follow
  return result;
}

std::uint32_t word_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

std::string packed(const std::vector<float>& weights, int queries, int keys) {
  std::string out;
  JsonWriter json(out);
  write_packed(json, weights, queries, keys);
  REQUIRE(out.size() >= 2);
  return out.substr(1, out.size() - 2);
}

TEST_CASE("packed maps: every float comes back, whatever it is") {
  std::mt19937 dice(1);
  std::vector<float> values = {0.0F, -0.0F, 1.0F, 0.5F, 0.1F, 1e-38F, 1e-45F, -0.25F, 2.0F, 3e38F};
  values.push_back(std::numeric_limits<float>::min());
  values.push_back(std::nextafter(1.0F, 2.0F));
  values.push_back(std::nextafter(1.0F, 0.0F));
  while (values.size() < 4000) {
    const float any = std::bit_cast<float>(static_cast<std::uint32_t>(dice()));
    if (std::isfinite(any)) values.push_back(any);
    values.push_back(std::exp(-20 * static_cast<float>(dice() % 100000) / 1e5F));
  }
  const Unpacked back = unpacked(packed(values, 1, static_cast<int>(values.size())), values.size());
  CHECK(!back.triangle);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(values[i]);
    CHECK(word_of(back.weights[i]) == word_of(values[i]));
  }
}

TEST_CASE("packed maps: what is masked is left out where all maps are triangles") {
  const std::vector<float> map = {1, 0, 0, 0.25F, 0.75F, 0, 0.5F, 0.25F, 0.25F};
  const std::vector<float> below = {1, 0.25F, 0.75F, 0.5F, 0.25F, 0.25F};
  const Unpacked back = unpacked(packed(map, 3, 3), 6);
  CHECK(back.triangle);
  CHECK(back.weights == below);
  std::vector<float> both = map;
  both.insert(both.end(), map.begin(), map.end());
  CHECK(unpacked(packed(both, 3, 3), 12).triangle);
  both[9 + 2] = -0.0F;  // a weight above the diagonal of the second map
  const Unpacked whole = unpacked(packed(both, 3, 3), 18);
  CHECK(!whole.triangle);
  CHECK(word_of(whole.weights[11]) == word_of(-0.0F));
  CHECK(!unpacked(packed({1, 0, 0.5F, 0.5F, 1, 0}, 3, 2), 6).triangle);
}

TEST_CASE("packed maps: the row of one step, numbers that are not finite, nothing at all") {
  CHECK(unpacked(packed({0.5F, 0.5F, 1, 0}, 1, 2), 4).weights ==
        std::vector<float>{0.5F, 0.5F, 1, 0});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Unpacked back =
      unpacked(packed({kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}, 1, 3), 3);
  CHECK(back.weights[0] == kInfinity);
  CHECK(back.weights[1] == -kInfinity);
  CHECK(std::isnan(back.weights[2]));
  unpacked(packed({}, 0, 0), 0);
}

TEST_CASE("packed maps: a weight of softmax takes less than 4.4 letters") {
  std::mt19937 dice(7);
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(std::exp(-9 * static_cast<float>(dice() % 1000000) / 1e6F) / 4);
  }
  CHECK(packed(values, 1, 20000).size() < 88000);
}

}  // namespace
}  // namespace attn
