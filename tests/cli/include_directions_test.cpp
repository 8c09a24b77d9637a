// Tests that includes go one way (docs/architecture.md): a room includes only itself and the rooms
// listed for it. A room is a library, or a folder of one if the table lists it.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const std::map<std::string, std::set<std::string>> kAllowed{
    {"base", {}},
    {"paper", {"base"}},
    {"compute", {"base"}},
    {"config", {"base", "compute"}},
    {"text", {"base", "compute", "config"}},
    {"nn", {"base", "paper", "compute", "config"}},
    {"model", {"base", "compute", "config", "nn"}},
    {"record", {"base", "config"}},
    {"analysis", {"base", "config", "record"}},
    {"metrics", {}},
    {"markup", {"base"}},
    {"explain", {"base", "paper", "compute", "config", "nn", "model", "record"}},
    {"translate", {"base", "compute", "config", "text", "nn", "model", "record"}},
    {"train",
     {"base", "compute", "config", "text", "nn", "model", "record", "translate", "metrics"}},
    {"why", {"base", "compute", "config", "text", "nn", "model", "record", "translate"}},
    {"raster", {"base"}},
    // The base of every front end: all libraries but serve and raster, which loads librsvg.
    {"service",
     {"base",   "compute",  "config",        "text",     "nn",        "paper",    "model",
      "record", "analysis", "metrics",       "explain",  "translate", "train",    "why",
      "markup", "view",     "view/terminal", "view/svg", "view/data", "view/page"}},
    {"serve",
     {"base", "compute", "config", "text", "nn", "model", "record", "analysis", "translate", "view",
      "view/page", "service"}},
    // The files that all views share are directly in view; no kind of view includes another.
    {"view", {"base", "config", "record"}},
    {"view/terminal", {"base", "config", "record", "view"}},
    {"view/svg", {"base", "config", "record", "view"}},
    {"view/data", {"base", "config", "record", "view"}},
    {"view/page", {"base", "config", "record", "view"}},
};

/// Returns the room of a file of lib/: "base" for base/error.h and base/files/files.h, "view/svg"
/// for view/svg/map/map_panels.h. A folder without a row of its own belongs to its parent folder,
/// except in view, where each kind of view has a row.
std::string room_of(const fs::path& file) {
  const fs::path home = file.parent_path();
  fs::path folder = home;
  while (folder.has_parent_path() && !kAllowed.contains(folder.generic_string()))
    folder = folder.parent_path();
  return (folder == "view" ? home : folder).generic_string();
}

/// Returns the file of lib/ that a line includes; empty if it includes none of the project.
std::string included_by(const std::string& line) {
  static const std::regex include(R"re(^\s*#\s*include\s+"([^"]+)")re");
  std::smatch match;
  return std::regex_search(line, match, include) ? match[1].str() : std::string();
}

/// Returns the error in a line of a file of lib/; empty if there is none.
std::string fault_of(const fs::path& file, const std::string& line) {
  const std::string included = included_by(line);
  if (included.empty()) return "";
  const std::string from = room_of(file), to = room_of(included);
  if (!kAllowed.contains(from)) return "lib/" + from + " is not in the table";
  if (to == from || kAllowed.at(from).contains(to)) return "";
  return file.generic_string() + " includes " + included;
}

}  // namespace

TEST_CASE("rooms of lib include only what they may") {
  const fs::path lib = fs::path(ATTN_SOURCE_DIR) / "lib";
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(lib)) {
    const fs::path relative = fs::relative(entry.path(), lib);
    if (relative.extension() != ".h" && relative.extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!included_by(line).empty()) ++seen;
      const std::string fault = fault_of(relative, line);
      CHECK_MESSAGE(fault.empty(), fault);
    }
  }
  CHECK(seen > 300);
}

/// True if a program contains a polymorphic class, whose type information holds its name.
bool links_class(const fs::path& program, const std::string& mangled_name) {
  std::ifstream file(program, std::ios::binary);
  REQUIRE_MESSAGE(file, program.string());
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return bytes.find(mangled_name) != std::string::npos;
}

TEST_CASE("the server links the search queue, the command line does not") {
  const fs::path program(ATTN_DEMO_BINARY);
  CHECK_FALSE(links_class(program, "4attn11SearchQueue"));
  CHECK(links_class(program.parent_path() / "attn-demo-serve", "4attn11SearchQueue"));
}

/// Returns the error in a line of a front end other than the command line, which must not include
/// the app's headers; empty if there is none. `folder` is the file's folder below the project, and
/// `own` lists the folders where it finds headers.
std::string fault_of_front_end(const fs::path& folder, const std::vector<fs::path>& own,
                               const std::string& line) {
  const fs::path source(ATTN_SOURCE_DIR);
  const fs::path included = included_by(line);
  if (included.empty()) return "";
  if (*included.begin() == "app" || *included.begin() == "..") return included.string();
  for (const fs::path& root : own) {
    if (fs::exists(source / root / included)) return "";
  }
  if (fs::exists(source / folder / included) || fs::exists(source / "lib" / included)) return "";
  // The installed name of lib/config/search_options.h.
  if (included == "attn_demo/search_options.h") return "";
  return included.string();
}

