#include "run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "base/at.h"

namespace attn::test {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  return ends;
}

void close_end(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& text : strings) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Returns this process's environment with the request's variables replaced or added.
std::vector<std::string> environment_of(const Request& request) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : request.environment) replaced |= key == name;
    if (!replaced) all.push_back(text);
  }
  for (const auto& [key, value] : request.environment) {
    all.push_back(std::string(key).append("=").append(value));
  }
  return all;
}

/// Reads the available data; closes the descriptor at the end.
void drain(int& descriptor, std::string& into) {
  char block[65536];
  const ssize_t n = read(descriptor, block, sizeof block);
  if (n > 0) {
    into.append(block, to_size(n));
  } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
    close_end(descriptor);
  }
}

}  // namespace

Program::Program(const Request& request) : limit_(request.limit_milliseconds) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that ends early must not end the test
  std::vector<std::string> args = request.args;
  args.insert(args.begin(), request.program.empty() ? ATTN_DEMO_BINARY : request.program);
  std::vector<std::string> environment = environment_of(request);
  const std::vector<char*> argv = pointers(args);
  const std::vector<char*> envp = pointers(environment);
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (request.stdout_reader_gone) close_end(out[0]);
  int file = -1;
  if (!request.stdout_path.empty()) {
    file = open(request.stdout_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) throw std::runtime_error("cannot open " + request.stdout_path);
  }
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(file >= 0 ? file : out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (!request.folder.empty() && chdir(request.folder.c_str()) != 0) _exit(127);
    if (request.in_child) request.in_child();
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close_end(in[0]);
  close_end(out[1]);
  close_end(err[1]);
  close_end(file);
  in_ = in[1];
  out_ = out[0];
  err_ = err[0];
  fcntl(in_, F_SETFL, O_NONBLOCK);
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close_end(in_);
  close_end(out_);
  close_end(err_);
}

bool Program::pump(const std::string* input, std::size_t& sent) {
  const bool sending = input != nullptr && sent < input->size() && in_ >= 0;
  std::array<pollfd, 3> ends{{{out_, POLLIN, 0}, {err_, POLLIN, 0}, {-1, POLLOUT, 0}}};
  if (sending) ends[2].fd = in_;
  if (poll(ends.data(), ends.size(), limit_) <= 0) {
    result_.timed_out = true;
    return false;
  }
  if (ends[0].revents != 0) drain(out_, result_.out);
  if (ends[1].revents != 0) drain(err_, result_.err);
  if (ends[2].revents != 0) {
    const ssize_t n = write(in_, input->data() + sent, input->size() - sent);
    if (n > 0) sent += to_size(n);
    if (n < 0 && errno != EINTR && errno != EAGAIN) close_end(in_);
  }
  return true;
}

void Program::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size() && in_ >= 0) {
    if (!pump(&bytes, sent)) return;
  }
}

void Program::close_input() {
  close_end(in_);
}

void Program::signal(int number) const {
  kill(pid_, number);
}

std::optional<std::string> Program::read_line() {
  std::size_t unused = 0;
  for (;;) {
    const std::size_t end = result_.out.find('\n', lines_read_);
    if (end != std::string::npos) {
      const std::string line = result_.out.substr(lines_read_, end - lines_read_);
      lines_read_ = end + 1;
      return line;
    }
    if (out_ < 0 || !pump(nullptr, unused)) return std::nullopt;
  }
}

bool Program::wait_for_error(const std::string& part) {
  // Without a limit, a program that prints much but never this text would be read forever.
  const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_);
  std::size_t unused = 0;
  while (result_.err.find(part) == std::string::npos) {
    if (err_ < 0 || !pump(nullptr, unused) || std::chrono::steady_clock::now() > last) return false;
  }
  return true;
}

void Program::wait_for_end() {
  using namespace std::chrono_literals;
  int status = 0;
  for (int waited = 0; waitpid(pid_, &status, WNOHANG) == 0; ++waited) {
    if (result_.timed_out || waited > limit_) {
      result_.timed_out = true;
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(1ms);
  }
  pid_ = -1;
  result_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Result Program::finish() {
  close_input();
  return finish_with_open_input();
}

Result Program::finish_with_open_input() {
  std::size_t unused = 0;
  while ((out_ >= 0 || err_ >= 0) && pump(nullptr, unused)) {
  }
  wait_for_end();
  return result_;
}

Result run_program(const Request& request) {
  Program program(request);
  program.send(request.input);
  return program.finish();
}

}  // namespace attn::test
