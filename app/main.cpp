// attn-demo: parses the command line and runs one command. This is the only place that turns errors
// into a line on stderr and an exit code.
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <tuple>

#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "commands/command_line.h"
#include "compute/matmul.h"
#include "service/field_text.h"
#include "terminal/console.h"
#include "terminal/progress.h"
#include "terminal/stop_signal.h"

namespace {

using attn::ExitCode;

/// True if `new` has failed in this process. Libraries then fail in other ways that do not mention
/// memory, such as with their own exceptions or with a second exception in a destructor.
std::atomic<bool> memory_ran_out{false};

/// Reports lack of memory; allocates nothing itself.
int fail_without_memory() {
  std::fputs("attn-demo: out of memory; choose a smaller model, --batch or --beam\n", stderr);
  return static_cast<int>(ExitCode::memory);
}

[[noreturn]] void leave_without_memory() {
  static std::atomic_flag leaving = ATOMIC_FLAG_INIT;
  while (leaving.test_and_set()) pause();  // another thread is already reporting it
  attn::remove_unfinished();
  _exit(fail_without_memory());
}

[[noreturn]] void note_failed_new() {
  memory_ran_out = true;
  if (attn::NoUnwindScope::active()) leave_without_memory();
  throw std::bad_alloc();
}

/// Occupies descriptors 0, 1 and 2 if they are closed. Otherwise the next opened file would get the
/// number, and output for stderr would end up in it. Reading from and writing to them still fails.
void occupy_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    std::ignore = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int fail(ExitCode code, const std::string& message) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line = attn::shorten_message(attn::printable(line));
  std::fputs(attn::error_line("attn-demo: " + line).c_str(), stderr);
  return static_cast<int>(code);
}

int run_command(int argc, char** argv) {
  const attn::CommandLine line = attn::parse_command_line(argc, argv);
  if (line.text.empty()) {
    // Reject invalid environment variables before reading anything.
    attn::kernels();
    attn::default_backend();
    line.run();
  }
  attn::output().write(line.text);
  attn::output().flush();
  return 0;
}

/// Maps every way a command can end to an exit code.
int run_and_report(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const attn::Error& error) {
    return fail(error.code(), attn::message_for(error, attn::option_name));
  } catch (const attn::StoppedBySignal& stopped) {
    return 128 + stopped.signal;
  } catch (const attn::ClosedPipe&) {
    return 0;
  } catch (const std::exception& error) {
    if (memory_ran_out || attn::is_out_of_memory(error)) return fail_without_memory();
    return fail(ExitCode::system, std::string("internal error: ") + error.what() +
                                      "; please report it with the command line");
  }
}

/// Called when an exception leaves a library's thread or a destructor. If memory ran out, reports
/// that.
[[noreturn]] void terminate() {
  if (memory_ran_out) leave_without_memory();
  attn::remove_unfinished();
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    if (attn::is_out_of_memory(error)) _exit(fail_without_memory());
  } catch (...) {
  }
  std::fputs("attn-demo: internal error: terminated; please report it\n", stderr);
  _exit(static_cast<int>(ExitCode::system));
}

std::atomic<bool> main_has_ended{false};

/// SentencePiece calls exit() if it cannot get memory or a thread. It has already reported that on
/// stderr, so only the exit code is chosen here.
void leave() {
  if (!main_has_ended) leave_without_memory();
}

constexpr std::size_t kStack = std::size_t{8} << 20;

/// True if `ulimit -s` allows less than the parsers and librsvg may need.
bool stack_is_small() {
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kStack;
}

/// Runs on a thread with a large stack; all later threads get one too.
int run_on_large_stack(int argc, char** argv) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
  int code = 0;
  try {
    std::thread([&] { code = run_and_report(argc, argv); }).join();
  } catch (const std::system_error&) {
    return fail(ExitCode::memory, "out of memory for a stack of 8 MB; raise ulimit -v");
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(note_failed_new);
  std::set_terminate(terminate);
  std::atexit(leave);
  occupy_standard_descriptors();
  attn::handle_stop_signals();
  attn::set_progress_factory(attn::terminal_progress);
  const int code = stack_is_small() ? run_on_large_stack(argc, argv) : run_and_report(argc, argv);
  main_has_ended = true;
  return code;
}
