// inject CALL ERROR REPORT -- COMMAND…: runs a command and makes its CALL-th system call fail.
//
// The system calls counted are those that take or write something (files, maps, memory, threads),
// from the first one that main() makes, whether they come from the program, the C++ library, the C
// library or SentencePiece. At the CALL-th, the kernel gets an unknown number, and the command
// sees ERROR instead of a result (0: an error that fits the call). With CALL 0, nothing fails. The
// file REPORT gets "COUNT NAME OBJECT": the number of calls, the name of the one that failed, and
// the file (program or library) that made it, through the C and C++ libraries. The exit code is
// the command's, or 128 + the signal that killed it, or 125.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#if !defined(__x86_64__)
int main() {
  return 77;
}  // other machines have other registers
#else

namespace {

struct Fault {
  const char* name;
  int error;
};

/// The calls that may fail, and their errors on a machine that is full, broken or of another kind.
const std::map<long, Fault> kFaults = {
    {SYS_open, {"open", EMFILE}},
    {SYS_openat, {"openat", EMFILE}},
    {SYS_creat, {"creat", EMFILE}},
    {SYS_read, {"read", EIO}},
    {SYS_pread64, {"pread", EIO}},
    {SYS_write, {"write", ENOSPC}},
    {SYS_writev, {"writev", ENOSPC}},
    {SYS_pwrite64, {"pwrite", ENOSPC}},
    {SYS_fsync, {"fsync", EIO}},
    {SYS_fdatasync, {"fdatasync", EIO}},
    {SYS_ftruncate, {"ftruncate", EIO}},
    {SYS_close, {"close", EIO}},
    {SYS_stat, {"stat", EIO}},
    {SYS_fstat, {"fstat", EIO}},
    {SYS_lstat, {"lstat", EIO}},
    {SYS_newfstatat, {"newfstatat", EIO}},
    {SYS_statx, {"statx", EIO}},
    {SYS_access, {"access", EIO}},
    {SYS_readlink, {"readlink", EIO}},
    {SYS_getdents64, {"getdents", EIO}},
    {SYS_rename, {"rename", EIO}},
    {SYS_renameat, {"renameat", EIO}},
    {SYS_renameat2, {"renameat2", EIO}},
    {SYS_link, {"link", EIO}},
    {SYS_linkat, {"linkat", EIO}},
    {SYS_unlink, {"unlink", EIO}},
    {SYS_unlinkat, {"unlinkat", EIO}},
    {SYS_mkdir, {"mkdir", ENOSPC}},
    {SYS_rmdir, {"rmdir", EIO}},
    {SYS_fchmod, {"fchmod", EPERM}},
    {SYS_fchown, {"fchown", EPERM}},
    {SYS_flock, {"flock", ENOLCK}},
    {SYS_fcntl, {"fcntl", EINVAL}},
    {SYS_ioctl, {"ioctl", ENOTTY}},
    {SYS_lseek, {"lseek", EIO}},
    {SYS_poll, {"poll", ENOMEM}},
    {SYS_mmap, {"mmap", ENOMEM}},
    {SYS_mremap, {"mremap", ENOMEM}},
    {SYS_mprotect, {"mprotect", ENOMEM}},
    {SYS_munmap, {"munmap", ENOMEM}},
    {SYS_madvise, {"madvise", ENOMEM}},
    {SYS_brk, {"brk", ENOMEM}},
    {SYS_clone, {"clone", EAGAIN}},
    {SYS_clone3, {"clone3", EAGAIN}},
    {SYS_sched_getaffinity, {"sched_getaffinity", EINVAL}},
    {SYS_sysinfo, {"sysinfo", EIO}},
};

class Tracer {
 public:
  Tracer(pid_t child, char** argv)
      : child_(child), wanted_(std::atol(argv[1])), error_(std::atoi(argv[2])), report_(argv[3]) {}

  int run() {
    int status = 0;
    waitpid(child_, &status, 0);  // stopped at exec
    ptrace(PTRACE_SETOPTIONS, child_, 0,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    ptrace(PTRACE_SYSCALL, child_, 0, 0);
    for (;;) {
      const pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0) {
        if (errno == EINTR) continue;
        return 125;
      }
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (thread == child_) {
          report();
          return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        continue;
      }
      int write_output = 0;
      const int stopped_by = WSTOPSIG(status);
      if (stopped_by == (SIGTRAP | 0x80)) {
        at_call(thread);
      } else if (stopped_by != SIGTRAP && stopped_by != SIGSTOP) {
        write_output = stopped_by;
      }
      ptrace(PTRACE_SYSCALL, thread, 0, write_output);
    }
  }

