// Tests translate as part of a pipe: order, immediacy, signals, threads and batches.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "bad_input.h"
#include "base/at.h"

namespace attn::test {
namespace {

const std::vector<std::string> kSentences = {
    "The group went home",   "We",       "The",        "",  "The house", "went went went",
    "The group of children", "to the a", "Sunday The", ".",
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> demo_arguments(std::vector<std::string> more) {
  more.insert(more.begin(), {"translate", "--config", demo_config(), "--seed", "7"});
  return more;
}

}  // namespace

TEST_CASE("each line is answered before the next is sent") {
  Program program({.args = demo_arguments({})});
  std::vector<std::string> answers;
  for (const std::string& sentence : kSentences) {
    program.send(sentence + "\n");
    const auto answer = program.read_line();
    REQUIRE(answer.has_value());
    answers.push_back(*answer);
  }
  const Result end = program.finish();
  CHECK(end.code == kDone);
  CHECK(lines_of(end.out).size() == kSentences.size());
  const Result at_once = run_program({.args = demo_arguments({}), .input = joined(kSentences)});
  CHECK(at_once.out == joined(answers));
}

TEST_CASE("a line sent in parts is one line") {
  Program program({.args = demo_arguments({})});
  program.send("The gr");
  program.send("oup went ");
  program.send("home\nWe");
  const auto first = program.read_line();
  REQUIRE(first.has_value());
  const Result end = program.finish();
  CHECK(lines_of(end.out).size() == 2);
  CHECK(
      *first ==
      lines_of(run_program({.args = demo_arguments({}), .input = "The group went home\n"}).out)[0]);
}

TEST_CASE("maps and JSON stream as well") {
  Program program({.args = demo_arguments({"--json", "-"})});
  program.send("The group\n");
  const auto first = program.read_line();
  REQUIRE(first.has_value());
  CHECK(Json::accept(*first));
  program.send("went home\n");
  CHECK(program.read_line().has_value());
  CHECK(program.finish().code == kDone);
}

TEST_CASE("order and number of lines hold over many batches") {
  std::string input;
  std::vector<std::string> expected;
  for (const std::string& sentence : kSentences) {
    const Result alone = run_program({.args = demo_arguments({}), .input = sentence + "\n"});
    REQUIRE(lines_of(alone.out).size() == 1);
    expected.push_back(lines_of(alone.out)[0]);
  }
  std::vector<std::string> wanted;
  for (int i = 0; i < 300; ++i) {
    const std::size_t which = to_size(i * i + 3 * i) % kSentences.size();
    input += kSentences[which] + "\n";
    wanted.push_back(expected[which]);
  }
  for (const std::string batch : {"1", "7", "32", "1000"}) {
    INFO("batch ", batch);
    const Result result = run_program({.args = demo_arguments({"--batch", batch}), .input = input});
    CHECK(result.code == kDone);
    CHECK(result.out == joined(wanted));
  }
}

TEST_CASE("threads, batches and repetition change nothing") {
  for (const std::vector<std::string>& search :
       {std::vector<std::string>{}, {"--beam", "4", "--n-best", "2"}}) {
    const auto records = [&](const std::string& threads, const std::string& batch) {
      std::vector<std::string> args = {"--json", "-", "--threads", threads, "--batch", batch};
      args.insert(args.end(), search.begin(), search.end());
      return run_program({.args = demo_arguments(args), .input = joined(kSentences)});
    };
    const Result one = records("1", "32");
    CHECK(one.code == kDone);
    CHECK(lines_of(one.out).size() == kSentences.size());
    CHECK(records("1", "32").out == one.out);
    CHECK(records("3", "32").out == one.out);
    CHECK(records("2", "1").out == one.out);
    CHECK(records("2", "3").out == one.out);
  }
}

TEST_CASE("another seed makes another model") {
  const auto with_seed = [](const std::string& seed) {
    return run_program(
        {.args = {"translate", "--config", demo_config(), "--seed", seed, "--json", "-", "The"}});
  };
  const Json first = Json::parse(with_seed("1").out);
  const Json second = Json::parse(with_seed("18446744073709551615").out);
  CHECK(first["model"]["seed"] == 1);
  CHECK(second["model"]["seed"] == 18446744073709551615ULL);
  CHECK(first["encoder_self"] != second["encoder_self"]);
}

TEST_CASE("signals while waiting for a line") {
  for (const auto& [number, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    Program program({.args = demo_arguments({}), .limit_milliseconds = 10'000});
    program.send("The group\n");
    REQUIRE(program.read_line().has_value());
    program.signal(number);
    const Result result = program.finish_with_open_input();
    CHECK_FALSE(result.timed_out);
    CHECK(result.code == code);
    CHECK(errors_of(result).empty());
    CHECK(lines_of(result.out).size() == 1);
  }
}

TEST_CASE("a signal at any moment of waiting ends the program") {
  // The signal arrives right after the answer, when the program is about to wait again.
  for (int i = 0; i < 30; ++i) {
    Program program({.args = demo_arguments({}), .limit_milliseconds = 5'000});
    program.send("The group\n");
    REQUIRE(program.read_line().has_value());
    std::this_thread::sleep_for(std::chrono::microseconds(10 * i));
    program.signal(SIGINT);
    const Result result = program.finish_with_open_input();
    CHECK_FALSE(result.timed_out);
    CHECK(result.code == 130);
    if (result.timed_out) break;
  }
}

TEST_CASE("a stopped run leaves neither a file nor a part of one") {
  const TemporaryDirectory scene;
  Program program(
      {.args = demo_arguments({"--json", scene.file("maps.json")}), .limit_milliseconds = 10'000});
  program.send("The group went home\n");
  REQUIRE(program.read_line().has_value());
  program.signal(SIGTERM);
  CHECK(program.finish_with_open_input().code == 143);
  CHECK(listing(scene.path()).empty());
}

TEST_CASE("a second signal ends the program at once, too, and leaves no part of a file") {
  const TemporaryDirectory scene;
  Program program(
      {.args = demo_arguments({"--json", scene.file("maps.json")}), .limit_milliseconds = 10'000});
  program.send("The group went home\n");
  REQUIRE(program.read_line().has_value());
  program.signal(SIGINT);
  program.signal(SIGTERM);
  const Result result = program.finish_with_open_input();
  CHECK((result.code == 130 || result.code == 143));
  CHECK(listing(scene.path()).empty());
}

}  // namespace attn::test
