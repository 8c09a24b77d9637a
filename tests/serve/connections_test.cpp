// Tests which connections are closed, and when, on sockets of this machine.
#include "serve/connections.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

using namespace attn;
using namespace std::chrono_literals;

namespace {

class Socket {
 public:
  explicit Socket(int number) : number_(number) { REQUIRE(number >= 0); }
  ~Socket() { shut(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }
  void shut() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  /// Returns the socket's own port.
  int port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    REQUIRE(getsockname(number_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    return ntohs(address.sin_port);
  }

 private:
  int number_;
};

class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(socket_.number(), 8) == 0);
  }
  int port() const { return socket_.port(); }
  int connected() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port()));
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return client;
  }
  int accepted() const { return accept(socket_.number(), nullptr, nullptr); }

 private:
  Socket socket_;
};

/// A client and its connection to the server.
struct Pair {
  explicit Pair(const Listener& listener)
      : client(listener.connected()), served(listener.accepted()) {}
  ConnectionMonitor::Peer peer() const { return {"127.0.0.1", client.port()}; }
  /// Sends bytes, and lets the server read them.
  void sends(std::size_t bytes) const {
    const std::string text(bytes, 'x');
    REQUIRE(send(client.number(), text.data(), text.size(), 0) == std::ssize(text));
    while (recv(served.number(), received.data(), received.size(), MSG_DONTWAIT) > 0) {
    }
  }
  /// True if the server has closed the connection.
  bool closed() const {
    pollfd wait{client.number(), POLLIN, 0};
    char byte = 0;
    return poll(&wait, 1, 0) > 0 && recv(client.number(), &byte, 1, 0) == 0;
  }
  Socket client, served;
  mutable std::array<char, 4096> received{};
};

void pause(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

constexpr auto kPatience = 600ms;
constexpr std::uint64_t kMostBytes = 1000;

struct Served {
  Served() { connections.listen_on(listener.port()); }
  Listener listener;
  ConnectionMonitor connections{kPatience, kMostBytes};
};

}  // namespace

TEST_CASE_FIXTURE(Served, "who does not get a request together is cut off, others are not") {
  const Listener another;
  const Pair slow(listener), answered(listener), foreign(another);
  connections.begin(answered.peer(), nullptr);
  connections.sweep(false);
  CHECK_FALSE(slow.closed());
  pause(kPatience + 50ms);
  connections.sweep(false);
  CHECK(slow.closed());
  CHECK_FALSE(answered.closed());  // it waits for the server
  CHECK_FALSE(foreign.closed());   // of another port
  connections.end(answered.peer(), false);
  connections.sweep(false);
  CHECK_FALSE(answered.closed());
  pause(kPatience + 50ms);
  connections.sweep(false);
  CHECK(answered.closed());  // its answer was not read, or no further request came
}

TEST_CASE_FIXTURE(Served, "who sends a request without end is cut off") {
  const Pair first(listener), later(listener), endless(listener);
  for (const Pair* pair : {&first, &later}) pair->sends(kMostBytes);
  endless.sends(kMostBytes + 1);
  connections.sweep(false);
  CHECK_FALSE(first.closed());
  CHECK_FALSE(later.closed());
  CHECK(endless.closed());
  // Each request has the same limit, and none is cut off while it waits for its answer.
  connections.begin(later.peer(), nullptr);
  later.sends(2 * kMostBytes);
  connections.sweep(false);
  connections.end(later.peer(), false);
  connections.sweep(false);
  later.sends(kMostBytes);
  connections.sweep(false);
  CHECK_FALSE(later.closed());
  later.sends(1);
  connections.sweep(false);
  CHECK(later.closed());
}

TEST_CASE_FIXTURE(Served, "the last answer is given a moment, then the connection is closed") {
  const Pair one(listener);
  connections.begin(one.peer(), nullptr);
  connections.end(one.peer(), true);
  connections.sweep(false);
  CHECK_FALSE(one.closed());
  pause(350ms);
  connections.sweep(false);
  CHECK(one.closed());
}

TEST_CASE_FIXTURE(Served, "at the end whoever asks nothing is closed soon, whoever waits is not") {
  const Pair idle(listener), asking(listener);
  connections.begin(asking.peer(), nullptr);
  connections.sweep(true);
  CHECK_FALSE(idle.closed());
  pause(350ms);
  connections.sweep(true);
  CHECK(idle.closed());
  CHECK_FALSE(asking.closed());
}

TEST_CASE_FIXTURE(Served, "the work for a client who has gone is stopped") {
  Pair gone(listener);
  const Pair here(listener);
  Job job, other;
  connections.begin(gone.peer(), &job);
  connections.begin(here.peer(), &other);
  connections.sweep(false);
  CHECK_FALSE(job.stop);
  gone.client.shut();
  pause(20ms);
  connections.sweep(false);
  CHECK(job.stop);
  CHECK(job.reason == StopReason::disconnected);
  CHECK_FALSE(other.stop);
}
