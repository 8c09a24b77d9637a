#include "base/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

using namespace attn;

TEST_CASE("random numbers have the same bits on every machine") {
  std::vector<float> x(1000);
  fill_uniform(7, "model.shared.weight", 0.5F, x.data(), x.size());
  CHECK(fnv1a(x.data(), x.size() * sizeof(float)) == 14416115527548809263U);
}

TEST_CASE("random numbers are uniform within the bound and depend on seed and name") {
  std::vector<float> a(20000);
  std::vector<float> b(20000);
  fill_uniform(1, "a", 2.0F, a.data(), a.size());
  double sum = 0;
  double squares = 0;
  for (const float v : a) {
    CHECK((v >= -2.0F && v < 2.0F));
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  CHECK(std::abs(sum / 20000) < 0.03);
  CHECK(squares / 20000 == doctest::Approx(4.0 / 3).epsilon(0.03));
  fill_uniform(2, "a", 2.0F, b.data(), b.size());
  CHECK(std::memcmp(a.data(), b.data(), 80000) != 0);
  fill_uniform(1, "b", 2.0F, b.data(), b.size());
  CHECK(std::memcmp(a.data(), b.data(), 80000) != 0);
  fill_uniform(1, "a", 2.0F, b.data(), 10);
  CHECK(std::memcmp(a.data(), b.data(), 40) == 0);
}

TEST_CASE("fnv1a gives the published value") {
  CHECK(fnv1a("", 0) == 0xCBF29CE484222325U);
  CHECK(fnv1a("foobar", 6) == 0x85944171F73967E8U);
}
