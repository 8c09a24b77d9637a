// Tests maps on light and dark terminals: how the background is found, and which colors are used.
#include <doctest/doctest.h>

#include "bad_input.h"
#include "terminal.h"

namespace attn::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kQuestion = "\x1b]11;?\x1b\\\x1b[c";
constexpr const char* kZeroOnLight = ";48;5;255m";
constexpr const char* kZeroOnDark = ";48;5;236m";

Request at(Terminal& terminal, Environment environment) {
  environment.insert(environment.begin(),
                     {{"TERM", "xterm"}, {"COLORTERM", ""}, {"NO_COLOR", ""}, {"COLORFGBG", ""}});
  return in_a_shell(
      {.args = {"translate", "--config", demo_config(), "The group", "--show", "cross:0:1"},
       .environment = std::move(environment),
       .in_child = [&terminal] { terminal.become_controlling(); }});
}

std::string painted(const Environment& environment) {
  Terminal terminal;
  const Program program(at(terminal, environment));
  CHECK(terminal.wait_for_exit(kDone));
  return terminal.seen();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns the output for a terminal that gives this answer.
std::string painted_after(const std::string& answer) {
  Terminal terminal;
  const Program program(at(terminal, {}));
  CHECK(terminal.wait_for(kQuestion));
  terminal.send(answer);
  CHECK(terminal.wait_for_exit(kDone));
  return terminal.seen();
}

}  // namespace

TEST_CASE("the environment says whether the terminal is light, and nobody is asked then") {
  for (const Environment& light : std::vector<Environment>{{{"ATTN_DEMO_BACKGROUND", "light"}},
                                                           {{"COLORFGBG", "0;15"}},
                                                           {{"COLORFGBG", "0;x;7"}}}) {
    const std::string text = painted(light);
    CHECK_MESSAGE(holds(text, kZeroOnLight), text);
    CHECK_FALSE(holds(text, kZeroOnDark));
    CHECK_FALSE(holds(text, kQuestion));
  }
  for (const Environment& dark :
       std::vector<Environment>{{{"ATTN_DEMO_BACKGROUND", "dark"}, {"COLORFGBG", "0;15"}},
                                {{"COLORFGBG", "15;0"}},
                                {{"COLORFGBG", "7;8"}}}) {
    const std::string text = painted(dark);
    CHECK_MESSAGE(holds(text, kZeroOnDark), text);
    CHECK_FALSE(holds(text, kZeroOnLight));
    CHECK_FALSE(holds(text, kQuestion));
  }
  CHECK_FALSE(holds(painted({{"NO_COLOR", "1"}}), "\x1b"));
}

TEST_CASE("else the terminal is asked, and one that does not say is dark") {
  CHECK(holds(painted_after("\x1b]11;rgb:ffff/ffff/eeee\x1b\\\x1b[?62;4c"), kZeroOnLight));
  CHECK(holds(painted_after("\x1b]11;rgb:f/f/f\x07\x1b[?1c"), kZeroOnLight));
  // Gray counts as light from half the perceived brightness on.
  CHECK(holds(painted_after("\x1b]11;rgb:8080/8080/8080\x1b\\\x1b[?62c"), kZeroOnLight));
  CHECK(holds(painted_after("\x1b]11;rgb:6060/6060/6060\x1b\\\x1b[?62c"), kZeroOnDark));
  CHECK(holds(painted_after("\x1b]11;rgb:1c1c/2020/2828\x1b\\\x1b[?62c"), kZeroOnDark));
  CHECK(holds(painted_after("\x1b[?62c"), kZeroOnDark));
  CHECK(holds(painted({}), kZeroOnDark));  // no answer at all
}

TEST_CASE("another word for the background is refused") {
  Terminal terminal;
  const Program program(at(terminal, {{"ATTN_DEMO_BACKGROUND", "blue"}}));
  CHECK(terminal.wait_for_exit(kUsage));
  CHECK(holds(terminal.seen(), "attn-demo: ATTN_DEMO_BACKGROUND=blue: expected light or dark\r\n"));
}

}  // namespace attn::test