TEST_CASE("the Python package and the C++ library include nothing of app's") {
  const fs::path source(ATTN_SOURCE_DIR);
  const std::vector<fs::path> own{"python/src", "sdk", "sdk/include"};
  std::size_t seen = 0;
  for (const fs::path folder : {"python/src", "sdk"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (!included_by(line).empty()) ++seen;
        const std::string fault = fault_of_front_end(folder, own, line);
        CHECK_MESSAGE(fault.empty(), entry.path().string(), " includes ", fault);
      }
    }
  }
  CHECK(seen > 30);
  const auto fault = [&](const std::string& included) {
    return fault_of_front_end("sdk", own, "#include \"" + included + "\"");
  };
  CHECK(fault("service/search_settings.h").empty());
  CHECK(fault("attn_demo/attn_demo.h").empty());
  CHECK(fault("commands/search_options.h") == "commands/search_options.h");
  CHECK(fault("terminal/console.h") == "terminal/console.h");
  CHECK(fault("app/terminal/console.h") == "app/terminal/console.h");
}

TEST_CASE("what a room may not include is found") {
  const auto fault = [](const char* file, const std::string& included) {
    return fault_of(file, "#include \"" + included + "\"");
  };
  CHECK(fault("view/svg/a.cpp", "view/svg/a.h").empty());
  CHECK(fault("view/svg/a.cpp", "view/color.h").empty());
  CHECK(fault("view/svg/a.cpp", "view/data/b.h") == "view/svg/a.cpp includes view/data/b.h");
  CHECK(fault("view/a.cpp", "view/svg/b.h") == "view/a.cpp includes view/svg/b.h");
  CHECK(fault("view/a.cpp", "model/b.h") == "view/a.cpp includes model/b.h");
  CHECK(fault("view/new/a.cpp", "base/b.h") == "lib/view/new is not in the table");
  CHECK(fault("new/a.cpp", "base/b.h") == "lib/new is not in the table");
  CHECK(fault("view/svg/map/a.cpp", "view/svg/b.h").empty());
  CHECK(fault("view/svg/map/a.cpp", "view/data/b.h") ==
        "view/svg/map/a.cpp includes view/data/b.h");
  CHECK(fault("nn/attention/a.cpp", "nn/b.h").empty());
  CHECK(fault("nn/attention/a.cpp", "model/b.h") == "nn/attention/a.cpp includes model/b.h");
  // A library's file is included by its path in lib/, and the app's files are not included at all.
  CHECK(fault("base/a.cpp", "b.h") == "base/a.cpp includes b.h");
  CHECK(fault("base/a.cpp", "console.h") == "base/a.cpp includes console.h");
  CHECK(fault("serve/a.cpp", "service/b.h").empty());
  CHECK(fault("service/model/a.cpp", "train/b.h").empty());
  for (const std::string included :
       {"serve/b.h", "raster/b.h", "terminal/console.h", "app/terminal/console.h"}) {
    CHECK(fault("service/a.cpp", included) == "service/a.cpp includes " + included);
  }
  CHECK(fault("translate/a.cpp", "service/b.h") == "translate/a.cpp includes service/b.h");
}

TEST_CASE("headers own their sources") {
  const fs::path lib = fs::path(ATTN_SOURCE_DIR) / "lib";
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(lib)) {
    if (entry.path().extension() != ".cpp") continue;
    ++seen;
    fs::path header = entry.path();
    if (fs::exists(header.replace_extension(".h"))) continue;
    // Otherwise a header beside it must name the source.
    bool named = false;
    for (const auto& other : fs::directory_iterator(entry.path().parent_path())) {
      if (other.path().extension() != ".h") continue;
      std::ifstream file(other.path());
      for (std::string line; std::getline(file, line);) {
        named = named || line.find(entry.path().filename().string()) != std::string::npos;
      }
    }
    CHECK_MESSAGE(named, fs::relative(entry.path(), lib).string(),
                  " has no header of its name, and no header beside it names it");
  }
  CHECK(seen > 100);
}

TEST_CASE("no two headers of lib name one type") {
  // If two types have the same name, the linker merges functions of templates on them and keeps
  // either one. No compiler reports this.
  const std::regex space(R"re(^namespace ([a-z:_]+) \{)re"), nameless(R"re(^namespace \{)re");
  const std::regex type(R"re(^(?:struct|class|enum class) (\w+)(?: final)?(?: :[^;]*)?\s*\{)re");
  const fs::path lib = fs::path(ATTN_SOURCE_DIR) / "lib";
  std::map<std::string, std::string> named;  // header by namespace and name
  for (const auto& entry : fs::recursive_directory_iterator(lib)) {
    if (entry.path().extension() != ".h") continue;
    const std::string header = fs::relative(entry.path(), lib).generic_string();
    std::ifstream file(entry.path());
    std::string inside;
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (std::regex_search(line, match, space)) inside = match[1].str() + "::";
      if (std::regex_search(line, nameless))
        break;  // unnamed namespaces are separate in each source
      if (!std::regex_search(line, match, type)) continue;
      const auto& other = *named.try_emplace(inside + match[1].str(), header).first;
      CHECK_MESSAGE(other.second == header, other.first, " is in ", other.second, " and in ",
                    header);
    }
  }
  CHECK(named.size() > 200);
}
