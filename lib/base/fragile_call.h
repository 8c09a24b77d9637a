// Calls into libraries that do not survive std::bad_alloc.
#pragma once

#include <atomic>

namespace attn {

/// Lives around a call into SentencePiece. Where an allocation fails in there, the stack must not
/// be unwound: protobuf's destructors take messages apart that are not yet put together (a piece
/// whose string got no memory), and crash or spoil the heap. The program's handler of failed
/// allocations asks `active()` and ends the process itself.
class NoUnwindScope {
 public:
  NoUnwindScope() { ++calls_; }
  ~NoUnwindScope() { --calls_; }
  NoUnwindScope(const NoUnwindScope&) = delete;
  NoUnwindScope& operator=(const NoUnwindScope&) = delete;

  /// Whether any thread is in such a call; the library's own threads work for it.
  static bool active() { return calls_ > 0; }

 private:
  static inline std::atomic<int> calls_{0};
};

}  // namespace attn
