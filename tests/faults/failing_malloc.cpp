// A library to preload: the ATTN_FAIL_MALLOC-th allocation after main() has begun gives no memory,
// whoever asks for it. With 0 none fails. Where main returns, the file
// ATTN_FAULT_REPORT gets "COUNT malloc".
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

using Main = int (*)(int, char**, char**);
using End = void (*)();
using Start = int (*)(Main, int, char**, End, End, End, void*);

static Main real_main;
static std::atomic<long> wanted{-1};
static std::atomic<long> count{-1};  // not counting yet

static bool fails() {
  if (count < 0 || count.fetch_add(1) + 1 != wanted) return false;
  errno = ENOMEM;
  return true;
}

static int counted_main(int argc, char** argv, char** environment) {
  const char* text = std::getenv("ATTN_FAIL_MALLOC");
  if (text != nullptr) wanted = std::atol(text);
  count = 0;
  const int code = real_main(argc, argv, environment);
  const long counted = count.exchange(-1);
  const char* report = std::getenv("ATTN_FAULT_REPORT");
  std::FILE* file = report != nullptr ? std::fopen(report, "w") : nullptr;
  if (file == nullptr) return code;
  std::fprintf(file, "%ld malloc\n", counted);
  std::fclose(file);
  return code;
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
