// Runs the built program as a user's shell would, with arguments, bytes on stdin and an
// environment. Everything goes through pipes, without a shell, and never takes longer than a time
// limit.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn::test {

/// The time that a program may print nothing, in milliseconds; only a hanging one gets near it.
#if defined(ATTN_ASAN) || defined(ATTN_TSAN)
inline constexpr int kPatience = 600'000;
#else
inline constexpr int kPatience = 60'000;
#endif

struct Request {
  std::vector<std::string> args;
  std::string input = {};  ///< all of stdin
  std::vector<std::pair<std::string, std::string>> environment =
      {};                              ///< added to this process's environment
  std::string stdout_path = {};        ///< a file or device instead of the pipe
  std::string folder = {};             ///< the program's working directory
  bool stdout_reader_gone = false;     ///< closes the reading end of the pipe on stdout
  std::string program = {};            ///< a program other than the one that was just built
  std::function<void()> in_child{};    ///< called just before exec, for permissions and the like
  int limit_milliseconds = kPatience;  ///< maximum time without output or end
};

struct Result {
  std::string out;
  std::string err;
  int code = -1;  ///< exit code, or minus the signal that killed it
  bool timed_out = false;
};

/// A running program whose stdin the test still holds.
class Program {
 public:
  explicit Program(const Request& request);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(const std::string& bytes);  ///< sends all bytes; does nothing if the program has ended
  void close_input();
  void signal(int number) const;

  /// Returns the next line of stdout without its line end; nothing at the end or after the time
  /// limit.
  std::optional<std::string> read_line();

  /// Waits until stderr contains `part`; returns false at the end or after the time limit.
  bool wait_for_error(const std::string& part);

  /// Closes stdin, collects the remaining output and the exit code.
  Result finish();

  /// Does the same with stdin left open: the program must end by itself.
  Result finish_with_open_input();

 private:
  bool pump(const std::string* input,
            std::size_t& sent);  ///< once; returns false if nothing arrived
  void wait_for_end();

  pid_t pid_ = -1;
  int limit_;
  int in_ = -1, out_ = -1, err_ = -1;
  std::size_t lines_read_ = 0;  ///< bytes of out that read_line has returned
  Result result_;
};

Result run_program(const Request& request);

}  // namespace attn::test
