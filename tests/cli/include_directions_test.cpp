// Includes go one way (docs/architecture.md): a library includes itself and the ones listed,
// nothing else of the project.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace {

const std::map<std::string, std::set<std::string>> kAllowed{
    {"base", {}},
    {"compute", {"base"}},
    {"config", {"base", "compute"}},
    {"text", {"base", "compute", "config"}},
    {"nn", {"base", "compute", "config"}},
    {"model", {"base", "compute", "config", "nn"}},
    {"record", {"base"}},
    {"analysis", {"base", "record"}},
    {"metrics", {}},
    {"explain", {"base", "compute", "config", "nn", "model", "record"}},
    {"translate", {"base", "compute", "config", "text", "nn", "model", "record"}},
    {"train",
     {"base", "compute", "config", "text", "nn", "model", "record", "translate", "metrics"}},
    {"view", {"base", "config", "record"}},
    {"raster", {"base"}},
};

}  // namespace

TEST_CASE("libraries include only what they may") {
  const fs::path lib = fs::path(ATTN_SOURCE_DIR) / "lib";
  const std::regex include(R"re(^\s*#\s*include\s+"([a-z_]+)/[^"]+")re");
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(lib)) {
    const fs::path relative = fs::relative(entry.path(), lib);
    if (!entry.is_regular_file() || relative.begin() == --relative.end()) continue;
    const std::string from = relative.begin()->string();
    REQUIRE_MESSAGE(kAllowed.contains(from), "lib/", from, " is not in the table");
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      ++seen;
      const std::string to = match[1];
      CHECK_MESSAGE((to == from || kAllowed.at(from).contains(to)), relative.string(), " includes ",
                    to, "/");
    }
  }
  CHECK(seen > 50);
}
