#include "text/vocabulary.h"

#include <doctest/doctest.h>

#include <string>

#include "check_error.h"

namespace attn {
namespace {

using namespace std::string_literals;
using test::check_error;

void refuse(const std::string& json, const std::string& part) {
  CAPTURE(json);
  check_error([&] { Vocabulary::parse(json, "dir/vocab.json"); }, ExitCode::input, part);
  check_error([&] { Vocabulary::parse(json, "dir/vocab.json"); }, ExitCode::input,
              "dir/vocab.json:");
}

TEST_CASE("a vocabulary is read in any order and form") {
  const Vocabulary vocabulary = Vocabulary::parse(
      " {\"b\" : 2,\r\n\t\"\\u2581a\\\"\\\\\\/\\n\":0,\"\\ud83d\\uDE00\":1 , \"ä\":3}\n", "v");
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.piece(0) == "▁a\"\\/\n");
  CHECK(vocabulary.piece(1) == "😀");
  CHECK(vocabulary.find("b") == 2);
  CHECK(vocabulary.find("ä") == 3);
  CHECK_FALSE(vocabulary.find("a"));
  CHECK_FALSE(vocabulary.holds(-1));
  CHECK_FALSE(vocabulary.holds(4));
  CHECK(vocabulary.holds(3));
}

TEST_CASE("a vocabulary's views survive a move") {
  Vocabulary first = Vocabulary::parse("{\"a\": 1, \"b\": 0}", "v");
  const Vocabulary second = std::move(first);
  CHECK(second.find("a") == 1);
  CHECK(second.piece(0) == "b");
}

TEST_CASE("ids are 0 to n - 1, each once") {
  refuse("{\"a\": 0, \"b\": 0}", "id 0 belongs to both \"a\" and \"b\"");
  refuse("{\"a\": 0, \"b\": 2}",
         "piece \"b\" has id 2 and id 1 is missing; expected each id from 0 to 1 once");
  refuse("{\"a\": 1}", "id 0 is missing");
  refuse("{\"a\": 1, \"b\": 2, \"c\": 3}", "piece \"c\" has id 3 and id 0 is missing");
  refuse("{\"a\": -1}", "the id of piece \"a\" is -1; expected an integer from 0 to 0");
  refuse("{\"a\": 0.0}", "the id of piece \"a\" is 0.0");
  refuse("{\"a\": \"0\"}", "the id of piece \"a\" is \"0\"");
  refuse("{\"a\": null}", "the id of piece \"a\" is null");
  refuse("{\"a\": [0]}", "the id of piece \"a\" is [0]");
  refuse("{\"a\": 4294967296}", "the id of piece \"a\" is 4294967296");
  refuse("{\"a\": 1e0}", "the id of piece \"a\" is 1.0");
}

TEST_CASE("a vocabulary is strict JSON") {
  refuse("", "");
  refuse("{}", "no pieces");
  refuse("[]", "found an array; expected an object");
  refuse("[\"a\"]", "found an array");
  refuse("3", "found a number");
  refuse("{\"a\": 0,}", "");
  refuse("{\"a\": 0} x", "");
  refuse("{\"a\": 00}", "");
  refuse("{\"a\": 0", "");
  refuse("{\"a\" 0}", "");
  refuse("{a: 0}", "");
  refuse("{\"a\": 0, \"a\": 1}", "\"a\"");
  refuse("{\"a\": 0, \"a\": 0}", "\"a\"");
  refuse("{\"\\u0061\": 0, \"a\": 1}", "\"a\"");
  refuse("\xEF\xBB\xBF{\"a\": 0}", "");
  refuse("{\"\xFF\": 0}", "");
  refuse("{\"\n\": 0}", "");
  refuse("{\"\\ud800\": 0}", "");
  refuse("{\"\\udc00\\ud800\": 0}", "");
  refuse("{\"\\ud800\\u0041\": 0}", "");
  refuse("{\"\\x41\": 0}", "");
  refuse("{\"\\u00g1\": 0}", "");
  refuse("{\"a\": 0}\0"s, "");
}

}  // namespace
}  // namespace attn
