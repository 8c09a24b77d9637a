#include "serve/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "serve/connections.h"
#include "serve/cross_origin.h"
#include "serve/http.h"
#include "serve/monitoring.h"
#include "serve/openapi.h"
#include "serve/port.h"
#include "serve/request_body.h"
#include "serve/server_handler.h"
#include "serve/thread_per_connection.h"
#include "serve/worker_pool.h"
#include "service/api/api_request.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

/// The time at which this thread's request headers had arrived; empty if they were invalid.
thread_local std::optional<std::chrono::steady_clock::time_point> request_began;

}  // namespace

class LiveServer::Http {
 public:
  Http(AccessRules rules, const ServeLimits& limits, ServedModels& models, std::string version,
       RequestLog* log)
      : rules_(std::move(rules)),
        limits_(limits),
        version_(std::move(version)),
        log_(log),
        models_(models),
        handler_(models),
        workers_({limits.worker_threads, limits.batched_searches}, limits.waiting),
        connections_(limits.request_timeout, max_body_bytes + kMostHeaderBytes),
        page_(handler_.live_page(version_)) {
    set_up();
    add_routes();
  }

  void bind();
  int port() const { return rules_.port; }
  void run(const std::atomic<int>& signal);

 private:
  static constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{128} << 10;

  using Handler = std::string (ServerHandler::*)(const ApiRequest&, const std::atomic<bool>&,
                                                 Timings&) const;

  /// The way a path is answered.
  struct Route {
    Endpoint kind;
    Handler how;
    const char* type;  ///< of the answer
  };

  static bool is_translation(Handler how) {
    return how == &ServerHandler::libretranslate || how == &ServerHandler::translate;
  }
  static ConnectionMonitor::Peer peer_of(const httplib::Request& request) {
    return {request.remote_addr, request.remote_port};
  }

  void set_up();
  void add_routes();
  bool handle_refused(const httplib::Request& request, httplib::Response& response);
  void log_response(const httplib::Request& request, const httplib::Response& response);
  void probe(const httplib::Request& request, httplib::Response& response);
  void metrics(const httplib::Request& request, httplib::Response& response);
  bool refuse(const httplib::Request& request, httplib::Response& response, const HttpError& error);
  void answer(const httplib::Request& request, httplib::Response& response,
              const httplib::ContentReader& read, const Route& route);
  void work(const httplib::Request& request, httplib::Response& response,
            const ApiRequest& question, const Route& route);
  void enforce_limits(bool all);
  void drain(const std::atomic<bool>& ended);
  void end(std::thread& listener, const std::atomic<bool>& ended);

  AccessRules rules_;
  ServeLimits limits_;
  std::string version_;
  RequestLog* log_;
  Metrics metrics_;
  ServedModels& models_;
  ServerHandler handler_;
  WorkerPool workers_;
  ConnectionMonitor connections_;
  std::string page_;
  std::atomic<bool> draining_{false}, ending_{false};
  int socket_ = -1;  ///< the listening socket
  httplib::Server server_;
};

void LiveServer::Http::set_up() {
  constexpr std::size_t kRequestsOfConnection = 10'000;
  constexpr time_t kIdleSeconds = 5;
  server_.new_task_queue = [this] { return new ThreadPerConnection(limits_.max_connections); };
  server_.set_keep_alive_max_count(kRequestsOfConnection);
  server_.set_keep_alive_timeout(kIdleSeconds);
  // A request or an answer may pause; ConnectionMonitor limits its whole time.
  server_.set_read_timeout(limits_.request_timeout);
  server_.set_write_timeout(limits_.request_timeout);
  server_.set_payload_max_length(max_body_bytes);
  server_.set_tcp_nodelay(true);
  // Do not set SO_REUSEPORT, with which two servers could share a port.
  server_.set_socket_options([this](socket_t socket) {
    socket_ = socket;
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server_.set_default_headers(
      common_headers(live_page_policy(rules_.frame_origins), !rules_.frame_origins.empty()));
  server_.set_post_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        add_cors_headers(rules_, request, response);
      });
  server_.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        request_began = std::chrono::steady_clock::now();
        // While draining, close connections, so that the client's next request reaches another
        // server.
        if (draining_) response.set_header("Connection", "close");
        return handle_refused(request, response) ? httplib::Server::HandlerResponse::Handled
                                                 : httplib::Server::HandlerResponse::Unhandled;
      });
  server_.set_logger([this](const httplib::Request& request, const httplib::Response& response) {
    log_response(request, response);
  });
  server_.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        send_error(response, 500, "internal error; please report it");
      });
  // Handles requests that httplib itself refuses: invalid request lines or headers.
  server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return;
    send_error(response, response.status, "the server cannot read this request");
  });
}

bool LiveServer::Http::refuse(const httplib::Request& request, httplib::Response& response,
                              const HttpError& error) {
  send_error(response, error.status, error.message);
  // An unread body would be parsed as the next request.
  if (may_have_body(request)) ThreadPerConnection::mark_unread_body();
  const bool last = ThreadPerConnection::has_unread_body() || ThreadPerConnection::over_limit();
  if (last) response.set_header("Connection", "close");
  connections_.end(peer_of(request), last);
  return true;
}

