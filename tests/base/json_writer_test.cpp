// Tests commas, quotes and escapes at every position of a value.
#include "base/json_writer.h"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/json.h"

namespace attn {
namespace {

TEST_CASE("json writer: every kind of value, nested") {
  std::string out = "before ";
  JsonWriter json(out);
  json.object([&] {
    json.member("empty", [&] { json.object([] {}); });
    json.member("none", std::vector<int>());
    json.member("a\"b", "c\\d[");
    json.member("numbers", std::array{1, -2});
    json.member("floats", std::vector<float>{0.1F, 1, 1e-5F});
    json.member("nested", std::vector<std::vector<int>>{{1}, {}, {2, 3}});
    json.member("texts", std::vector<std::string>{"{", ":", ","});
    json.member("yes", true);
    json.member("nothing", std::optional<int>());
    json.member("something", std::optional<float>(0.5F));
    json.key("counted");
    json.array_of(3, [&](int i) { json.value(i * i); });
    json.key("mixed");
    json.array([&] {
      json.number_or_null(std::numeric_limits<double>::infinity());
      json.number_or_null(2.5);
      json.raw_value("[1]");
      json.null();
      json.unescaped_string([](std::string& to) { to += "plain"; });
      json.value(std::numeric_limits<std::uint64_t>::max());
    });
  });
  CHECK(
      out ==
      R"(before {"empty":{},"none":[],"a\"b":"c\\d[","numbers":[1,-2],"floats":[0.1,1,1e-05],)"
      R"("nested":[[1],[],[2,3]],"texts":["{",":",","],"yes":true,"nothing":null,"something":0.5,)"
      R"("counted":[0,1,4],"mixed":[null,2.5,[1],null,"plain",18446744073709551615]})");
  CHECK(Json::parse(out.substr(7))["texts"].size() == 3);
}

TEST_CASE("json writer: a float that is no number is the caller's bug") {
  std::string out;
  JsonWriter json(out);
  CHECK_THROWS_AS(json.value(std::numeric_limits<float>::quiet_NaN()), std::logic_error);
}

TEST_CASE("json writer: a line of its own") {
  CHECK(json_line([](JsonWriter& json) { json.value(1); }) == "1\n");
}

}  // namespace
}  // namespace attn
