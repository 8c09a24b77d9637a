// Errors and the exit codes they become.
//
// Every error is one line for a person: the place, what was found, what was expected, and what to
// try. Library code throws one of the classes below; app/main.cpp catches it once and exits with
// its code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace attn {

/// Exit codes of the program; scripts rely on them.
enum class ExitCode {
  done = 0,
  usage = 2,   ///< wrong command line
  input = 3,   ///< bad config, model or text, or a file missing inside a model directory
  system = 4,  ///< the system refuses to read or write
  memory = 5,  ///< a valid size that does not fit in memory
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A wrong command line: an invalid flag, number or combination.
struct UsageError : Error {
  template <typename... Args>
  explicit UsageError(fmt::format_string<Args...> format, Args&&... args)
      : Error(ExitCode::usage, fmt::format(format, std::forward<Args>(args)...)) {}
};

/// Bad content of a config, model, tokenizer or text.
struct InputError : Error {
  template <typename... Args>
  explicit InputError(fmt::format_string<Args...> format, Args&&... args)
      : Error(ExitCode::input, fmt::format(format, std::forward<Args>(args)...)) {}
};

/// A system call failed: open, read, write or rename.
struct SystemError : Error {
  template <typename... Args>
  explicit SystemError(fmt::format_string<Args...> format, Args&&... args)
      : Error(ExitCode::system, fmt::format(format, std::forward<Args>(args)...)) {}
};

/// A size within the documented limits that does not fit in this machine's memory.
struct MemoryError : Error {
  template <typename... Args>
  explicit MemoryError(fmt::format_string<Args...> format, Args&&... args)
      : Error(ExitCode::memory, fmt::format(format, std::forward<Args>(args)...)) {}
};

}  // namespace attn
