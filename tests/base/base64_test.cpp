#include "base/strings/base64.h"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace attn
