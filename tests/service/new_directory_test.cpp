// Tests that only the requested directories are created.
#include "service/output_safety.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "temporary_directory.h"

using namespace attn;
namespace fs = std::filesystem;

TEST_CASE("a way back from a folder that is not there does not make it") {
  const test::TemporaryDirectory scene;
  const auto way = [&](const std::string& path) { return normalize_output_path(scene.file(path)); };
  CHECK(way("new/../x") == scene.file("x"));
  CHECK(way("new/deep/../../x/y") == scene.file("x/y"));
  CHECK(way("x/y") == scene.file("x/y"));
  CHECK(normalize_output_path("new/../x") == "x");
  // Existing paths keep their meaning: after a link, .. is another folder.
  fs::create_directories(scene.file("there/inside"));
  fs::create_directory_symlink(scene.file("there/inside"), scene.file("link"));
  CHECK(way("link/../x") == scene.file("link/../x"));
}