bool LiveServer::Http::handle_refused(const httplib::Request& request,
                                      httplib::Response& response) {
  const auto say = [&](int status, const std::string& message) {
    return refuse(request, response, {status, message});
  };
  if (ThreadPerConnection::has_unread_body())
    return say(400, "an earlier request's body was not read");
  if (ThreadPerConnection::over_limit()) {
    return say(429, fmt::format("{} connections are open, and no more are served",
                                limits_.max_connections));
  }
  if (ending_) return say(503, "the server is ending");
  // Range requests and compression are not supported. Many ranges of one text would need much
  // memory, and compressing 2 MB takes longer than sending them to a browser on the same machine.
  auto& changed = const_cast<httplib::Request&>(request);
  changed.ranges.clear();
  changed.headers.erase("Accept-Encoding");
  const bool preflight = is_preflight(rules_, request);
  RequestOrigin caller = request_origin(request);
  caller.token_follows |= preflight;
  const auto barred = is_health_check(request.path) ? std::nullopt : check_access(rules_, caller);
  if (barred) return say(barred->status, barred->message);
  if (preflight && allowed_methods(request.path) != nullptr && !has_body(request)) {
    const ActiveRequest busy(connections_, peer_of(request), nullptr);
    answer_preflight(request, response);
    return true;
  }
  const HttpError no = check_headers(request);
  if (no.status == 0) {
    take_over_multipart(changed);
    return false;
  }
  constexpr int kMethod = 405;
  if (no.status == kMethod) response.set_header("Allow", allowed_methods(request.path));
  return say(no.status, no.message);
}

/// Logs a request's outcome.
void LiveServer::Http::log_response(const httplib::Request& request,
                                    const httplib::Response& response) {
  const auto now = std::chrono::steady_clock::now();
  const auto took = now - std::exchange(request_began, std::nullopt).value_or(now);
  metrics_.count_response(allowed_methods(request.path) != nullptr ? request.path : "other",
                          response.status, took);
  if (log_ == nullptr) return;
  log_->write({request.remote_addr, request.method, request.path, response.status, took,
               response.body.size()});
}

/// /health: the process is alive. /ready: the server accepts requests.
void LiveServer::Http::probe(const httplib::Request& request, httplib::Response& response) {
  const ActiveRequest busy(connections_, peer_of(request), nullptr);
  if (request.path == "/ready" && draining_)
    return send_error(response, 503, "the server is ending");
  response.set_content("{\"status\":\"ok\"}\n", json_type);
}

void LiveServer::Http::metrics(const httplib::Request& request, httplib::Response& response) {
  const ActiveRequest busy(connections_, peer_of(request), nullptr);
  const WorkerPool::Counts jobs = workers_.counts();
  response.set_content(
      metrics_.text({jobs.waiting, jobs.computing, draining_, models_.batch_sizes()}, version_),
      metrics_type);
}

void LiveServer::Http::add_routes() {
  server_.Get("/", [this](const httplib::Request& request, httplib::Response& response) {
    const ActiveRequest busy(connections_, peer_of(request), nullptr);
    if (!rules_.token.empty()) response.set_header("Set-Cookie", token_cookie(rules_));
    response.set_content(page_, html_type);
  });
  server_.Get("/openapi.json",
              [this](const httplib::Request& request, httplib::Response& response) {
                const ActiveRequest busy(connections_, peer_of(request), nullptr);
                static const std::string document = openapi_document();
                response.set_content(document, json_type);
              });
  server_.Get("/languages", [this](const httplib::Request& request, httplib::Response& response) {
    const ActiveRequest busy(connections_, peer_of(request), nullptr);
    response.set_content(handler_.languages(), json_type);
  });
  server_.Post("/languages", [this](const httplib::Request& request, httplib::Response& response,
                                    const httplib::ContentReader& read) {
    const ReceivedBody body = receive_body(request, read);  // an api_key is not needed here
    if (body.error.status != 0) return void(refuse(request, response, body.error));
    const ActiveRequest busy(connections_, peer_of(request), nullptr);
    response.set_content(handler_.languages(), json_type);
  });
  for (const char* path : {"/health", "/ready"}) {
    server_.Get(path, [this](const httplib::Request& request, httplib::Response& response) {
      probe(request, response);
    });
  }
  server_.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
    metrics(request, response);
  });
  const auto add = [this](const char* path, const Route& route) {
    server_.Post(path, [this, route](const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& read) {
      answer(request, response, read, route);
    });
  };
  add("/translate", {Endpoint::libretranslate, &ServerHandler::libretranslate, json_type});
  add("/detect", {Endpoint::detect, &ServerHandler::detect, json_type});
  add("/api/translate", {Endpoint::translate, &ServerHandler::translate, json_type});
  add("/api/attend", {Endpoint::attend, &ServerHandler::attend, json_type});
  add("/api/why", {Endpoint::why, &ServerHandler::why, json_type});
  add("/api/page", {Endpoint::page, &ServerHandler::page, json_type});
  add("/api/file", {Endpoint::page, &ServerHandler::file, html_type});
}

