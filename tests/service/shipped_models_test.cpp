// Tests the names of the models that ship with the program.
#include "service/model/shipped.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "check_error.h"
#include "service/model/hub_cache.h"
#include "temporary_directory.h"

using namespace attn;
namespace fs = std::filesystem;

namespace {

/// The files that ship, for one test.
struct ShippedRoot {
  explicit ShippedRoot(const std::string& directory) { set_shipped_root(directory); }
  ~ShippedRoot() { set_shipped_root(""); }
};

}  // namespace

TEST_CASE("a shipped model is found by its name from every folder") {
  const test::TemporaryDirectory scene;
  for (const char* name : {"de-en", "en-de", "cs-en"}) {
    fs::create_directories(scene.file("data/models/" + std::string(name)));
    scene.write("data/models/" + std::string(name) + "/config.json", "{}");
  }
  fs::create_directories(scene.file("data/models/no-model"));
  const ShippedRoot root(scene.path());
  const std::vector<std::string> names = {"data/models/en-de", "data/models/cs-en",
                                          "data/models/de-en"};
  CHECK(shipped_models() == names);
  CHECK(model_directory("de-en") == scene.file("data/models/de-en"));
  CHECK(model_directory("data/models/cs-en") == scene.file("data/models/cs-en"));
  CHECK(find_shipped_model("fr-en").empty());
  CHECK(find_shipped_model("..").empty());
  CHECK(find_shipped_model("de-en/config.json").empty());
  CHECK(find_shipped_model("").empty());
  // A path that looks like one, or that exists, stays as it is.
  CHECK(model_directory("./de-en") == "./de-en");
  CHECK(model_directory(scene.path()) == scene.path());
  test::check_error([] { require_model("fr-en", model_directory("fr-en")); }, ExitCode::system,
                    "fr-en: no such model directory, and no shipped model has this name (shipped: "
                    "en-de, cs-en, de-en); check the path");
}
