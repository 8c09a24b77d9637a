// Tests that libraries only state facts: messages that name options and commands are in the app
// (and Python). The page's scripts may name commands; they are not C++.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace fs = std::filesystem;

namespace {

/// Returns the first string literal in a line of C++ that names an option or a command, outside
/// comments; empty if there is none.
std::string option_in(const std::string& line) {
  static const std::regex quoted(R"re(//|"((?:[^"\\]|\\.)*)")re");
  static const std::regex option(
      R"re((^|[^-\w])--[a-z]|attn-demo (translate|explain|page|train|evaluate|tokenizer|init|convert|inspect|serve)\b)re");
  for (std::sregex_iterator at(line.begin(), line.end(), quoted), end; at != end; ++at) {
    if (at->str() == "//") return "";
    const std::string text = (*at)[1].str();
    if (std::regex_search(text, option)) return text;
  }
  return "";
}

}  // namespace

TEST_CASE("libraries word no options") {
  const fs::path lib = fs::path(ATTN_SOURCE_DIR) / "lib";
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(lib)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.find('"') != std::string::npos) ++seen;
      CHECK_MESSAGE(option_in(line).empty(), fs::relative(entry.path(), lib).string(), ":", number,
                    ": ", option_in(line));
    }
  }
  CHECK(seen > 1000);
}

TEST_CASE("an option in a library's words is found") {
  CHECK(option_in(R"(fail("take another one: --port 8080");)") == "take another one: --port 8080");
  CHECK(option_in(R"(x("a", "--json and --csv");)") == "--json and --csv");
  CHECK(option_in(R"(open("the address that attn-demo serve printed");)") != "");
  CHECK(option_in(R"(--at; f("a -- b", "---", "x--y", "attn-demo.heads");)").empty());
  CHECK(option_in(R"(f("a");  // as "--force" has it)").empty());
}
