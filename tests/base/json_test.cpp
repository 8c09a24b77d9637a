#include "base/json.h"
#include "base/at.h"
#include "base/json_writer.h"
#include "base/strings/utf8.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check_error.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using test::check_error;
using namespace std::string_literals;

struct BadJson {
  std::string name;
  std::string text;
  std::string message;  ///< part of the message, with the position where it begins with "bad:"
};

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

const std::vector<BadJson> kBad = {
    {"empty", "", "bad:1:1: found no text, expected a JSON value"},
    {"blanks only", " \n\t ", "bad:1:1: found no text"},
    {"byte-order mark", "\xef\xbb\xbf{}", "bad:1:1: found a byte-order mark"},
    {"half a byte-order mark", "\xef\xbb{}", "bad:1:"},
    {"UTF-16", "\xff\xfe{\0}\0"s, "found a zero byte"},
    {"zero byte after the value", "{}\0{"s, "bad:1:3: found a zero byte"},
    {"zero byte in a string", "\"a\0b\""s, "bad:1:3: found a zero byte"},
    {"duplicate key", R"({"a": 1, "a": 2})", "found the key 'a' a second time in one object"},
    {"duplicate key, escaped", R"({"a": 1, "\u0061": 2})", "found the key 'a' a second time"},
    {"duplicate key, deep", "{\"x\":\n [{\"k\": 1,\n\"k\": 2}]}", "bad:3:3: found the key 'k'"},
    {"duplicate key, control character", R"({"\u001b[31m": 1, "\u001b[31m": 2})", "u{1b}[31m'"},
    {"nested beyond the limit", nested(33), "bad:1:33: found arrays and objects nested deeper"},
    {"nested absurdly", nested(2000000), "nested deeper than 32 levels"},
    {"objects nested beyond", std::string("{\"a\":{\"a\":{\"a\":") + nested(30) + "}}}",
     "nested deeper than 32"},
    {"text after the value", "{} x", "bad:1:4: found 'x', expected a JSON value"},
    {"value after the value", "1 2", "bad:1:3: found '2', expected nothing after the value"},
    {"bracket after the value", "{}}", "bad:1:3: found '}', expected nothing after the value"},
    {"trailing comma in an array", "[1,]",
     "bad:1:4: found ']', expected a value; remove the comma"},
    {"trailing comma in an object", "{\"a\": 1,\n}",
     "bad:2:1: found '}', expected a key in double"},
    {"missing comma", "[1 2]", "bad:1:4: found '2', expected ',' or ']'"},
    {"missing comma in an object", R"({"a": 1 "b": 2})",
     "bad:1:9: found \"b\", expected ',' or '}'"},
    {"missing colon", R"({"a" 1})", "bad:1:6: found '1', expected ':' after the key"},
    {"missing value", R"({"a":})", "bad:1:6: found '}', expected a value"},
    {"number as key", "{1: 2}", "bad:1:2: found '1', expected a key in double quotes"},
    {"bare key", "{a: 2}", "bad:1:2: found 'a', expected a JSON value; write strings and keys in"},
    {"single quotes", "['a']", "bad:1:2: found ''', expected a JSON value; write strings and keys"},
    {"wrong bracket", "[1}", "bad:1:3: found '}', expected ',' or ']'"},
    {"open array", "[1, 2", "bad:1:6: found the end of the text, expected ',' or ']'"},
    {"open object", "{\"a\": 1\n", "bad:2:1: found the end of the text, expected ',' or '}'"},
    {"open key", "{\"a", "found the end of the text inside a string"},
    {"open string", "\"abc", "bad:1:5: found the end of the text inside a string"},
    {"NaN", "[NaN]", "bad:1:2: found 'NaN', expected a JSON value; JSON has no NaN"},
    {"Infinity", "[Infinity]", "found 'Infinity', expected a JSON value; JSON has no NaN"},
    {"minus infinity", "[-Infinity]", "bad:1:2: found '-Infinity', expected a number"},
    {"True", "[True]",
     "found 'True', expected a JSON value; write true and false in small letters"},
    {"None", "[None]", "found 'None', expected a JSON value; write null"},
    {"misspelt literal", "[nul]", "bad:1:2: found 'nul'"},
    {"literal too long", "[nulls]", "bad:1:2: found 'nulls', expected a JSON value"},
    {"comment", "// x\n1", "bad:1:1: found '/', expected a JSON value; JSON has no comments"},
    {"block comment", "[1 /* x */]", "bad:1:4: found '/'"},
    {"overflow", "[1e999]", "bad:1:2: found the number 1e999, expected at most"},
    {"negative overflow", "[-1e999]", "bad:1:2: found the number -1e999"},
    {"leading zero", "[012]", "bad:1:3: found '12', expected ',' or ']'; a number has no leading"},
    {"plus sign", "[+1]", "bad:1:2: found '+1', expected a JSON value; a number begins with"},
    {"no digit before the point", "[.5]", "found '.5', expected a JSON value; a number begins"},
    {"no digit after the point", "[1.]", "found '1.', expected a number such as"},
    {"no exponent", "[1e]", "found '1e', expected a number such as"},
    {"lone minus", "[-]", "found '-', expected a number such as"},
    {"hexadecimal", "[0x10]", "found"},
    {"tab in a string", "\"a\tb\"", "found the control character U+0009 in a string"},
    {"line break in a string", "\"a\nb\"", "found the control character U+000A in a string"},
    {"escape character in a string", "\"\x1b[31m\"", "bad:1:2: found the control character U+001B"},
    {"control character outside", "[\x1b[31m]", "bad:1:2: found '\\u{1b}', expected a JSON value"},
    {"invalid UTF-8", "\"a\xff\"", "bad:1:3: found the byte 0xff, which is not valid UTF-8 here"},
    {"overlong UTF-8", "\"\xc0\xaf\"", "found the byte 0xc0, which is not valid UTF-8 here"},
    {"surrogate in UTF-8", "\"\xed\xa0\x80\"",
     "found the byte 0xa0, which is not valid UTF-8 here"},
    {"beyond U+10FFFF", "\"\xf4\x90\x80\x80\"",
     "found the byte 0x90, which is not valid UTF-8 here"},
    {"UTF-8 cut short", "\"a\xc3", "found the end of the text inside a character"},
    {"invalid UTF-8 outside", "[\xff]", "bad:1:2: found"},
    {"half a surrogate pair", R"("\ud83d")", "found half of a surrogate pair"},
    {"second half first", R"("\ude00\ud83d")", "found half of a surrogate pair"},
    {"bad hexadecimal escape", R"("\u12g4")", "found a damaged \\u escape"},
    {"unknown escape", R"("\x41")", "bad:1:3: found an unknown escape"},
    {"forged message", R"(["[json.exception.out_of_range.406] - unexpected end of input" x])",
     "found 'x', expected a JSON value"},
    {"forged problem", R"("control character; expected '}' \x")", "found an unknown escape"},
    {"columns count characters", "[\"größe\", x]", "bad:1:11: found 'x'"},
};

TEST_CASE("bad JSON is refused with one printable line that names the place") {
  for (const BadJson& bad : kBad) {
    SUBCASE(bad.name.c_str()) {
      CAPTURE(bad.name);
      check_error([&] { parse_json(bad.text, "bad"); }, ExitCode::input, bad.message);
      try {
        parse_json(bad.text, "bad");
      } catch (const Error& error) {
        for (const char c : std::string(error.what())) CHECK(byte_value(c) >= 0x20);
        CHECK(std::strlen(error.what()) < 300);
      }
    }
  }
}

TEST_CASE("limits") {
  CHECK(parse_json(nested(32), "good").is_array());
  CHECK(parse_json(nested(3), "good", {.max_depth = 3}).is_array());
  check_error([] { parse_json(nested(4), "bad", {.max_depth = 3}); }, ExitCode::input, "3 levels");
  CHECK(parse_json("[1,2,3]", "good", {.max_values = 4}).size() == 3);
  check_error([] { parse_json("[1,2,3]", "bad", {.max_values = 3}); }, ExitCode::input,
              "bad:1:7: found more than 3 values");
  check_error([] { parse_json("[1,2,3]", "bad", {.max_bytes = 6}); }, ExitCode::input,
              "found 7 B, expected at most 6 B");
}

TEST_CASE("good JSON is read, keys in the order of the text") {
  const Json value = parse_json(
      " {\"z\": [1, -2, 0.5, 1e-5, true, false, null],\r\n\t\"a\": {\"\": "
      "\"\\u00e9\\n\\ud83d\\ude00\"}} ",
      "good");
  CHECK(value.items().begin().key() == "z");
  CHECK(value["z"].size() == 7);
  CHECK(value["z"][0].is_number_unsigned());
  CHECK(value["z"][1] == -2);
  CHECK(value["z"][3] == 1e-5);
  CHECK(value["z"][6].is_null());
  CHECK(value["a"][""] == "é\n😀");
  CHECK(parse_json("\"x\"", "good") == "x");
  CHECK(parse_json("-0.0", "good").get<double>() == 0);
  CHECK(parse_json("[]", "good").empty());
  CHECK(parse_json("{}", "good").is_object());
  CHECK(parse_json("[{\"a\": 1}, {\"a\": 2}]", "good")[1]["a"] == 2);
}

TEST_CASE("integers beyond 64 bits become the nearest double, as tokenizer_config.json needs") {
  const Json value = parse_json("1000000000000000019884624838656", "good");
  CHECK(value.is_number_float());
  CHECK(value.get<double>() == 1e30);
  CHECK(parse_json("18446744073709551615", "good").get<std::uint64_t>() == UINT64_MAX);
}

TEST_CASE("an object of 100,000 keys keeps them all in order") {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i)
    text += "\"piece" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  const Json value = parse_json(text, "good");
  REQUIRE(value.size() == 100000);
  int next = 0;
  for (const auto& [key, id] : value.items()) {
    if (id != next || key != "piece" + std::to_string(next)) FAIL("wrong at ", next);
    ++next;
  }
}

TEST_CASE("a file is read, and named in errors") {
  const test::TemporaryDirectory directory;
  CHECK(read_json_file(directory.write("a.json", "{\"a\": [1]}"))["a"][0] == 1);
  const std::string bad = directory.write("bad.json", "{\n  \"a\": tru\n}");
  check_error([&] { read_json_file(bad); }, ExitCode::input, bad + ":2:8: found 'tru', expected");
  check_error([&] { read_json_file(directory.file("none.json")); }, ExitCode::system,
              "none.json: cannot open: No such file or directory; check the path");
  const std::string odd = directory.write("a\x1b[31m\n.json", "x");
  check_error([&] { read_json_file(odd); }, ExitCode::input,
              "a\\u{1b}[31m\\u{a}.json:1:1: found 'x'");
}

std::string digits_of(float value) {
  std::string out;
  append_number(out, value);
  return out;
}

TEST_CASE("numbers are the shortest that read back to the same float") {
  CHECK(digits_of(0.1f) == "0.1");
  CHECK(digits_of(1.0f) == "1");
  CHECK(digits_of(-2.5f) == "-2.5");
  CHECK(digits_of(0.0f) == "0");
  CHECK(digits_of(-0.0f) == "-0");
  CHECK(digits_of(1e-5f) == "1e-05");
  CHECK(digits_of(16777216.0f) == "16777216");
  CHECK(digits_of(std::numeric_limits<float>::max()) == "3.4028235e+38");
  CHECK(digits_of(std::numeric_limits<float>::denorm_min()) == "1e-45");
  CHECK_THROWS_AS(digits_of(std::numeric_limits<float>::quiet_NaN()), std::logic_error);
  CHECK_THROWS_AS(digits_of(-std::numeric_limits<float>::infinity()), std::logic_error);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t bits = narrow_cast<std::uint32_t>(random());
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const float back = static_cast<float>(parse_json(digits_of(value), "n").get<double>());
    if (back != value) FAIL(digits_of(value));
  }
}

