// Tests that files appear complete or not at all: after signals, closed pipes and killed runs, and
// with long names.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "train_run.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

/// Returns a translate command that waits for a second sentence with its files half-written.
std::vector<std::string> translate_to_files(const TemporaryDirectory& scene) {
  return {"translate",          "--config", demo_config(),        "--json",
          scene.file("m.json"), "--csv",    scene.file("a/b/csv")};
}

}  // namespace

TEST_CASE("no signal leaves a half-written file or a new folder") {
  std::vector<std::pair<int, int>> ends;  // signal and code
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
                           SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT, SIGRTMIN, SIGRTMAX}) {
    ends.emplace_back(number, 128 + number);
  }
  for (const int number : {SIGQUIT, SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGSYS, SIGTRAP, SIGBUS}) {
    ends.emplace_back(number, -number);
  }
  for (const auto& end : ends) {
    const int number = end.first, code = end.second;
    CAPTURE(number);
    const TemporaryDirectory scene;
    scene.write("m.json", "old");
    Program program({.args = translate_to_files(scene)});
    program.send("The group went home\n");
    REQUIRE(program.read_line().has_value());
    CHECK(listing(scene.path()).size() > 5);
    program.signal(number);
    CHECK(program.finish_with_open_input().code == code);
    CHECK(listing(scene.path()) == std::vector<std::string>{"m.json"});
    CHECK(bytes_of(scene.file("m.json")) == "old");
  }
}

TEST_CASE("what is to go on without its terminal does") {
  const TemporaryDirectory scene;
  Program program(
      {.args = translate_to_files(scene), .in_child = [] { std::signal(SIGHUP, SIG_IGN); }});
  program.send("The group went home\n");
  REQUIRE(program.read_line().has_value());
  program.signal(SIGHUP);
  CHECK(program.finish().code == kDone);
  CHECK(fs::exists(scene.file("a/b/csv/cross.csv")));
}

TEST_CASE("a reader that leaves takes no other output with it") {
  const TemporaryDirectory scene;
  std::string input;
  for (int i = 0; i < 70; ++i) input += "The group went home\n";
  const Result whole = run_program({.args = translate_to_files(scene), .input = input});
  REQUIRE(whole.code == kDone);
  const auto before = snapshot_of(scene.path());
  fs::remove_all(scene.file("a"));
  const Result alone =
      run_program({.args = translate_to_files(scene), .input = input, .stdout_reader_gone = true});
  CHECK(alone.code == kDone);
  CHECK(alone.err == whole.err);
  CHECK((snapshot_of(scene.path()) == before));
}

TEST_CASE("a reader that leaves takes no report of heads with it") {
  const TemporaryDirectory scene;
  const std::string text = scene.write("text", "The group went home\n");
  const std::string json = scene.file("heads.json");
  const Result result =
      run_program({.args = {"evaluate", "--config", demo_config(), "--layers", "64", "--heads", "6",
                            "--source", text, "--target", text, "--report", "--json", json},
                   .stdout_reader_gone = true});
  CHECK(result.code == kDone);
  CHECK(fs::file_size(json) > 0);
}

TEST_CASE("what a killed run left is in nobody's way, and goes") {
  const TemporaryDirectory scene;
  fs::create_directory(scene.file("m.attn-demo-tmp-0"));
  scene.write("m.attn-demo-tmp-0/config.json", "half");
  scene.write("maps.json.attn-demo-tmp-0", "half");
  scene.write("maps.json.tmp-1-1", "not ours");
  CHECK(run_program({.args = {"init", "--config", demo_config(), "--out", scene.file("m")}}).code ==
        kDone);
  CHECK(run_program({.args = {"translate", "--config", demo_config(), "x", "--json",
                              scene.file("maps.json")}})
            .code == kDone);
  CHECK(scene.entries() == 3);
  CHECK(bytes_of(scene.file("maps.json.tmp-1-1")) == "not ours");
}

