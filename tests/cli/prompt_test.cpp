// Tests translate at a terminal: the prompt, line editing, and ways to end it.
#include <doctest/doctest.h>

#include "bad_input.h"
#include "base/strings/utf8.h"
#include "terminal.h"

namespace attn::test {
namespace {

const std::string kWaits =
    "note: type a sentence and press Enter; help says more, quit or Ctrl-D quits\r\n";

/// Returns translate with the demo's random model on a terminal; `on` lists which of 0, 1 and 2
/// are the terminal.
Request at(Terminal& terminal, std::vector<std::string> more = {},
           const std::vector<int>& on = {0, 1, 2}) {
  std::vector<std::string> args{"translate", "--config", demo_config(), "--seed", "7"};
  args.insert(args.end(), more.begin(), more.end());
  return {.args = std::move(args), .environment = {{"TERM", "xterm"}}, .in_child = [&terminal, on] {
            terminal.become_controlling(on);
          }};
}

std::string translation_of(const std::string& sentence) {
  const Result result = run_program(
      {.args = {"translate", "--config", demo_config(), "--seed", "7"}, .input = sentence + "\n"});
  REQUIRE(result.code == kDone);
  return lines_of(result.out).at(0);
}

}  // namespace

#ifdef ATTN_HAS_LIBEDIT

TEST_CASE("a prompt: an answer a line, lines are edited and remembered, Ctrl-D ends") {
  Terminal terminal;
  const Program program(in_a_shell(at(terminal)));
  REQUIRE(terminal.wait_for(kWaits));
  REQUIRE(terminal.wait_for_prompt());
  terminal.send("The grou\x7fup\n");  // deletes one letter
  const std::string group = translation_of("The group");
  REQUIRE(terminal.wait_for("\r\n" + group + "\r\n"));
  REQUIRE(terminal.wait_for_prompt());
  terminal.send("The dog\x01Now \n");  // Ctrl-A: moves to the beginning
  REQUIRE(terminal.wait_for("\r\n" + translation_of("Now The dog") + "\r\n"));
  REQUIRE(terminal.wait_for_prompt());
  terminal.send("\x1b[A\x1b[A\n");  // goes two lines back
  REQUIRE(terminal.wait_for("\r\n" + group + "\r\n"));
  REQUIRE(terminal.wait_for_prompt());
  terminal.send("\x04");
  CHECK(terminal.wait_for_exit(kDone));
  CHECK(terminal.seen().ends_with("\n"));
}

TEST_CASE("a prompt takes letters of several bytes and two columns back whole") {
  Terminal terminal;
  Program program(at(terminal, {"--json", "/dev/null"}));
  REQUIRE(terminal.wait_for_prompt());
  terminal.send("Grü\x7f\x7f\x7fThe 漢字\x7f\x7fgroup\n");
  CHECK(terminal.wait_for("\r\n" + translation_of("The group") + "\r\n"));
  CHECK(terminal.wait_for_prompt());
  terminal.send("\x04");
  CHECK(program.finish().code == kDone);
}

TEST_CASE("Ctrl-C at the prompt ends in 130, and the terminal is as it was") {
  Terminal terminal;
  const Program program(in_a_shell(at(terminal)));
  REQUIRE(terminal.wait_for_prompt());
  terminal.send("The gr");
  REQUIRE(terminal.wait_for("The gr"));
  terminal.send("\x03");
  CHECK(terminal.wait_for_exit(130));
  CHECK(terminal.seen().ends_with("The gr\r\n"));  // \r: the terminal adds it again
}

#endif

TEST_CASE("a terminal that cannot edit has a prompt, too") {
  Terminal terminal;
  Request request = at(terminal);
  request.environment = {{"TERM", "dumb"}};
  Program program(request);
  REQUIRE(terminal.wait_for(kWaits + "> "));
  terminal.send("The group\n");
  REQUIRE(terminal.wait_for(translation_of("The group") + "\r\n> "));
  terminal.send("\x04");
  terminal.read_rest();
  CHECK(program.finish().code == kDone);
  CHECK(terminal.seen().find('\x1b') == std::string::npos);
}

TEST_CASE("at a prompt help, quit and exit are no sentences") {
  for (const std::string end : {"quit\n", "exit\n"}) {
    Terminal terminal;
    Request request = at(terminal);
    request.environment = {{"TERM", "dumb"}};
    Program program(request);
    REQUIRE(terminal.wait_for(kWaits + "> "));
    terminal.send("help\n");
    CHECK(terminal.wait_for(
        "note: each line is translated, and with --show best a map is shown below it;\r\n"
        "  quit, exit or Ctrl-D ends; to translate these words, add a full stop\r\n> "));
    terminal.send("quit.\n");
    REQUIRE(terminal.wait_for(translation_of("quit.") + "\r\n> "));
    terminal.send(end);
    terminal.read_rest();
    CHECK(program.finish().code == kDone);
  }
}

TEST_CASE("on a terminal a translation that the model holds unlikely is pointed out") {
  const std::string unsure = "note: the model is unsure about this: ";
  const auto seen = [](std::vector<std::string> args) {
    Terminal terminal;
    args.insert(args.begin(), "translate");
    args.insert(args.end(), {"--show", "none"});
    const Program program(in_a_shell({.args = args,
                                      .environment = {{"TERM", "dumb"}},
                                      .in_child = [&terminal] { terminal.become_controlling(); }}));
    CHECK(terminal.wait_for_exit(kDone));
    return terminal.seen();
  };
  const std::string german = seen({"Der alte Hund schläft nicht mehr"});
  CHECK(german.starts_with(unsure));
  CHECK(german.find(" % per token; is it another language") != std::string::npos);
  CHECK(seen({"The group went home"}) == "Die Gruppe ging nach Hause\r\n");
  CHECK(seen({"THE GROUP", "--config", demo_config()}).find(unsure) == std::string::npos);
  CHECK(run_program({.args = {"translate", "Der alte Hund schläft nicht mehr", "--show", "none"}})
            .err == "");
}

TEST_CASE("no prompt where stdout is none: what it waits for is said") {
  Terminal terminal;
  Program program(at(terminal, {}, {0, 2}));
  REQUIRE(terminal.wait_for("note: type a sentence and press Enter; Ctrl-D quits\r\n"));
  terminal.send("The group\n");
  CHECK(program.read_line() == translation_of("The group"));
  terminal.send("\x04");
  CHECK(program.finish().code == kDone);
  CHECK(terminal.seen().find("> ") == std::string::npos);
}

/// Enough lines to keep a fast core busy for some seconds.
constexpr int kManyLines = 150'000;

std::string many_sentences() {
  std::string sentences;
  for (int i = 0; i < kManyLines; ++i) sentences += "The group went home\n";
  return sentences;
}

TEST_CASE("a wait of more than a second shows on the terminal and goes again") {
  Terminal terminal(40);
  const std::string sentences = many_sentences();
  const TemporaryDirectory scene;
  Program program(
      at(terminal,
         {"--input", scene.write("in", sentences), "--output", scene.file("out"), "--threads", "1"},
         {2}));
  REQUIRE(terminal.wait_for("translating · "));
  REQUIRE(terminal.wait_for("%"));
  REQUIRE(terminal.wait_for("\r\x1b[Knote: wrote " + scene.file("out")));
  terminal.read_rest();
  const Result result = program.finish();
  CHECK(result.code == kDone);
  CHECK(result.out == "");
  CHECK(std::ssize(lines_of(bytes_of(scene.file("out")))) == kManyLines);
  const std::string& seen = terminal.seen();
  for (std::size_t at = 0; (at = seen.find("\rtranslating", at)) != std::string::npos; ++at) {
    const std::string line = seen.substr(at + 1, seen.find("\x1b[K", at) - at - 1);
    CHECK_MESSAGE(display_width(line) < 40, line);
  }
}

TEST_CASE("no wait is shown where the terminal cannot draw again, or stderr is none") {
  const std::string sentences = many_sentences();
  const TemporaryDirectory scene;
  const std::vector<std::string> args = {"--input", scene.write("in", sentences), "--threads", "1"};
  Terminal terminal;
  Request request = at(terminal, args, {2});
  request.environment = {{"TERM", "dumb"}};
  CHECK(run_program(request).code == kDone);
  terminal.read_rest();
  CHECK(terminal.seen().find("translating") == std::string::npos);
  const Result piped = run_program(at(terminal, args, {}));
  CHECK(piped.code == kDone);
  CHECK(is_plain(piped.err));
}

}  // namespace attn::test
