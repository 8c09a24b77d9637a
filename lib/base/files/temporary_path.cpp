#include "base/files/temporary_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::string_view kMark = ".attn-demo-tmp-";
constexpr int kMostBeside = 100;  ///< number of processes that may write the same file at once

/// Read by a signal handler, so plain pointers without locks.
std::array<std::atomic<const TemporaryPath*>, 64> all_unfinished;
std::atomic<int> making{0};
std::atomic<bool> ending{false};
static_assert(std::atomic<const TemporaryPath*>::is_always_lock_free);

/// Keeps a signal from arriving between creating a file and registering it, or between
/// unregistering it and freeing the entry: the signals of this thread are blocked, and a handler in
/// another thread waits for `making`.
class SignalBlocker {
 public:
  SignalBlocker() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
    ++making;
    if (ending) {  // another thread's handler is about to end the process
      --making;
      for (;;) pause();
    }
  }
  ~SignalBlocker() {
    const int error = errno;
    --making;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  SignalBlocker(const SignalBlocker&) = delete;
  SignalBlocker& operator=(const SignalBlocker&) = delete;

 private:
  sigset_t before_;
};

void note(const TemporaryPath* made) {
  for (auto& slot : all_unfinished) {
    const TemporaryPath* expected = nullptr;
    if (slot.compare_exchange_strong(expected, made)) return;
  }  // with more files than slots, a signal leaves one behind
}