TEST_CASE("a directory that was there empty keeps its mode") {
  const TemporaryDirectory scene;
  fs::create_directory(scene.file("m"));
  REQUIRE(chmod(scene.file("m").c_str(), 0750) == 0);
  fs::create_directory_symlink("m", scene.file("link"));
  const Result result =
      run_program({.args = {"init", "--config", demo_config(), "--out", scene.file("link")}});
  CHECK_MESSAGE(result.code == kDone, result.err);
  struct stat status = {};
  REQUIRE(stat(scene.file("m").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0750);
  CHECK(fs::exists(scene.file("m/model.safetensors")));
  CHECK(fs::is_symlink(scene.file("link")));
}

TEST_CASE("bad input: a run that is refused leaves no new folder") {
  check_all({
      {"tables below missing folders, and no such layer",
       {"translate", "--config", "{demo}", "x", "--csv", "{dir}/a/b", "--show", "cross:9"},
       kUsage,
       {"layer 9"}},
      {"tables below missing folders, and a file that cannot be",
       {"translate", "--config", "{demo}", "x", "--csv", "{dir}/a/b", "--json", "{dir}/none/j"},
       kSystem,
       {"{dir}/none/j"}},
      {"a tokenizer of a text that is missing",
       {"tokenizer", "--source", "{dir}/en", "--target", "{dir}/de", "--out", "{dir}/a/b/c"},
       kSystem,
       {"{dir}/en: cannot open"}},
  });
  TrainScene scene;
  scene.directory.write("train.en", "one\ntwo\n");
  const auto before = listing(scene.directory.path());
  scene.config["tokenizer"]["vocab_size"] = 3;
  CHECK(scene.train("a/b/run").code == kInput);
  auto after = listing(scene.directory.path());
  std::erase(after, "experiment.json");
  CHECK(after == before);
}

TEST_CASE("--resume takes only a run's folder for one") {
  const TrainScene scene;
  fs::create_directories(scene.file("other/checkpoints"));
  fs::create_directory(scene.file("other/model"));
  scene.directory.write("other/checkpoints/checkpoint-000000001", "a game's");
  scene.directory.write("other/config.json", "{}");
  scene.directory.write("other/train.jsonl", "mine\n");
  scene.directory.write("other/model/notes.tmp-1-1", "mine");
  for (const bool locked : {false, true}) {
    if (locked) scene.directory.write("other/lock", "somebody's");
    const auto before = snapshot_of(scene.file("other"));
    const Result result = scene.train("other", {"--resume"});
    CHECK(result.code == kSystem);
    CHECK_MESSAGE(
        result.err.find(", and no run to resume; check the path after --out") != std::string::npos,
        result.err);
    CHECK((snapshot_of(scene.file("other")) == before));
  }
  fs::create_directory(scene.file("fresh"));
  scene.directory.write("fresh/lock", "somebody's");
  const Result fresh = scene.train("fresh");
  CHECK(fresh.code == kSystem);
  CHECK(fresh.err.find("is not empty (it holds lock)") != std::string::npos);
  CHECK(bytes_of(scene.file("fresh/lock")) == "somebody's");
}

TEST_CASE("a text that the run would write over is refused") {
  TrainScene scene;
  scene.must_train("run");
  fs::copy_file(scene.file("train.en"), scene.file("run/curve.svg"),
                fs::copy_options::overwrite_existing);
  scene.config["data"]["train"]["source"] = scene.file("run/curve.svg");
  const auto before = snapshot_of(scene.file("run"));
  const Result result = scene.train("run", {"--resume"});
  CHECK(result.code == kUsage);
  CHECK(result.err == "attn-demo: --out " + scene.file("run/curve.svg") +
                          " would overwrite the file of data.train.source; give it another name\n");
  CHECK((snapshot_of(scene.file("run")) == before));
}

TEST_CASE("a model that is cut short under the running program: one line, code 4") {
  const TemporaryDirectory scene;
  const std::string weights = ModelFiles::good().write(scene, "m") + "/model.safetensors";
  Program program(
      {.args = {"translate", "--model", scene.file("m"), "--json", scene.file("maps.json")}});
  program.send("The group went home\n");
  REQUIRE(program.read_line().has_value());
  REQUIRE(truncate(weights.c_str(), 0) == 0);
  program.send("The group went home\n");
  const Result result = program.finish();
  CHECK(result.code == kSystem);
  CHECK(result.err == "attn-demo: " + weights +
                          ": cannot read: the file became shorter while it was in use, or its disk "
                          "is failing; copy it again\n");
  CHECK_FALSE(fs::exists(scene.file("maps.json")));
  CHECK(scene.entries() == 1);
}

TEST_CASE("names with escapes, and none that is text, in what is said") {
  const TemporaryDirectory scene;
  const std::string name = scene.file("a\x1b[31m\xff");
  const std::string shown = scene.file("a\\u{1b}[31m\uFFFD");
  const Result made = run_program({.args = {"init", "--config", demo_config(), "--out", name}});
  CHECK(made.code == kDone);
  CHECK(made.out == shown + ": marian model with random weights (seed 1)\n");
  const Result again = run_program(
      {.args = {"convert", "--model", name, "--dtype", "float32", "--out", name + "2"}});
  CHECK(again.code == kDone);
  CHECK(again.out.starts_with(shown + "2: float32, model.safetensors "));
  const Result pieces = run_program(
      {.args = {"tokenizer", "--source", std::string(ATTN_SOURCE_DIR) + "/data/toy/dev.en",
                "--target", std::string(ATTN_SOURCE_DIR) + "/data/toy/dev.de", "--type", "word",
                "--vocab-size", "50", "--out", name + "3"}});
  CHECK_MESSAGE(pieces.code == kDone, pieces.err);
  CHECK(pieces.out.starts_with(shown + "3: whole-word tokenizer, "));
  CHECK(is_plain(made.out + again.out + pieces.out));
}

TEST_CASE("an error is a line that one can read, however long the names in it are") {
  const std::string name(70000, 'n');
  const std::string words = [] {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += "word ";
    return text;
  }();
  for (const std::string& text : {name, words}) {
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"translate", "--model", text, "x"},
          {"translate", "--beam", text, "x"},
          {"inspect", "--config", text},
          {text},
          {"train", text, "--out", "/nowhere"}}) {
      const Result result = run_program({.args = args});
      CHECK(result.code >= kUsage);
      CHECK(result.code <= kSystem);
      REQUIRE(lines_of(result.err).size() == 1);
      CHECK(result.err.size() < 5000);
      CHECK(result.err.starts_with("attn-demo: "));
      CHECK(result.err.find("…") != std::string::npos);
    }
  }
}

}  // namespace attn::test
