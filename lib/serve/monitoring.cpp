#include "serve/monitoring.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

FileDescriptor open_log(const std::string& path) {
  if (path == "-") return FileDescriptor(-1);
  constexpr mode_t kMode =
      0640;  // the log reveals who sent requests and when, so others must not read it
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

namespace {

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Builds metrics one family at a time: the description, then each sample.
class MetricsText {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = fmt::format("attn_demo_{}", name);
    write("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  /// `labels`: `path="/ready"`; `suffix`: part of a histogram's name.
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

void Metrics::count_response(const std::string& path, int status,
                             std::chrono::duration<double> took) {
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
  text.begin("draining", "gauge", "1 after the signal that ends the server.");
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
