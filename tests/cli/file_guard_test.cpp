// Tests that no output replaces an input or another output, however its path is written.
#include <doctest/doctest.h>

#include <filesystem>

#include "bad_input.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

/// Creates a model, a config beside it, a text, records, and links to some of them.
void make_scene(const TemporaryDirectory& scene) {
  ModelFiles::good().write(scene, "m");
  scene.write("c.json", bytes_of(demo_config()));
  scene.write("en", "The group went home\n");
  fs::create_symlink("m/model.safetensors", scene.file("weights"));
  fs::create_hard_link(scene.file("en"), scene.file("same"));
  fs::create_symlink("later", scene.file("link"));
  fs::create_symlink("none/cross.csv", scene.file("table"));
  scene.write("config", bytes_of(demo_config()));
  fs::create_symlink(".", scene.file("here"));
  fs::copy(demo_tokenizer(), scene.file("tokenizer"));
}

/// Returns --config with the config in {dir} and a copy of the demo's tokenizer, so that a failing
/// guard only destroys files of the scene.
std::vector<std::string> own_config() {
  return {"--config", "{dir}/config", "--set", "tokenizer.model={dir}/tokenizer"};
}

BadCase refused(std::vector<std::string> args, const std::vector<std::string>& more,
                std::string message) {
  args.insert(args.end(), more.begin(), more.end());
  std::string name = args.front() + ": " + message;
  return {std::move(name), std::move(args), kUsage, {std::move(message)}, make_scene};
}

}  // namespace

TEST_CASE("bad input: an output over an input") {
  const std::string end = "; give it another name";
  const auto over = [&](const std::string& option, const std::string& file,
                        const std::string& input) {
    return "attn-demo: " + option + " {dir}/" + file + " would overwrite the file of " + input +
           end;
  };
  const std::vector<std::string> model = {"--model", "{dir}/m"};
  check_all({
      refused({"inspect", "--json", "{dir}/config"}, own_config(),
              over("--json", "config", "--config")),
      refused({"inspect", "--json", "{dir}/m/model.safetensors"}, model,
              over("--json", "m/model.safetensors", "--model")),
      refused({"inspect", "--json", "{dir}/weights"}, model, over("--json", "weights", "--model")),
      refused({"translate", "x", "--svg", "{dir}/m/target.spm"}, model,
              over("--svg", "m/target.spm", "--model")),
      refused({"translate", "x", "--png", "{dir}/here/m/source.spm"}, model,
              over("--png", "here/m/source.spm", "--model")),
      refused({"translate", "x", "--html", "{dir}/config"}, own_config(),
              over("--html", "config", "--config")),
      refused({"translate", "x", "--json", "{dir}/tokenizer/vocab.json"}, own_config(),
              over("--json", "tokenizer/vocab.json", "tokenizer.model")),
      refused({"explain", "x", "--markdown", "{dir}/m/source.spm"}, model,
              over("--markdown", "m/source.spm", "--model")),
      refused(
          {"evaluate", "--source", "{dir}/en", "--target", "{dir}/en", "--output", "{dir}/same"},
          model, over("--output", "same", "--source")),
      refused({"evaluate", "--source", "{dir}/en", "--target", "{dir}/en", "--json",
               "{dir}/m/target.spm"},
              model, over("--json", "m/target.spm", "--model")),
      refused({"page", "{dir}/en", "--html", "{dir}/same"}, {}, "RECORDS"),
      refused({"inspect", "--json", "/proc/self/root{dir}/config"}, own_config(),
              "--json /proc/self/root{dir}/config would overwrite the file of --config"),
  });
}

TEST_CASE("bad input: two outputs into one file") {
  const auto twice = [](const std::string& one, const std::string& other) {
    return "attn-demo: " + one + " and " + other + " name the same file; give each its own";
  };
  const std::vector<std::string> sentence = {"translate", "x", "--config", "{demo}"};
  check_all({
      refused(sentence, {"--json", "{dir}/new", "--html", "{dir}/./new"},
              twice("--json {dir}/new", "--html {dir}/./new")),
      refused(sentence, {"--json", "{dir}/here/new", "--svg", "{dir}/new"},
              twice("--json {dir}/here/new", "--svg {dir}/new")),
      refused(sentence, {"--json", "{dir}/link", "--png", "{dir}/later"},
              twice("--json {dir}/link", "--png {dir}/later")),
      refused(sentence, {"--json", "/proc/self/root{dir}/en", "--html", "{dir}/en"},
              twice("--json /proc/self/root{dir}/en", "--html {dir}/en")),
      refused(sentence, {"--html", "{dir}/en", "--svg", "{dir}/same"},
              twice("--html {dir}/en", "--svg {dir}/same")),
      refused(sentence, {"--json", "{dir}/table", "--csv", "{dir}/none"},
              twice("--json {dir}/table", "--csv {dir}/none/cross.csv")),
      refused({"explain", "x", "--config", "{demo}"},
              {"--json", "{dir}/new", "--markdown", "{dir}/here/new"},
              twice("--json {dir}/new", "--markdown {dir}/here/new")),
  });
}

TEST_CASE("a stream that leads to a file is an output or an input, too") {
  const TemporaryDirectory scene;
  const std::string path = scene.write("out", "");
  const Result result = run_program(
      {.args = {"translate", "x", "--config", demo_config(), "--json", path}, .stdout_path = path});
  CHECK(result.code == kUsage);
  CHECK(result.err ==
        "attn-demo: stdout and --json " + path + " name the same file; give each its own\n");

  const std::string text = scene.write("text", "They went home.\n");
  const Result piped =
      run_program({.args = {"-c", "\"$0\" translate --config \"$1\" --json \"$2\" < \"$2\"",
                            ATTN_DEMO_BINARY, demo_config(), text},
                   .program = "/bin/sh"});
  CHECK(piped.code == kUsage);
  CHECK(piped.err ==
        "attn-demo: --json " + text + " would overwrite the file of stdin; give it another name\n");
  CHECK(bytes_of(text) == "They went home.\n");
}

