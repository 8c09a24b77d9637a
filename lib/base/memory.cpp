#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/at.h"

namespace attn {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// Returns MemAvailable of /proc/meminfo ("MemAvailable:  123 kB") in bytes.
std::uint64_t memory_available_to_all() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kilobytes = 0;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    if (fields >> key >> kilobytes && key == "MemAvailable:") return kilobytes * 1024;
  }
  return kUnlimited;
}

std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : kUnlimited;
}

std::uint64_t left_of(std::uint64_t limit, std::uint64_t used) {
  if (limit == kUnlimited) return kUnlimited;
  return limit > used ? limit - used : 0;
}

std::uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return left_of(limit.rlim_cur, pages * to_size(sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::uint64_t available_memory() {
  const std::uint64_t group =
      left_of(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory.current"));
  return std::min({memory_available_to_all(), group, address_space_left()});
}

void keep_freed_memory() {
  // Allocations below the first size never become separate mappings (which free() would unmap), and
  // up to the second size of free memory is kept at the end of the heap.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

void return_freed_memory() {
  malloc_trim(0);
}

}  // namespace attn
