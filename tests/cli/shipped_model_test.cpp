// Tests the shipped models: a newcomer's first command, from the source tree and from an
// installation, on every kind of CPU. translations/MODEL.tsv holds sentences and their translations
// from when the model was made.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "bad_input.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"
#include "terminal.h"
#include "train_run.h"

namespace attn::test {
namespace {

struct ShippedModel {
  const char* name;
  std::uintmax_t most_bytes;  ///< of its weights
};
constexpr std::array<ShippedModel, 2> kModels = {{{"en-de", 24'000'000}, {"de-en", 24'000'000}}};

struct Pair {
  std::string source, target;
};

std::vector<Pair> fixed_translations(const std::string& model) {
  std::vector<Pair> pairs;
  for (const std::string& line :
       lines_of(bytes_of(kProject + "/tests/cli/translations/" + model + ".tsv"))) {
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    pairs.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return pairs;
}

}  // namespace

TEST_CASE("the first command of a newcomer") {
  const TemporaryDirectory elsewhere;
  const Result result =
      run_program({.args = {"translate", "The group went home"}, .folder = elsewhere.path()});
  CHECK(result.code == kDone);
  CHECK(result.err == "");
  CHECK(lines_of(result.out).at(0) == "Die Gruppe ging nach Hause");
  CHECK(result.out.find("Cross-attention: each step") != std::string::npos);
}

TEST_CASE("one head of thirty words is one screen of 80 columns and 24 lines") {
  const std::string sentence =
      "Yesterday evening the old man who lives behind the small church told the children a long "
      "story about a brave sailor who crossed the wild ocean in a tiny boat";
  const std::string german =
      "Gestern Abend erzählte der alte Mann, der hinter der kleinen Kirche wohnt, den Kindern eine "
      "lange Geschichte von einem tapferen Seemann, der in einem winzigen Boot das wilde Meer "
      "überquerte";
  const auto seen = [&](std::vector<std::string> more, const char* color = "") {
    Terminal terminal;
    more.insert(more.begin(), {"translate", sentence, "--target", german, "--show", "cross:2:2"});
    const Program program(in_a_shell(
        {.args = std::move(more),
         .environment = {{"TERM", "xterm"}, {"NO_COLOR", color}, {"ATTN_DEMO_BACKGROUND", "dark"}},
         .in_child = [&terminal] { terminal.become_controlling(); }}));
    CHECK(terminal.wait_for_exit(kDone));
    return terminal.seen();
  };
  const std::string note = "Whole words fit; --pieces shows tokens.";
  const auto is_one_screen = [](const std::string& text) {
    // The translation is one line, wrapped by the terminal.
    const std::string first = text.substr(0, text.find('\r'));
    const int wrapped = (display_width(first) + 79) / 80;
    return std::count(text.begin(), text.end(), '\n') + wrapped - 1 <= 23;
  };
  for (const char* color : {"", "1"}) {
    const std::string text = seen({}, color);
    CHECK(text.find(note) != std::string::npos);
    CHECK_MESSAGE(is_one_screen(text), text);
    CHECK(text.find("tapfer") != std::string::npos);
    CHECK(text.find("‿") == std::string::npos);
  }
  const std::string pieces = seen({"--pieces"});
  CHECK(pieces.find(note) == std::string::npos);
  CHECK(pieces.find("‿") != std::string::npos);
  CHECK(seen({"--words"}).find(note) == std::string::npos);
}

TEST_CASE("the head that is shown as the best is the first of the report, of every translation") {
  for (const std::string hypothesis : {"1", "2", "3"}) {
    const Result result =
        run_program({.args = {"translate", "The group went home", "--n-best", "3", "--hypothesis",
                              hypothesis, "--show", "best", "--report"}});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    const std::size_t title = result.out.find(" · aligns best");
    const std::size_t list = result.out.find("Align best: ");
    REQUIRE(title != std::string::npos);
    REQUIRE(list != std::string::npos);
    const std::size_t name = std::string("cross:0:0").size();
    CHECK(result.out.substr(title - name, name) == result.out.substr(list + 12, name));
  }
}

TEST_CASE("the maps of a newcomer's sentence fit a screen") {
  const auto lines = [](const std::string& sentence, const std::string& columns,
                        std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"translate", sentence});
    const Result result =
        run_program({.args = std::move(more), .environment = {{"COLUMNS", columns}}});
    CHECK(result.code == kDone);
    return lines_of(result.out);
  };
  const std::vector<std::string> narrow = lines("The group went home", "80");
  CHECK(narrow.size() <= 20);
  CHECK(narrow[3].find("cross:2:2 · aligns best") != std::string::npos);
  const std::string& reading = narrow[narrow.size() - 3];
  CHECK(reading.starts_with("When \""));
  CHECK(reading.find("\" is written, this head puts 0.") != std::string::npos);
  CHECK(narrow.back() == "More maps: --show all, --show cross:0, --show encoder:0:1.");
  CHECK(lines("The group went home", "120").size() <= 20);
  const std::string twelve = "The old man who lives in the house reads the newspaper today";
  CHECK(lines(twelve, "80").size() <= 40);
  CHECK(lines(twelve, "80", {"--show", "best", "--words", "--top", "2"}).size() < 22);
  CHECK(lines(twelve, "80", {"--n-best", "2", "--beam", "2"}).size() == 2);
  CHECK(lines("", "80") == std::vector<std::string>{""});
  CHECK(lines(" ", "80", {"--show", "all"}).size() == 1);
  const TemporaryDirectory scene;
  CHECK(lines(twelve, "80", {"--json", scene.file("maps.json")}).size() == 1);
}

