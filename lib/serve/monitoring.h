// The request log: one line of JSON per answered request, with client, request, result and
// duration. It never contains texts or tokens.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/files/descriptor.h"
#include "translate/search/search_queue.h"

namespace attn {

struct LoggedRequest {
  std::string client;  ///< its address
  std::string method;
  std::string path;
  int status = 0;
  std::chrono::duration<double> took{};
  std::size_t bytes = 0;  ///< size of the answer's body
};

class RequestLog {
 public:
  /// Appends to the file, creating it if needed; "-" is stdout. Throws SystemError if it cannot be
  /// opened. `problem` is called once if a line cannot be written; requests are answered anyway.
  RequestLog(std::string path, std::function<void(const std::string&)> problem);

  /// Writes a line. Thread-safe; each line is a single write, so that several servers may share a
  /// file.
  void write(const LoggedRequest& request);

 private:
  std::string path_;
  FileDescriptor file_;  ///< −1: stdout
  std::mutex mutex_;
  std::function<void(const std::string&)> problem_;  ///< empty once it was called
};

/// Returns {"time":"2026-11-25T17:59:01.123Z","client":"127.0.0.1","method":"GET","path":"/ready",
/// "status":200,"milliseconds":0.1,"bytes":19} and a newline.
std::string log_line(const LoggedRequest& request, std::chrono::system_clock::time_point now);

// The server's counters since it started, in Prometheus' text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).

inline constexpr const char* metrics_type = "text/plain; version=0.0.4; charset=utf-8";

/// The server's current load.
struct ServerState {
  std::size_t waiting = 0;    ///< requests in the queue
  std::size_t computing = 0;  ///< requests being processed
  bool draining = false;
  BatchHistogram batches;
};

/// Counters and histograms of the server. All functions are thread-safe.
class Metrics {
 public:
  /// Counts an answered request. `path` is a served one or "other".
  void count_response(const std::string& path, int status, std::chrono::duration<double> took);
  /// Counts the tokens that a search read and generated.
  void count_tokens(std::size_t source_tokens, std::size_t target_tokens);

  std::string text(const ServerState& now, const std::string& version) const;

 private:
  /// Upper bounds in seconds of a histogram's buckets; a final bucket holds the rest.
  static constexpr std::array kBounds{0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                      0.5,   1.0,  2.5,   5.0,  10.0, 30.0};
  struct Latencies {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};
    double sum = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;  ///< by path and status
  std::map<std::string, Latencies> latencies_;                     ///< by path
  std::uint64_t source_tokens_ = 0, target_tokens_ = 0;
};

}  // namespace attn