void forget(const TemporaryPath* made) {
  const SignalBlocker undisturbed;
  for (auto& slot : all_unfinished) {
    const TemporaryPath* expected = made;
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

bool is_at(int descriptor, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int try_lock(int descriptor) {
  int result = -1;
  do {
    result = flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

/// Turns "maps.json" into "maps.json.attn-demo-tmp-0", shortened to what the file system allows.
std::string name_beside(const std::string& path, int number) {
  const std::size_t slash = path.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  const std::string folder = start == 0 ? "." : path.substr(0, start);
  const long limit = pathconf(folder.c_str(), _PC_NAME_MAX);
  const auto longest = to_size(limit > 32 ? limit : NAME_MAX);
  const std::string end = fmt::format("{}{}", kMark, number);
  return path.substr(0, start) + path.substr(start, longest - end.size()) + end;
}

/// Removes the files of a directory by system calls alone: readdir allocates memory, which a signal
/// handler must not do.
void remove_files_of(const char* path) noexcept {
  struct Entry {  // linux_dirent64
    std::uint64_t inode;
    std::int64_t next;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  static_assert(offsetof(Entry, name) == 19);
  alignas(Entry) char block[4096];
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  for (;;) {
    const long size = syscall(SYS_getdents64, folder, block, sizeof block);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const Entry*>(block + at);
      unlinkat(folder, entry->name, 0);  // fails for "." and ".."
      at += entry->length;
    }
  }
  close(folder);
}

}  // namespace

bool TemporaryPath::create(mode_t mode) {
  const SignalBlocker undisturbed;
  if (kind_ == Kind::file) {
    descriptor_ = open_descriptor(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    made_ = descriptor_ >= 0;
  } else {
    made_ = mkdir(path_.c_str(), mode) == 0;
  }
  if (made_) note(this);
  return made_;
}

std::unique_ptr<TemporaryPath> TemporaryPath::make(Kind kind, const std::string& path,
                                                   mode_t mode) {
  std::unique_ptr<TemporaryPath> made(new TemporaryPath(kind, path));
  if (!made->create(mode)) return nullptr;
  if (kind == Kind::folder) return made;
  if (kind == Kind::tree) made->descriptor_ = open_descriptor(path, O_RDONLY | O_DIRECTORY);
  if (made->descriptor_ < 0) return made;
  // If the file system does not support locks, no other process can lock the file either.
  const int refused = try_lock(made->descriptor_);
  if (refused == 0 ? is_at(made->descriptor_, path) : refused != EWOULDBLOCK) return made;
  errno = EEXIST;  // another process just took the file for an abandoned one
  return nullptr;
}

std::unique_ptr<TemporaryPath> TemporaryPath::make_beside(Kind kind, const std::string& path,
                                                          mode_t mode) {
  for (int number = 0; number < kMostBeside; ++number) {
    const std::string name = name_beside(path, number);
    std::unique_ptr<TemporaryPath> made = make(kind, name, mode);
    if (!made && errno == EEXIST) {
      if (!remove_abandoned(name)) continue;
      made = make(kind, name, mode);
    }
    if (made) {
      remove_abandoned(name_beside(path, number + 1));
      return made;
    }
    if (errno != EEXIST) return nullptr;
  }
  errno = EEXIST;
  return nullptr;
}

std::unique_ptr<TemporaryPath> TemporaryPath::make_working_directory() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path root = fs::temp_directory_path(error);
  if (error) root = "/tmp";
  const std::string path = (root / fmt::format("attn-demo-{}", geteuid())).string();
  std::unique_ptr<TemporaryPath> made = make_beside(Kind::tree, path, 0700);
  if (!made) {
    throw SystemError("{}: cannot make a temporary directory: {}; set TMPDIR",
                      printable(root.string()), std::generic_category().message(errno));
  }
  return made;
}

TemporaryPath::~TemporaryPath() {
  const int error = errno;
  if (made_) {
    if (kind_ == Kind::file) unlink(path_.c_str());
    if (kind_ == Kind::folder) rmdir(path_.c_str());
    if (kind_ == Kind::tree) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
    forget(this);
  }
  if (descriptor_ >= 0) close(descriptor_);
  errno = error;
}

void TemporaryPath::keep() {
  if (made_) forget(this);
  made_ = false;
}

// Delegates to the other constructor, so that the destructor runs even if this constructor throws.
NewDirectories::NewDirectories(const std::string& path) : NewDirectories() {
  std::vector<std::string> missing;  // innermost first
  struct stat status = {};
  std::string folder = path;
  for (;;) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (folder.empty() || stat(folder.c_str(), &status) == 0) break;
    if (errno != ENOENT) throw_system_error(path, "cannot make the directory", errno);
    missing.push_back(folder);
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) break;
    folder.resize(slash == 0 ? 1 : slash);
  }
  for (std::size_t i = missing.size(); i-- > 0;) {
    std::unique_ptr<TemporaryPath> made =
        TemporaryPath::make(TemporaryPath::Kind::folder, missing[i], 0777);
    if (made) {
      made_.push_back(std::move(made));
    } else if (errno != EEXIST) {
      throw_system_error(path, "cannot make the directory", errno);
    }
  }
  if (stat(path.c_str(), &status) != 0)
    throw_system_error(path, "cannot make the directory", errno);
  if (!S_ISDIR(status.st_mode)) throw_system_error(path, "cannot make the directory", ENOTDIR);
}

NewDirectories::~NewDirectories() {
  while (!made_.empty()) made_.pop_back();  // innermost first
}

void NewDirectories::keep() {
  for (const std::unique_ptr<TemporaryPath>& each : made_) each->keep();
}

std::string_view target_of_temporary(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return {};
  const std::string_view number = name.substr(mark + kMark.size());
  const bool plain = !number.empty() && number.size() <= 2 &&
                     number.find_first_not_of("0123456789") == std::string_view::npos;
  return plain ? name.substr(0, mark) : std::string_view();
}

bool remove_abandoned(const std::string& path) {
  struct stat named = {};
  if (lstat(path.c_str(), &named) != 0) return errno == ENOENT;
  const bool folder = S_ISDIR(named.st_mode);
  if (named.st_uid != geteuid() || !(folder || S_ISREG(named.st_mode))) return false;
  const FileDescriptor opened(open_descriptor(
      path, folder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW : O_RDWR | O_NOFOLLOW | O_NONBLOCK));
  if (opened.number() < 0 || try_lock(opened.number()) != 0 || !is_at(opened.number(), path)) {
    return false;
  }
  if (!folder) return unlink(path.c_str()) == 0;
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return !error;
}

void stop_making_files() noexcept {
  ending = true;
  while (making != 0) {
  }
}

void remove_unfinished_files() noexcept {
  for (const TemporaryPath::Kind kind : {TemporaryPath::Kind::file, TemporaryPath::Kind::tree}) {
    for (const auto& slot : all_unfinished) {
      const TemporaryPath* made = slot.load();
      if (made == nullptr || made->kind() != kind) continue;
      const char* path = made->path().c_str();
      if (kind == TemporaryPath::Kind::file) {
        unlink(path);
      } else {
        remove_files_of(path);
        rmdir(path);
      }
    }
  }
  for (bool again = true; again;) {  // a directory must come after the files in it
    again = false;
    for (const auto& slot : all_unfinished) {
      const TemporaryPath* made = slot.load();
      if (made == nullptr || made->kind() != TemporaryPath::Kind::folder) continue;
      again |= rmdir(made->path().c_str()) == 0;
    }
  }
}

}  // namespace attn
