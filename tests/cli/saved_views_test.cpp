// Tests that page makes the same files from saved records as translate does directly, byte for
// byte.
#include <doctest/doctest.h>

#include <filesystem>

#include "bad_input.h"

namespace attn::test {
namespace {

/// Requests the same views from translate and, from its --json output, from page.
void check_same(std::vector<std::string> translated, const std::vector<std::string>& views,
                bool pictures = true) {
  const TemporaryDirectory scene;
  CAPTURE(translated);
  CAPTURE(views);
  const std::string json = scene.file("r.json");
  const auto files = [&](const std::string& side) {
    const std::string folder = scene.file(side);
    std::filesystem::create_directory(folder);
    std::vector<std::string> args = views;
    if (pictures) {
      args.insert(args.end(), {"--svg", folder + "/m.svg", "--csv", folder + "/t"});
    }
    return args;
  };
  translated.insert(translated.begin(),
                    {"translate", "--config", demo_config(), "--max-length", "8"});
  std::vector<std::string> saved = {"page", json};
  for (const std::string& arg : files("saved")) saved.push_back(arg);
  for (const std::string& arg : files("once")) translated.push_back(arg);
  translated.insert(translated.end(), {"--json", json});
  const Result once = run_program({.args = translated});
  REQUIRE_MESSAGE(once.code == kDone, once.err);
  const Result again = run_program({.args = saved});
  REQUIRE_MESSAGE(again.code == kDone, again.err);
  const bool shown = !views.empty() && views.front() == "--show";
  CHECK(again.out == (shown ? once.out : ""));
  const std::vector<std::string> names = listing(scene.file("once"));
  CHECK(listing(scene.file("saved")) == names);
  CHECK(names.empty() == !pictures);
  for (const std::string& name : names) {
    if (std::filesystem::is_directory(scene.file("once/" + name))) continue;
    CHECK_MESSAGE(bytes_of(scene.file("saved/" + name)) == bytes_of(scene.file("once/" + name)),
                  name);
  }
}

std::vector<std::string> kind(const std::string& pattern) {
  return {"The group went home and the group went home",
          "--set",
          "model.encoder_attention=" + pattern,
          "--heads",
          "2",
          "--d-model",
          "16"};
}

}  // namespace

TEST_CASE("page: pictures, tables and maps of saved records are those of translate") {
  check_same({kDemoSource}, {});
  check_same({kDemoSource, "The group"}, {"--show", "all"});
  check_same({kDemoSource, "The group"},
             {"--show", "encoder:0", "--show", "cross:best", "--words"});
  check_same({kDemoSource}, {"--show", "decoder:mean", "--top", "2"});
  check_same({kDemoSource, "--beam", "3", "--n-best", "3"},
             {"--show", "cross:1:mean", "--hypothesis", "2"});
  check_same({"", kDemoSource}, {"--show", "all"});
}

TEST_CASE("page: likewise of experiments, of lines in parts, and of vectors beside the maps") {
  check_same({kDemoSource, "--without", "cross:1:0", "--force", "decoder:0:1:2=1"}, {});
  check_same({kDemoSource, "--without", "decoder:0"}, {"--show", "decoder:0"});
  check_same({"The group went home. The group went home!", "--split", "sentences"},
             {"--show", "cross:0"});
  check_same({kDemoSource, "--vectors", "--report", "--align", "average"}, {});
}

TEST_CASE("page: likewise of patterns and of what goes by way of something smaller") {
  check_same(kind(R"({"type":"window","window":2})"), {"--show", "encoder"});
  check_same(kind(R"({"type":"linformer","k":3})"), {"--show", "encoder"});
  check_same(kind(R"({"type":"performer","m":8})"), {"--show", "encoder"});
  check_same(kind(R"({"type":"lsh","block_size":2,"buckets":4,"rounds":2})"),
             {"--show", "encoder"});
}

TEST_CASE("page: a picture as PNG, and on stdout; without any file the maps of the default") {
  const TemporaryDirectory scene;
  const std::string json = scene.file("r.json"), svg = scene.file("r.svg"),
                    png = scene.file("r.png");
  const auto run = [](std::vector<std::string> args) {
    Result result = run_program({.args = std::move(args)});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return result.out;
  };
  const std::vector<std::string> translate = {"translate", "--config",     demo_config(),
                                              kDemoSource, "--max-length", "8"};
  std::vector<std::string> files = translate;
  files.insert(files.end(), {"--json", json, "--svg", svg, "--png", png, "--png-scale", "0.5"});
  run(files);
  CHECK(run({"page", json}) == run(translate));
  CHECK(run({"page", json, "--svg", "-"}) == bytes_of(svg));
  run({"page", json, "--png", scene.file("s.png"), "--png-scale", "0.5"});
  CHECK(bytes_of(scene.file("s.png")) == bytes_of(png));
  const std::string page = scene.file("p.html");
  CHECK(run({"page", json, "--html", page, "--show", "none"}).find('\n') != std::string::npos);
  check_all({
      {"no such layer",
       {"page", json, "--show", "cross:9"},
       kUsage,
       {"--show cross:9: no layer 9: the decoder has layers 0 to 1"}},
      {"no such translation",
       {"page", json, "--hypothesis", "2"},
       kUsage,
       {"--hypothesis 2: ", "r.json:1 has 1"}},
      {"tables on stdout", {"page", json, "--csv", "-"}, kUsage, {"expected a directory"}},
      {"an input", {"page", json, "--svg", json}, kUsage, {"--svg"}},
  });
}

}  // namespace attn::test
