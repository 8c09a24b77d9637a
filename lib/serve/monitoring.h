// A line of JSON for each answered request: who, what, how it ended and how long it took. Never a
// text or a token.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "base/files/descriptor.h"

namespace attn {

struct LoggedRequest {
  std::string client;  ///< its address
  std::string method;
  std::string path;
  int status = 0;
  std::chrono::duration<double> took{};
  std::size_t bytes = 0;  ///< of the answer's body
};

class RequestLog {
 public:
  /// Appends to the file, which is made where it is not there; "-" is stdout. SystemError where it
  /// cannot be opened. `problem` hears, once, why a line could not be written: requests are
  /// answered all the same.
  RequestLog(std::string path, std::function<void(const std::string&)> problem);

  /// From any thread; each line is one write, so that several servers may share a file.
  void write(const LoggedRequest& request);

 private:
  std::string path_;
  FileDescriptor file_;  ///< −1: stdout
  std::mutex mutex_;
  std::function<void(const std::string&)> problem_;  ///< empty once it was told
};

/// {"time":"2026-11-25T17:59:01.123Z","client":"127.0.0.1","method":"GET","path":"/ready",
/// "status":200,"milliseconds":0.1,"bytes":19} and a newline.
std::string log_line(const LoggedRequest& request, std::chrono::system_clock::time_point now);

}  // namespace attn
