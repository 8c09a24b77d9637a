// A library to preload that makes the ATTN_FAIL_MALLOC-th allocation after the start of main()
// fail, whichever code requests it. With ATTN_FAIL_THREADS=others, allocations of the first thread
// do not count. With 0, none fails. When main returns, "COUNT malloc" is written to the file
// ATTN_FAULT_REPORT. If the program crashes, "COUNT malloc OBJECT" is written instead: OBJECT is
// the file (program or library) whose code crashed, or that called the crashing code in the C and
// C++ libraries.
#include <dlfcn.h>
#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

using Main = int (*)(int, char**, char**);
using End = void (*)();
using Start = int (*)(Main, int, char**, End, End, End, void*);

using SignalAction = int (*)(int, const struct sigaction*, struct sigaction*);

static Main real_main;
static SignalAction real_sigaction;
static std::array<struct sigaction, NSIG> handlers;  ///< the program's own handlers
static std::atomic<long> wanted{-1};
static std::atomic<long> count{-1};  // not counting yet
static std::atomic<bool> others_only{false};

static bool fails() {
  if (others_only && gettid() == getpid()) return false;
  if (count < 0 || count.fetch_add(1) + 1 != wanted) return false;
  errno = ENOMEM;
  return true;
}

static void report(long counted, const char* object) {
  const char* path = std::getenv("ATTN_FAULT_REPORT");
  std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%ld malloc %s\n", counted, object);
  std::fclose(file);
}

/// Returns the name of the file that contains this code.
static const char* object_of(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "?";
  const char* slash = std::strrchr(info.dli_fname, '/');
  return slash != nullptr ? slash + 1 : info.dli_fname;
}

/// True for the libraries that all code calls. They do not tell whose code crashed.
static bool serves_all(const char* object) {
  for (const char* name : {"libc.so", "libstdc++.so", "libgcc_s.so", "libm.so"}) {
    if (std::strncmp(object, name, std::strlen(name)) == 0) return true;
  }
  return false;
}

static void* address_of_crash(void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  static_cast<void>(context);
  return nullptr;
#endif
}

static void on_crash(int number, siginfo_t* info, void* context) {
  const long counted = count.exchange(-1);
  std::array<void*, 64> frames{};
  const int size = backtrace(frames.data(), static_cast<int>(frames.size()));
  void* const crashed = address_of_crash(context);
  const char* object = object_of(crashed);
  bool below = false;  // the handler's own frames come first
  for (int i = 0; i < size && serves_all(object); ++i) {
    void* const frame = frames[static_cast<std::size_t>(i)];
    if (below) object = object_of(frame);
    below = below || frame == crashed;
  }
  report(counted, object);
  const struct sigaction& own = handlers[static_cast<std::size_t>(number)];
  if ((own.sa_flags & SA_SIGINFO) != 0) {
    own.sa_sigaction(number, info, context);
  } else {
    own.sa_handler(number);
  }
}

static int counted_main(int argc, char** argv, char** environment) {
  real_sigaction = reinterpret_cast<SignalAction>(dlsym(RTLD_NEXT, "sigaction"));
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);  // loads what backtrace() needs while there is memory
  const char* text = std::getenv("ATTN_FAIL_MALLOC");
  if (text != nullptr) wanted = std::atol(text);
  const char* threads = std::getenv("ATTN_FAIL_THREADS");
  others_only = threads != nullptr && std::strcmp(threads, "others") == 0;
  count = 0;
  const int code = real_main(argc, argv, environment);
  report(count.exchange(-1), "");
  return code;
}

/// Keeps the program's crash handlers, which are called after the place of the crash is recorded.
int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  if (real_sigaction == nullptr) {
    real_sigaction = reinterpret_cast<SignalAction>(dlsym(RTLD_NEXT, "sigaction"));
  }
  if ((number != SIGSEGV && number != SIGBUS) || action == nullptr) {
    return real_sigaction(number, action, before);
  }
  handlers[static_cast<std::size_t>(number)] = *action;
  struct sigaction ours = *action;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_crash;
  return real_sigaction(number, &ours, before);
}

int __libc_start_main(Main main, int argc, char** argv, End begin, End end, End loader_end,
                      void* stack) {
  real_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counted_main, argc, argv, begin, end, loader_end, stack);
}

void* malloc(std::size_t size) {
  return fails() ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  return fails() ? nullptr : __libc_calloc(n, size);
}
void* realloc(void* old, std::size_t size) {
  return fails() ? nullptr : __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}

}  // extern "C"
