#include "text/vocabulary.h"

#include <doctest/doctest.h>

#include <string>

#include "check_error.h"

namespace attn {
namespace {

using namespace std::string_literals;
using test::check_error;

void refuse_vocabulary(const std::string& json, const std::string& part) {
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
  refuse_vocabulary("{\"a\": 0, \"b\": 0}", "id 0 belongs to both \"a\" and \"b\"");
  refuse_vocabulary("{\"a\": 0, \"b\": 2}",
                    "piece \"b\" has id 2 and id 1 is missing; expected each id from 0 to 1 once");
  refuse_vocabulary("{\"a\": 1}", "id 0 is missing");
  refuse_vocabulary("{\"a\": 1, \"b\": 2, \"c\": 3}", "piece \"c\" has id 3 and id 0 is missing");
  refuse_vocabulary("{\"a\": -1}", "the id of piece \"a\" is -1; expected an integer from 0 to 0");
  refuse_vocabulary("{\"a\": 0.0}", "the id of piece \"a\" is 0.0");
  refuse_vocabulary("{\"a\": \"0\"}", "the id of piece \"a\" is \"0\"");
  refuse_vocabulary("{\"a\": null}", "the id of piece \"a\" is null");
  refuse_vocabulary("{\"a\": [0]}", "the id of piece \"a\" is [0]");
  refuse_vocabulary("{\"a\": 4294967296}", "the id of piece \"a\" is 4294967296");
  refuse_vocabulary("{\"a\": 1e0}", "the id of piece \"a\" is 1.0");
}

TEST_CASE("a vocabulary is strict JSON") {
  refuse_vocabulary("", "");
  refuse_vocabulary("{}", "no pieces");
  refuse_vocabulary("[]", "found an array; expected an object");
  refuse_vocabulary("[\"a\"]", "found an array");
  refuse_vocabulary("3", "found a number");
  refuse_vocabulary("{\"a\": 0,}", "");
  refuse_vocabulary("{\"a\": 0} x", "");
  refuse_vocabulary("{\"a\": 00}", "");
  refuse_vocabulary("{\"a\": 0", "");
  refuse_vocabulary("{\"a\" 0}", "");
  refuse_vocabulary("{a: 0}", "");
  refuse_vocabulary("{\"a\": 0, \"a\": 1}", "\"a\"");
  refuse_vocabulary("{\"a\": 0, \"a\": 0}", "\"a\"");
  refuse_vocabulary("{\"\\u0061\": 0, \"a\": 1}", "\"a\"");
  refuse_vocabulary("\xEF\xBB\xBF{\"a\": 0}", "");
  refuse_vocabulary("{\"\xFF\": 0}", "");
  refuse_vocabulary("{\"\n\": 0}", "");
  refuse_vocabulary("{\"\\ud800\": 0}", "");
  refuse_vocabulary("{\"\\udc00\\ud800\": 0}", "");
  refuse_vocabulary("{\"\\ud800\\u0041\": 0}", "");
  refuse_vocabulary("{\"\\x41\": 0}", "");
  refuse_vocabulary("{\"\\u00g1\": 0}", "");
  refuse_vocabulary("{\"a\": 0}\0"s, "");
}

}  // namespace
}  // namespace attn
