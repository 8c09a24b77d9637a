#include "stop_signal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/files.h"

namespace attn {
namespace {

// A handler may touch little: fixed memory and system calls, no allocation.
constexpr int kDirectories = 4;
char directories[kDirectories][4096];
constexpr const char* kFiles[] = {"config.json",          "generation_config.json",
                                  "model.safetensors",    "source.spm",
                                  "target.spm",           "vocab.json",
                                  "SHA256SUMS",           "target_vocab.json",
                                  "tokenizer_config.json"};

std::atomic<bool> gently{false};
std::atomic<int> asked_by{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void stop(int number) {
  int nobody = 0;
  if (gently && asked_by.compare_exchange_strong(nobody, number)) return;
  remove_unfinished();
  _exit(128 + number);
}

}  // namespace

void remove_unfinished() {
  remove_temporary_files();
  for (const char* directory : directories) {
    if (directory[0] == '\0') continue;
    const int handle = open(directory, O_RDONLY | O_DIRECTORY);
    if (handle < 0) continue;
    for (const char* file : kFiles) unlinkat(handle, file, 0);
    rmdir(directory);
  }
}

void handle_stop_signals() {
  struct sigaction action {};
  action.sa_handler = stop;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void ignore_hangup() {
  std::signal(SIGHUP, SIG_IGN);
}

const std::atomic<int>& stop_gently() {
  gently = true;
  return asked_by;
}

void remove_on_stop(const std::string& directory) {
  for (char* slot : directories) {
    if (slot[0] != '\0' || directory.size() >= sizeof directories[0]) continue;
    std::memcpy(slot + 1, directory.c_str() + 1, directory.size());
    slot[0] = directory[0];  // last: a handler in between sees an empty slot
    return;
  }
}

void forget_on_stop(const std::string& directory) {
  for (char* slot : directories) {
    if (directory == slot) slot[0] = '\0';
  }
}

}  // namespace attn