TEST_CASE("a stream never leads into what is read, nor a descriptor's name into another output") {
  const TemporaryDirectory scene;
  const std::string text = scene.write("text", "They went home.\n");
  const auto in_shell = [&](const std::string& command) {
    return run_program(
        {.args = {"-c", command, ATTN_DEMO_BINARY, demo_config(), text}, .program = "/bin/sh"});
  };
  const auto refused_for = [&](const std::string& command, const std::string& message) {
    CAPTURE(command);
    const Result result = in_shell(command);
    CHECK(result.code == kUsage);
    CHECK(result.err == "attn-demo: " + message + "\n");
    CHECK(bytes_of(text) == "They went home.\n");
  };
  const auto into = [](const std::string& option) {
    return "stdout leads into the file of " + option + "; give it another name";
  };
  refused_for(R"("$0" translate --config "$1" --input "$2" >> "$2")", into("--input"));
  refused_for(R"("$0" translate --config "$1" < "$2" >> "$2")", into("stdin"));
  refused_for(R"("$0" evaluate --config "$1" --source "$2" --target "$2" >> "$2")",
              into("--source"));
  refused_for(R"("$0" page "$2" --html - >> "$2")", into("RECORDS"));
  const std::string new_one = " --out " + scene.file("new");
  refused_for(R"("$0" tokenizer --source "$2" --target "$2" >> "$2")" + new_one, into("--source"));
  const std::string both = scene.file("both");
  refused_for(R"(exec 7> ")" + both +
                  R"("; "$0" translate --config "$1" x --json /dev/fd/7 --html ")" + both + "\"",
              "--json /dev/fd/7 and --html " + both + " name the same file; give each its own");
  // Other names of stdout are recognized as stdout.
  const Result itself = in_shell(
      R"("$0" translate --config "$1" x --show none --json /dev/stdout > ")" + both + "\"");
  CHECK(itself.code == kDone);
  CHECK(bytes_of(both).find("\"encoder_self\"") != std::string::npos);
}

TEST_CASE("a stream never leads into a model, its config or its tokenizer") {
  const TemporaryDirectory scene;
  make_scene(scene);
  // Other files in the model's directory do not belong to the model.
  const Result beside = run_program(
      {.args = {"-c", "cd \"$1\"; \"$0\" translate --model m --show none x >> m/german.txt",
                ATTN_DEMO_BINARY, scene.path()},
       .program = "/bin/sh"});
  CHECK(beside.code == kDone);
  CHECK(!bytes_of(scene.file("m/german.txt")).empty());
  const auto refused_for = [&](const std::string& command, const std::string& file,
                               const std::string& stream) {
    CAPTURE(command);
    const std::string before = bytes_of(scene.file(file));
    const Result result =
        run_program({.args = {"-c", "cd \"$1\"; " + command, ATTN_DEMO_BINARY, scene.path()},
                     .program = "/bin/sh"});
    CHECK(result.code == kUsage);
    const std::string message = "attn-demo: " + stream + "; give it another name\n";
    const std::string after = bytes_of(scene.file(file));
    CHECK((stream.starts_with("stdout") ? after == before && result.err == message
                                        : after == before + message));
    CHECK(!fs::exists(scene.file("new")));
  };
  const std::string model = "stdout leads into the file of --model";
  const std::string config = " --config config --set tokenizer.model=tokenizer";
  refused_for("\"$0\" convert --model m --out new >> m/config.json", "m/config.json", model);
  refused_for("\"$0\" convert --model m --out new 2>> m/config.json", "m/config.json",
              "stderr leads into the file of --model");
  refused_for("\"$0\" translate --model m x >> m/source.spm", "m/source.spm", model);
  refused_for("timeout 20 \"$0\" serve --port 0 --model m >> weights", "m/model.safetensors",
              model);
  refused_for("\"$0\" init" + config + " --out new >> config", "config",
              "stdout leads into the file of --config");
  refused_for("\"$0\" init" + config + " --out new >> tokenizer/vocab.json", "tokenizer/vocab.json",
              "stdout leads into the file of tokenizer.model");
}

TEST_CASE("a numbered picture takes no other output's or input's place") {
  const TemporaryDirectory scene;
  scene.write("m", "old");
  const Result result =
      run_program({.args = {"translate", "x", "y", "--config", demo_config(), "--svg",
                            scene.file("m"), "--html", scene.file("m-2")}});
  CHECK(result.code == kUsage);
  CHECK(listing(scene.path()) == std::vector<std::string>{"m"});
  CHECK(bytes_of(scene.file("m")) == "old");
  CHECK(result.err.find("--html " + scene.file("m-2") + " and --svg " + scene.file("m-2") +
                        " name the same file; give each its own") != std::string::npos);

  const std::string text = scene.write("m-cross.txt", "They went home.\n");
  const Result over = run_program({.args = {"translate", "--input", text, "--config", demo_config(),
                                            "--show", "all", "--png", scene.file("m.txt")}});
  CHECK(over.code == kUsage);
  CHECK(bytes_of(text) == "They went home.\n");
}

TEST_CASE("devices and pipes may be named as often as one likes") {
  const Result result = run_program({.args = {"translate", "x", "--config", demo_config(), "--json",
                                              "/dev/null", "--html", "/dev/null"}});
  CHECK(result.code == kDone);
}

}  // namespace attn::test