std::string json_of(std::string_view text) {
  std::string out = "> ";
  append_string(out, text);
  return out.substr(2);
}

TEST_CASE("strings are escaped and read back") {
  CHECK(json_of("") == "\"\"");
  CHECK(json_of("▁größe 😀 / '") == "\"▁größe 😀 / '\"");
  CHECK(json_of("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json_of("\n\r\t") == R"("\n\r\t")");
  CHECK(json_of("\x1b\b\x7f\0x"s) == R"("\u001b\u0008\u007f\u0000x")");
  CHECK(json_of("\u0080\u009b\u009f\u00a0") == "\"\\u0080\\u009b\\u009f\u00a0\"");
  CHECK(json_of("\u2027\u2028\u2029\u202a") == "\"\u2027\\u2028\\u2029\u202a\"");
  std::string all;
  for (char c = 1; c < 127; ++c) all += c;
  all += "\u0085\u2028é\U0001F600";
  CHECK(parse_json(json_of(all), "s").get<std::string>() == all);
  CHECK(json_of("\xc2") == "\"\ufffd\"");  // invalid, and nothing is read beyond the end
  CHECK(json_of("\xe2\x80") == "\"\ufffd\"");
}

TEST_CASE("damaged JSON is read or refused, never more") {
  const std::string good =
      R"({"a": [1, -2.5e3, "x\u00e9\n", {"b": null, "größe": true}], "c": {}})";
  std::mt19937 random(11);
  int refused = 0;
  for (std::size_t i = 0; i < 20000; ++i) {
    std::string text = good.substr(0, i);
    const std::size_t flips = i % 4;
    for (std::size_t k = 0; k < flips && !text.empty(); ++k) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    try {
      parse_json(text, "damaged");
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) FAIL(error.what());
      if (std::string(error.what()).find('\n') != std::string::npos) FAIL(error.what());
      ++refused;
    }
  }
  CHECK(refused > 5000);
}

}  // namespace

TEST_CASE("a string for JSON: bytes that are no UTF-8 are replaced") {
  std::string out;
  append_string(out, "a\xff/\xe2\x82\"\n\xed\xa0\x80");
  CHECK(out == "\"a\ufffd/\ufffd\\\"\\n\ufffd\ufffd\ufffd\"");
  CHECK(Json::parse(out) == "a\ufffd/\ufffd\"\n\ufffd\ufffd\ufffd");
}

}  // namespace attn
