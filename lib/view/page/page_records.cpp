#include "view/page/page_records.h"

#include "base/error.h"
#include "base/json.h"
#include "view/page/record_shape.h"

namespace attn {
namespace {

constexpr std::string_view kHeadsBegin = R"({"format":"attn-demo.heads")";

Json parsed_line(std::string_view line, const std::string& where) {
  try {
    // A record has as many numbers as its maps have cells; each takes two bytes of the line or
    // more, and how long a line may be is the file's business.
    return parse_json(line, where, {.max_bytes = line.size(), .max_values = line.size() / 2 + 1});
  } catch (const InputError& error) {
    // The parser counts the lines of its text, and this is one.
    std::string message = error.what();
    if (message.starts_with(where + ":1:")) message.erase(where.size(), 2);
    throw InputError("{}", message);
  }
}

/// The first translation under a change joins those that the change gave.
void add_replayed(Json& hypotheses, Json replayed) {
  const Json ids = replayed.is_object() ? replayed.value("ids", Json()) : Json();
  for (const Json& hypothesis : hypotheses) {
    if (hypothesis["ids"] == ids) return;
  }
  if (replayed.is_object()) replayed["replayed"] = true;
  hypotheses.push_back(std::move(replayed));
}

}  // namespace

std::vector<std::string> page_record_lines(std::string_view line, const std::string& where) {
  Json read = parsed_line(line, where);
  if (!read.is_object() || read.value("format", Json()) != "attn-demo.what_if") {
    check_record_shape(read, where);
    return {std::string(line)};
  }
  // First what is missing, as null: a new member moves those that references lead to.
  for (const char* key : {"before", "after", "replayed"}) read.emplace(key, nullptr);
  Json& before = read["before"];
  Json& after = read["after"];
  check_record_shape(before, where + ": before");
  check_record_shape(after, where + ": after");
  add_replayed(after["hypotheses"], std::move(read["replayed"]));
  check_record_shape(after, where + ": after, and replayed as its last hypothesis");
  return {before.dump(), after.dump()};
}

bool is_heads_line(std::string_view line) {
  return line.starts_with(kHeadsBegin);
}

std::size_t check_heads_line(std::string_view line, const std::string& where) {
  return check_heads(parsed_line(line, where), where);
}

}  // namespace attn
