// Checks the class of an error by its exit code, and its message, in full or in part.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

namespace attn::test {

/// Runs `action`, which must throw attn::Error with `code` and a one-line message that contains
/// `part`.
template <typename Action>
void check_error(Action&& action, ExitCode code, const std::string& part) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK_MESSAGE(error.code() == code, message);
    CHECK_MESSAGE(message.find(part) != std::string::npos, "expected \"", part, "\" in: ", message);
    CHECK_MESSAGE(message.find('\n') == std::string::npos, message);
    return;
  }
  FAIL("no error; expected one with: ", part);
}

}  // namespace attn::test
