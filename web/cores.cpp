// What the libraries ask Linux about cores: a module without threads has one.
#include <sched.h>

extern "C" {

int sched_getaffinity(pid_t, size_t, cpu_set_t* allowed) {
  CPU_ZERO(allowed);
  CPU_SET(0, allowed);
  return 0;
}

int __sched_cpucount(size_t, const cpu_set_t*) {
  return 1;
}
}
