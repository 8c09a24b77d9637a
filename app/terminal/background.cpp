#include "terminal/background.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "config/attention_site.h"
#include "base/strings/excerpt.h"
#include "terminal/console.h"
#include "view/color.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::milliseconds(300);
constexpr auto patience_with_network = std::chrono::milliseconds(1000);
constexpr float middle_grey = 0.18f;  // luminance, half way to white for the eye

/// The last field of "0;15" or "0;default;15" is the background's place in the palette of 16.
std::optional<bool> light_by_palette(std::string_view colors) {
  const std::optional<int> ground = parse_index(split_at(colors, ';').back());
  if (!ground || *ground > 15) return std::nullopt;
  return *ground == 7 || *ground > 8;
}

/// "rgb:ffff/ffff/ffff", each part of one to four hexadecimal digits.
std::optional<bool> light_by_answer(std::string_view answer) {
  const std::size_t start = answer.find("]11;rgb");
  const std::size_t colon = answer.find(':', std::min(start, answer.size()));
  if (start == answer.npos || colon == answer.npos) return std::nullopt;
  const char* next = answer.data() + colon + 1;
  const char* const end = answer.data() + answer.size();
  std::array<int, 3> parts{};
  for (int& part : parts) {
    const auto [stop, error] = std::from_chars(next, end, part, 16);
    const auto digits = stop - next;
    if (error != std::errc{} || digits > 4) return std::nullopt;
    part = part * 255 / ((1 << (4 * digits)) - 1);
    next = std::min(stop + 1, end);
  }
  return luminance({parts[0], parts[1], parts[2]}) > middle_grey;
}

/// Keys come at once and unseen while it exists.
class RawTerminalMode {
 public:
  explicit RawTerminalMode(int terminal) : terminal_(terminal) {
    ready_ = tcgetattr(terminal, &before_) == 0;
    if (!ready_) return;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    ready_ = tcsetattr(terminal, TCSANOW, &now) == 0;
  }
  ~RawTerminalMode() {
    if (ready_) tcsetattr(terminal_, TCSANOW, &before_);
  }
  RawTerminalMode(const RawTerminalMode&) = delete;
  RawTerminalMode& operator=(const RawTerminalMode&) = delete;
  bool ready() const { return ready_; }

 private:
  int terminal_;
  termios before_{};
  bool ready_ = false;
};

/// What the terminal answers, up to the report of its kind, which every terminal gives and which is
/// asked for after the colour: so one that knows no colours keeps nobody waiting.
std::string read_terminal_reply(int terminal) {
  constexpr std::string_view question = "\x1b]11;?\x1b\\\x1b[c";
  if (::write(terminal, question.data(), question.size()) != std::ssize(question)) return "";
  const bool far = !environment("SSH_CONNECTION").empty();
  const auto end = Clock::now() + (far ? patience_with_network : patience);
  std::string answer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready{terminal, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return answer;
    char block[256];
    const ssize_t n = ::read(terminal, block, sizeof block);
    if (n <= 0) return answer;
    answer.append(block, to_size(n));
    const std::size_t kind = answer.find("\x1b[?");
    if (kind != answer.npos && answer.find('c', kind) != answer.npos) return answer;
  }
}

std::optional<bool> query_terminal() {
  const std::string_view term = environment("TERM");
  // The console prints what it does not know.
  if (term == "linux" || (term.starts_with("screen") && environment("TMUX").empty())) return {};
  const FileDescriptor terminal(open_descriptor("/dev/tty", O_RDWR | O_NOCTTY));
  if (terminal.number() < 0 || tcgetpgrp(terminal.number()) != getpgrp()) return {};
  pollfd typed{terminal.number(), POLLIN, 0};
  if (poll(&typed, 1, 0) != 0) return {};  // what was typed ahead is not ours
  const RawTerminalMode raw_mode(terminal.number());
  return raw_mode.ready() ? light_by_answer(read_terminal_reply(terminal.number())) : std::nullopt;
}

bool detect_light_background() {
  const std::string_view said = environment("ATTN_DEMO_BACKGROUND");
  if (!said.empty() && said != "light" && said != "dark") {
    throw UsageError("ATTN_DEMO_BACKGROUND={}: expected light or dark", excerpt(said));
  }
  if (!said.empty()) return said == "light";
  if (const auto light = light_by_palette(environment("COLORFGBG"))) return *light;
  // Behind a pipe, a pager may read the keys at the same time.
  return stdout_is_terminal() && query_terminal().value_or(false);
}

}  // namespace

bool background_is_light() {
  static const bool light = detect_light_background();
  return light;
}

}  // namespace attn
