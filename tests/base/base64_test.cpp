#include "base/strings/base64.h"

#include <doctest/doctest.h>

#include <limits>

namespace attn {
namespace {

TEST_CASE("base64 gives RFC 4648's examples, and every digit") {
  const auto encoded = [](std::string_view bytes) {
    std::string out = "x";
    append_base64(out, bytes);
    return out;
  };
  CHECK(encoded("") == "x");
  CHECK(encoded("f") == "xZg==");
  CHECK(encoded("fo") == "xZm8=");
  CHECK(encoded("foo") == "xZm9v");
  CHECK(encoded("foob") == "xZm9vYg==");
  CHECK(encoded("fooba") == "xZm9vYmE=");
  CHECK(encoded("foobar") == "xZm9vYmFy");
  CHECK(encoded("\xfb\xff\xbf") == "x+/+/");
}

TEST_CASE("base64: floats come back, and nothing that is not just so many of them") {
  for (const std::vector<float>& values : {std::vector<float>{},
                                           {1},
                                           {1, -0.1F},
                                           {0.5F, 2, std::numeric_limits<float>::infinity()},
                                           {1e-45F, 3, 4, 5}}) {
    std::string text;
    append_base64(text, values);
    CHECK(decode_base64_floats(text, values.size()) == values);
    CHECK(!decode_base64_floats(text, values.size() + 1));
    CHECK(!decode_base64_floats(text + "AAAA", values.size()));
  }
  CHECK(decode_base64_floats("AACAPw==", 1) == std::vector<float>{1});
  for (const char* text : {"AACAPwAA", "AACA?w==", "AACAPw=A", "AACAP==="}) {
    CAPTURE(text);
    CHECK(!decode_base64_floats(text, 1));
  }
  CHECK(!decode_base64_floats("", std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("base64 is read strictly") {
  CHECK(decode_base64("") == "");
  CHECK(decode_base64("Zg==") == "f");
  CHECK(decode_base64("Zm8=") == "fo");
  CHECK(decode_base64("Zm9v") == "foo");
  CHECK(decode_base64("+/+/") == "\xfb\xff\xbf");
  for (const char* bad :
       {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9\n", "Z=9v"}) {
    CHECK_MESSAGE(!decode_base64(bad), bad);
  }
}

}  // namespace
}  // namespace attn
