#include "bad_input.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/strings/utf8.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::vector<std::string> with_prefix(const Result& result, bool note) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(result.err)) {
    if (line.starts_with("note: ") == note) found.push_back(line);
  }
  return found;
}

}  // namespace

std::string filled(std::string text, const TemporaryDirectory& scene) {
  replace_all(text, "{dir}", scene.path());
  replace_all(text, "{demo}", demo_config());
  replace_all(text, "{tokenizer}", demo_tokenizer());
  return text;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> notes_of(const Result& result) {
  return with_prefix(result, true);
}

std::vector<std::string> errors_of(const Result& result) {
  return with_prefix(result, false);
}

std::vector<std::string> listing(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string end = entry.is_directory() ? "/" : "";
    names.push_back(fs::relative(entry.path(), directory).string() + end);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_plain(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = byte_value(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7F;
  });
}

void check_bad(const BadCase& bad) {
  const TemporaryDirectory scene;
  if (bad.prepare) bad.prepare(scene);
  Request request;
  for (const std::string& arg : bad.args) request.args.push_back(filled(arg, scene));
  request.stdout_path = bad.stdout_path;
  request.in_child = bad.in_child;
  request.environment = {{"TMPDIR", scene.path()}};
  const std::vector<std::string> before = listing(scene.path());
  const Result result = run_program(request);
  INFO("case: ", bad.name);
  INFO("stderr: ", result.err);
  CHECK_FALSE(result.timed_out);
  CHECK(result.code == bad.code);
  CHECK(result.out.substr(0, 100) == "");
  CHECK(is_plain(result.err));
  const std::vector<std::string> errors = errors_of(result);
  CHECK(errors.size() == 1);
  for (const std::string& line : errors) CHECK(line.starts_with("attn-demo: "));
  CHECK(result.err.ends_with('\n'));
  for (const std::string& part : bad.parts) {
    const std::string wanted = filled(part, scene);
    CHECK_MESSAGE((!errors.empty() && errors.front().find(wanted) != std::string::npos),
                  "expected in the message: ", wanted);
  }
  CHECK(listing(scene.path()) == before);
}

void check_all(const std::vector<BadCase>& cases) {
  std::set<std::string> names;
  for (const BadCase& bad : cases) {
    CHECK_MESSAGE(names.insert(bad.name).second, "two cases are named ", bad.name);
    check_bad(bad);
  }
}

}  // namespace attn::test
