// Shared by the fuzz targets. Each tests/fuzz/NAME.cpp is one libFuzzer program that passes bytes
// to one parser. A parser must either accept them or refuse them in one short line; anything else
// (another exception, a crash, a hang, a line that is not fit for display) ends the program and is
// a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

/// Checks an error message: one line of valid UTF-8 that is safe for a terminal.
inline void check_message(std::string_view message) {
  constexpr std::size_t kMost = 1000;  // bytes; some messages list all valid values
  if (message.size() > kMost || !is_valid_utf8(message) || printable(message) != message) {
    std::fprintf(stderr, "fuzz: a message of %zu bytes: %.*s\n", message.size(),
                 to_int(message.size()), message.data());
    std::abort();
  }
}

/// Returns true if `parse` accepted its input, and false if it refused it correctly.
template <typename Parse>
bool accepts(Parse&& parse) {
  try {
    parse();
    return true;
  } catch (const Error& error) {
    require(error.code() == ExitCode::input || error.code() == ExitCode::usage,
            "errors of a parser are about its input");
    check_message(error.what());
    return false;
  }
}

/// Removes the bytes before the first 0xFF (a byte that never occurs in UTF-8) from `rest`, to
/// make several inputs from one.
inline std::string_view take_part(std::string_view& rest) {
  const std::size_t end = rest.find('\xff');
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return part;
}

}  // namespace attn::fuzz

/// Defines the entry point of a target: FUZZ(bytes) { … } with `bytes` a std::string_view.
#define FUZZ(bytes)                                                                   \
  static void fuzz_one(std::string_view bytes);                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_one({reinterpret_cast<const char*>(data), size});                            \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_one(std::string_view bytes)
