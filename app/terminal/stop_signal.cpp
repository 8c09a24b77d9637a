#include "terminal/stop_signal.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "base/files/files.h"
#include "terminal/line_input.h"
#include "terminal/progress.h"

namespace attn {
namespace {

std::atomic<bool> graceful{false};
std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Signals from outside that would end the process: timers, limits, other processes.
constexpr std::array kTerminating = {SIGHUP,  SIGUSR1, SIGUSR2,   SIGALRM, SIGVTALRM,
                                     SIGPROF, SIGXCPU, SIGSTKFLT, SIGPWR,  SIGIO};
/// Crashes. These end the process as usual, with a core dump if enabled, but without leaving
/// half-written files.
constexpr std::array kCrashing = {SIGQUIT, SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGSYS, SIGTRAP};

extern "C" void stop(int number) {
  int nobody = 0;
  if (graceful && received_signal.compare_exchange_strong(nobody, number)) return;
  remove_unfinished();
  _exit(128 + number);
}

extern "C" void crash(int number) {
  remove_unfinished();
  std::signal(number, SIG_DFL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, number);
  sigprocmask(SIG_UNBLOCK, &own, nullptr);
  raise(number);
}

void say(const char* text) {
  std::ignore = write(STDERR_FILENO, text, std::strlen(text));
}

/// Handles access beyond a mapped file's end, where there is no page.
extern "C" void bus_error(int number, siginfo_t* info, void* /*context*/) {
  const char* path = mapped_file_at(info->si_addr);
  if (path == nullptr) return crash(number);
  say("attn-demo: ");
  say(path);
  say(": cannot read: the file became shorter while it was in use, or its disk is failing; copy it "
      "again\n");
  remove_unfinished();
  _exit(static_cast<int>(ExitCode::system));
}

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  return action;
}

/// Installs a handler unless the parent process set the signal to be ignored (nohup).
void handle_unless_ignored(int number, const struct sigaction& action) {
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  sigaction(number, &action, nullptr);
}

}  // namespace

void remove_unfinished() {
  erase_progress();
  restore_terminal();
  stop_making_files();
  remove_unfinished_files();
}

void handle_stop_signals() {
  // After a stack overflow, a handler needs a stack of its own.
  alignas(16) static char stack_of_handlers[std::size_t{64} << 10];
  stack_t stack{};
  stack.ss_sp = stack_of_handlers;
  stack.ss_size = sizeof stack_of_handlers;
  sigaltstack(&stack, nullptr);
  const struct sigaction stopping = action_of(stop);
  sigaction(SIGINT, &stopping, nullptr);
  sigaction(SIGTERM, &stopping, nullptr);
  for (const int number : kTerminating) handle_unless_ignored(number, stopping);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) handle_unless_ignored(number, stopping);
  for (const int number : kCrashing) handle_unless_ignored(number, action_of(crash));
  struct sigaction bus = action_of(nullptr);
  bus.sa_sigaction = bus_error;
  bus.sa_flags |= SA_SIGINFO;
  sigaction(SIGBUS, &bus, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void ignore_hangup() {
  std::signal(SIGHUP, SIG_IGN);
}

const std::atomic<int>& enable_graceful_stop() {
  graceful = true;
  return received_signal;
}

}  // namespace attn