TEST_CASE("the shipped models translate the fixed sentences alike on every CPU") {
  const Pair first = fixed_translations("en-de").at(0);
  CHECK(first.source == "The group went home");
  CHECK(first.target == "Die Gruppe ging nach Hause");
  for (const ShippedModel& model : kModels) {
    const std::vector<Pair> pairs = fixed_translations(model.name);
    REQUIRE(pairs.size() > 20);
    std::string input;
    for (const Pair& pair : pairs) input += pair.source + "\n";
    for (const std::string cpu : {"avx512", "avx2", "neon", "portable"}) {
      const Result result = run_program({.args = {"translate", "--model", model.name},
                                         .input = input,
                                         .environment = {{"ATTN_DEMO_CPU", cpu}}});
      if (result.err.find("this CPU has no such instructions") != std::string::npos) continue;
      REQUIRE_MESSAGE(result.code == kDone, result.err);
      const std::vector<std::string> found = lines_of(result.out);
      REQUIRE(found.size() == pairs.size());
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        CHECK_MESSAGE(found[i] == pairs[i].target, cpu, ": ", pairs[i].source);
      }
    }
  }
}

TEST_CASE("the translations of the page's examples are among the fixed ones") {
  std::set<std::string> fixed;
  for (const ShippedModel& model : kModels) {
    for (const Pair& pair : fixed_translations(model.name)) fixed.insert(pair.source);
  }
  const std::string script = bytes_of(kProject + "/lib/view/page/script/live/live_view.js");
  const std::size_t first = script.find("const EXAMPLES");
  std::size_t seen = 0;
  for (const std::string& line : lines_of(script.substr(first, script.find("};", first) - first))) {
    constexpr std::string_view begin = "      [\"";
    if (!line.starts_with(begin)) continue;
    const std::string sentence =
        line.substr(begin.size(), line.find('"', begin.size()) - begin.size());
    CHECK_MESSAGE(fixed.contains(sentence), sentence);
    ++seen;
  }
  CHECK(seen == 20);
}

TEST_CASE("the shipped files are small and as SHA256SUMS lists them") {
  for (const ShippedModel& model : kModels) {
    const std::string directory = kProject + "/data/models/" + model.name + "/";
    CHECK(std::filesystem::file_size(directory + "model.safetensors") <= model.most_bytes);
    std::set<std::string> listed;
    for (const std::string& line : lines_of(bytes_of(directory + "SHA256SUMS"))) {
      const std::string name = line.substr(66);
      CHECK_MESSAGE(line.substr(0, 64) == sha256_hex(bytes_of(directory + name)), name);
      listed.insert(name);
    }
    for (const char* name : {"model.safetensors", "source.spm", "target.spm", "vocab.json"}) {
      CHECK_MESSAGE(listed.contains(name), name);
    }
  }
}

TEST_CASE("an installed program brings its models along") {
  const TemporaryDirectory prefix;
  const std::string command = std::string("cmake --install '") + ATTN_BUILD_DIR + "' --prefix '" +
                              prefix.path() + "' > /dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string installed = prefix.file("bin/attn-demo");
  const Result result =
      run_program({.args = {"translate"}, .input = "The group went home\n", .program = installed});
  CHECK(result.code == kDone);
  CHECK(result.out == "Die Gruppe ging nach Hause\n");
  const Result back = run_program({.args = {"translate", "--model", "de-en"},
                                   .input = "Die Gruppe ging nach Hause\n",
                                   .program = installed});
  CHECK(back.out == "The group went home\n");
  // Damage to the installed copy must cause an error; otherwise the source tree's copy was read.
  std::filesystem::resize_file(prefix.file("share/attn-demo/data/models/en-de/vocab.json"), 100);
  const Result damaged = run_program({.args = {"translate", "The group"}, .program = installed});
  CHECK(damaged.code == kInput);
  CHECK(damaged.err.find(prefix.path()) != std::string::npos);
}

}  // namespace attn::test
