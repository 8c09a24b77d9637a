// The server's counts since it began, as Prometheus reads them: lines of its text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "translate/search/search_queue.h"

namespace attn {

inline constexpr const char* metrics_type = "text/plain; version=0.0.4; charset=utf-8";

/// How things stand when somebody asks.
struct ServerState {
  std::size_t waiting = 0;    ///< requests for their turn
  std::size_t computing = 0;  ///< requests that have it
  bool draining = false;
  BatchHistogram batches;
};

/// Every call may come from several threads at once.
class Metrics {
 public:
  /// A request was answered. `path` is one that is served, or "other".
  void count_response(const std::string& path, int status, std::chrono::duration<double> took);
  /// Tokens that a search read and found.
  void count_tokens(std::size_t source_tokens, std::size_t target_tokens);

  std::string text(const ServerState& now, const std::string& version) const;

 private:
  /// Upper bounds in seconds of a histogram's buckets; a last one holds the rest.
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
