#include "serve/metrics.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace attn {
namespace {

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// One family of numbers at a time: what they are, and then each of them.
class MetricsText {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = fmt::format("attn_demo_{}", name);
    write("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  /// `labels`: `path="/ready"`; `suffix` is a histogram's.
  template <typename Value>
  void add(Value value, std::string_view labels = "", std::string_view suffix = "") {
    const bool labelled = !labels.empty();
    write("{}{}{}{}{} {}\n", name_, suffix, labelled ? "{" : "", labels, labelled ? "}" : "",
          value);
  }
  std::string take() { return std::move(text_); }

 private:
  template <typename... Values>
  void write(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  std::string name_, text_;
};

}  // namespace

void Metrics::count_response(const std::string& path, int status, std::chrono::duration<double> took) {
  const std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
  Latencies& latencies = latencies_[path];
  const auto* const bound = std::ranges::lower_bound(kBounds, took.count());
  ++latencies.counts[static_cast<std::size_t>(bound - kBounds.begin())];
  latencies.sum += took.count();
}

void Metrics::count_tokens(std::size_t source_tokens, std::size_t target_tokens) {
  const std::lock_guard lock(mutex_);
  source_tokens_ += source_tokens;
  target_tokens_ += target_tokens;
}

std::string Metrics::text(const ServerState& now, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  MetricsText text;
  text.begin("build_info", "gauge", "The program's version.");
  text.add(1, fmt::format("version=\"{}\"", version));
  text.begin("draining", "gauge", "1 from the signal that ends the server on.");
  text.add(now.draining ? 1 : 0);
  text.begin("requests_waiting", "gauge", "Requests that wait for their turn.");
  text.add(now.waiting);
  text.begin("requests_computing", "gauge", "Requests that have their turn.");
  text.add(now.computing);
  text.begin("resident_memory_bytes", "gauge", "Memory of the process.");
  text.add(resident_bytes());
  text.begin("tokens_total", "counter", "Tokens that searches have read and found.");
  text.add(source_tokens_, "side=\"source\"");
  text.add(target_tokens_, "side=\"target\"");
  text.begin("requests_total", "counter", "Answered requests.");
  for (const auto& [which, count] : requests_) {
    text.add(count, fmt::format("path=\"{}\",status=\"{}\"", which.first, which.second));
  }
  text.begin("step_rows", "histogram", "Hypotheses that share a step of the decoder.");
  const BatchHistogram& batches = now.batches;
  std::uint64_t steps = 0;
  for (std::size_t i = 0; i < batches.counts.size(); ++i) {
    steps += batches.counts[i];
    const bool bounded = i < BatchHistogram::bounds.size();
    const std::string bound = bounded ? fmt::format("{}", BatchHistogram::bounds[i]) : "+Inf";
    text.add(steps, fmt::format("le=\"{}\"", bound), "_bucket");
  }
  text.add(batches.rows, "", "_sum");
  text.add(steps, "", "_count");
  text.begin("request_seconds", "histogram", "From a request's headers to its answer.");
  for (const auto& [path, latencies] : latencies_) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < latencies.counts.size(); ++i) {
      count += latencies.counts[i];
      const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
      text.add(count, fmt::format("path=\"{}\",le=\"{}\"", path, bound), "_bucket");
    }
    const std::string label = fmt::format("path=\"{}\"", path);
    text.add(latencies.sum, label, "_sum");
    text.add(count, label, "_count");
  }
  return text.take();
}

}  // namespace attn
