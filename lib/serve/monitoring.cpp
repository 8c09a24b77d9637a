#include "serve/monitoring.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/strings/excerpt.h"

namespace attn {
namespace {

FileDescriptor open_log(const std::string& path) {
  if (path == "-") return FileDescriptor(-1);
  constexpr mode_t kMode = 0640;  // who asks when is nobody else's business
  const int file = open_descriptor(path, O_WRONLY | O_APPEND | O_CREAT, kMode);
  if (file < 0) throw_system_error(path, "cannot be opened for the log", errno);
  return FileDescriptor(file);
}

}  // namespace

std::string log_line(const LoggedRequest& request, std::chrono::system_clock::time_point now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto fraction = std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("time",
                  fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(whole), fraction.count()));
      json.member("client", request.client);
      json.member("method", shorten_message(request.method));
      json.member("path", shorten_message(request.path));
      json.member("status", request.status);
      json.member("milliseconds", static_cast<float>(request.took.count() * 1e3));
      json.member("bytes", request.bytes);
    });
  });
}

RequestLog::RequestLog(std::string path, std::function<void(const std::string&)> problem)
    : path_(std::move(path)), file_(open_log(path_)), problem_(std::move(problem)) {}

void RequestLog::write(const LoggedRequest& request) {
  const std::string line = log_line(request, std::chrono::system_clock::now());
  const std::lock_guard lock(mutex_);
  try {
    write_all(path_ == "-" ? STDOUT_FILENO : file_.number(), line, path_ == "-" ? "stdout" : path_);
  } catch (const Error& error) {
    if (problem_) std::exchange(problem_, nullptr)(error.what());
  }
}

}  // namespace attn