void LiveServer::Http::answer(const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& read, const Route& route) {
  const ReceivedBody received = receive_body(request, read);
  if (received.error.status != 0) return void(refuse(request, response, received.error));
  const ActiveRequest busy(connections_, peer_of(request), nullptr);
  try {
    const Json body = body_fields(request, received.bytes);
    const auto barred = check_token(rules_, request_origin(request, body));
    if (barred) return send_error(response, barred->status, barred->message);
    ApiRequest question = parse_request(body, route.kind);
    question.client = client_id(request);
    work(request, response, question, route);
  } catch (const UnreadableBody& error) {
    send_error(response, 400, error.what());
  } catch (...) {
    send_exception(response);
  }
}

void LiveServer::Http::work(const httplib::Request& request, httplib::Response& response,
                            const ApiRequest& question, const Route& route) {
  Job job;
  job.page_id = page_id(request);
  job.sequence = page_sequence(request);
  job.batched = is_translation(route.how);
  const ActiveRequest busy(connections_, peer_of(request), &job);
  std::exception_ptr problem;
  const bool had_turn = workers_.run(job, [&] {
    try {
      if (job.stop) throw SearchStopped();
      Timings timings;
      std::string body = (handler_.*route.how)(question, job.stop, timings);
      response.set_header("Server-Timing", timing_header(timings));
      metrics_.count_tokens(timings.model.source_tokens, timings.model.target_tokens);
      // Newer httplib versions move the body.
      response.set_content(std::move(body), route.type);  // NOLINT(performance-move-const-arg)
    } catch (const SearchStopped&) {
      send_stopped_error(response, job, limits_.work_timeout);
    } catch (...) {
      problem = std::current_exception();
    }
  });
  if (!had_turn)
    send_error(response, 429, fmt::format("{} requests are already waiting", limits_.waiting));
  if (problem) std::rethrow_exception(problem);
}

void LiveServer::Http::bind() {
  check_port(rules_.host, rules_.port);
  if (rules_.port == 0) {
    rules_.port = server_.bind_to_any_port(rules_.host);
    if (rules_.port <= 0) throw_listen_error(rules_.host, 0, 0);
  } else if (!server_.bind_to_port(rules_.host, rules_.port)) {
    throw_listen_error(rules_.host, rules_.port, 0);
  }
  connections_.listen_on(rules_.port);
  // httplib sets a backlog of five connections; more at a time would stall for seconds.
  ::listen(socket_, SOMAXCONN);
}

/// Closes connections over the limits and stops jobs whose client is gone or whose time is up.
void LiveServer::Http::enforce_limits(bool all) {
  connections_.sweep(all);
  const auto now = std::chrono::steady_clock::now();
  workers_.stop_if([&](const Job& job) {
    if (job.stop) return job.reason.load();
    return now - job.since > limits_.work_timeout ? StopReason::timed_out : StopReason::none;
  });
}

void LiveServer::Http::run(const std::atomic<int>& signal) {
  constexpr std::chrono::milliseconds kPause{20};
  constexpr int kPausesOfSweep = 5;
  std::atomic<bool> ended{false};
  std::thread listener([&] {
    server_.listen_after_bind();
    ended = true;
  });
  for (int i = 0; signal == 0 && !ended; ++i) {
    if (i % kPausesOfSweep == 0) enforce_limits(false);
    std::this_thread::sleep_for(kPause);
  }
  drain(ended);
  const bool broken = ended;
  end(listener, ended);
  if (broken) {
    throw SystemError("{}: the system closed the socket", authority(rules_.host, rules_.port));
  }
}

void LiveServer::Http::drain(const std::atomic<bool>& ended) {
  constexpr std::chrono::milliseconds kPause{100};
  draining_ = true;
  const auto until = std::chrono::steady_clock::now() + limits_.drain;
  while (!ended && std::chrono::steady_clock::now() < until) {
    enforce_limits(false);
    std::this_thread::sleep_for(kPause);
  }
}

void LiveServer::Http::end(std::thread& listener, const std::atomic<bool>& ended) {
  constexpr std::chrono::milliseconds kPause{20};
  ending_ = true;
  const auto begun = std::chrono::steady_clock::now();
  while (!workers_.idle() && std::chrono::steady_clock::now() - begun < limits_.shutdown_timeout) {
    std::this_thread::sleep_for(kPause);
  }
  workers_.stop_if([](const Job&) { return StopReason::shutting_down; });
  server_.stop();
  while (!ended) {
    enforce_limits(true);
    std::this_thread::sleep_for(kPause);
  }
  listener.join();
}

LiveServer::LiveServer(AccessRules rules, const ServeLimits& limits, ServedModels& models,
                       const std::string& version, RequestLog* log)
    : http_(std::make_unique<Http>(std::move(rules), limits, models, version, log)) {}
LiveServer::~LiveServer() = default;
void LiveServer::bind() {
  http_->bind();
}
int LiveServer::port() const {
  return http_->port();
}
void LiveServer::run(const std::atomic<int>& signal) {
  http_->run(signal);
}

}  // namespace attn