 private:
  void at_call(pid_t thread) {
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      enter(thread, info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
      leave(thread, info);
    }
  }

  void enter(pid_t thread, const __ptrace_syscall_info& info) {
    const auto number = static_cast<long>(info.entry.nr);
    calls_[thread] = number;
    // The dynamic loader's calls before main belong to the system. The first call of main() checks
    // stdin.
    if (!in_main_) {
      in_main_ = number == SYS_fcntl && info.entry.args[0] == 0 && info.entry.args[1] == F_GETFD;
    }
    const auto fault = kFaults.find(number);
    if (!in_main_ || fault == kFaults.end() || ++count_ != wanted_) return;
    failing_ = thread;
    name_ = fault->second.name;
    object_ = caller(thread, info.stack_pointer);
    // For brk, the kernel returns the old end instead of an error.
    answer_ = number == SYS_brk ? end_of_heap_
                                : -static_cast<long>(error_ > 0 ? error_ : fault->second.error);
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, thread, 0, &registers);
    registers.orig_rax = ~0ULL;
    ptrace(PTRACE_SETREGS, thread, 0, &registers);
  }

  void leave(pid_t thread, const __ptrace_syscall_info& info) {
    if (thread != failing_) {
      if (calls_[thread] == SYS_brk) end_of_heap_ = static_cast<long>(info.exit.rval);
      return;
    }
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, thread, 0, &registers);
    registers.rax = static_cast<unsigned long long>(answer_);
    ptrace(PTRACE_SETREGS, thread, 0, &registers);
    failing_ = 0;
  }

  void report() const {
    std::ofstream(report_) << count_ << ' ' << name_ << ' ' << object_ << '\n';
  }

  struct Code {
    std::uint64_t begin, end;
    std::string object;
  };

  /// Returns the executable code of the process, without the libraries that all others call.
  static std::vector<Code> code_of(pid_t process) {
    std::vector<Code> code;
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      std::string range, rights, offset, device, inode, path;
      words >> range >> rights >> offset >> device >> inode >> path;
      const std::string name = path.substr(path.rfind('/') + 1);
      if (rights.size() < 3 || rights[2] != 'x' || path.empty() || path[0] != '/') continue;
      if (name.starts_with("libc.so") || name.starts_with("libstdc++") ||
          name.starts_with("ld-linux")) {
        continue;
      }
      const std::size_t dash = range.find('-');
      code.push_back({std::stoull(range, nullptr, 16),
                      std::stoull(range.substr(dash + 1), nullptr, 16), name});
    }
    return code;
  }

  /// Returns the file whose code the first matching word on the stack points to; the C library's
  /// code does not match. Without frame pointers this is a guess, but the first such word is
  /// nearly always the return address.
  std::string caller(pid_t thread, std::uint64_t stack) const {
    constexpr std::uint64_t kWords = 4096;
    const std::vector<Code> code = code_of(child_);
    for (std::uint64_t i = 0; i < kWords; ++i) {
      errno = 0;
      const auto word = static_cast<std::uint64_t>(
          ptrace(PTRACE_PEEKDATA, thread, stack + i * sizeof(long), nullptr));
      if (errno != 0) break;
      for (const Code& each : code) {
        if (word >= each.begin && word < each.end) return each.object;
      }
    }
    return "?";
  }

  pid_t child_;
  long wanted_;
  int error_;
  std::string report_;
  bool in_main_ = false;
  long count_ = 0;
  std::string name_ = "-";
  std::string object_ = "-";
  std::map<pid_t, long> calls_;  ///< the current call of each thread
  long end_of_heap_ = 0;
  pid_t failing_ = 0;
  long answer_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6 || std::string(argv[4]) != "--") {
    std::fputs("usage: inject CALL ERROR REPORT -- COMMAND…\n", stderr);
    return 125;
  }
  const pid_t child = fork();
  if (child < 0) return 125;
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[5], argv + 5);
    _exit(127);
  }
  return Tracer(child, argv).run();
}

#endif
