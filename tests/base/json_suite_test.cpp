// Tests the reader on the cases of JSONTestSuite.
#include "base/json_suite.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "base/json.h"

using namespace attn;
using namespace attn::test;

namespace {

/// True if the text is read; an error must say where it is.
bool is_read(std::string_view text) {
  try {
    parse_json(text, "suite.json");
    return true;
  } catch (const InputError& error) {
    CHECK(std::string_view(error.what()).starts_with("suite.json:"));
    return false;
  }
}

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace

TEST_CASE("JSONTestSuite: what must be accepted is, but for a key that stands twice") {
  for (const JsonCase& one : kMustAccept) {
    CAPTURE(one.name);
    CHECK(is_read(one.text));
  }
  // The suite accepts y_object_duplicated_key and …_and_value: RFC 8259 asks for unique names
  // without saying how to read duplicates. A key that occurs twice in a config is a mistake, so
  // the reader refuses it.
  CHECK_THROWS_WITH_AS(
      parse_json(R"({"a":"b","a":"c"})", "x"),
      "x:1:12: found the key 'a' a second time in one object, expected each key once", InputError);
  CHECK_FALSE(is_read(R"({"a":"b","a":"b"})"));
}

TEST_CASE("JSONTestSuite: what must be refused is") {
  for (const JsonCase& one : kMustRefuse) {
    CAPTURE(one.name);
    CHECK_FALSE(is_read(one.text));
  }
  CHECK_FALSE(is_read(repeated("[", 100'000)));
  CHECK_FALSE(is_read(repeated(R"([{"":)", 50'000) + "\n"));
}

TEST_CASE("JSONTestSuite: what is left to the reader is decided") {
  for (const JsonDecision& one : kDecided) {
    CAPTURE(one.name);
    CHECK(is_read(one.text) == one.accepted);
  }
  CHECK_FALSE(is_read(repeated("[", 500) + repeated("]", 500)));  // deeper than 32
}
