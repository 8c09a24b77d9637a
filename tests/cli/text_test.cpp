// Tests malformed text: it is replaced or cut, and reported, and never an error.
#include <doctest/doctest.h>

#include <set>

#include "bad_input.h"
#include "base/strings/utf8.h"

namespace attn::test {
namespace {

/// One line of stdin, and the note that must follow ("" for none).
struct BadText {
  std::string name;
  std::string line;
  std::string note;
};

const std::string kInvalid = "sentence 1 is not valid UTF-8";
const std::string kControls = "sentence 1 holds control characters";
const std::string kCut = "sentence 1 is longer than the model's 64 positions";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::size_t notes_with(const Result& result, const std::string& part) {
  std::size_t count = 0;
  for (const std::string& line : notes_of(result)) {
    if (line.find(part) != line.npos) ++count;
  }
  return count;
}

/// A model directory, with which the program is run.
struct TextScene {
  TemporaryDirectory directory;
  std::string model = ModelFiles::good().write(directory, "m");

  Result translate(const std::string& input, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"translate", "--model", model};
    args.insert(args.end(), more.begin(), more.end());
    return run_program({.args = args, .input = input});
  }
};

void check_text(const TextScene& scene, const BadText& bad) {
  INFO("case: ", bad.name);
  const Result result = scene.translate(bad.line + "\nThe group went home\n");
  INFO("stderr: ", result.err);
  CHECK(result.code == kDone);
  CHECK(lines_of(result.out).size() == 2);
  CHECK(is_plain(result.out));
  CHECK(is_valid_utf8(result.out));
  CHECK(is_plain(result.err));
  CHECK(errors_of(result).empty());
  for (const std::string& note : {kInvalid, kControls, kCut}) {
    CHECK_MESSAGE(notes_with(result, note) == (note == bad.note ? 1 : 0), note);
  }
  // The words on the maps' axes must not contain raw characters either.
  const Result maps = scene.translate(bad.line + "\n", {"--show", "all"});
  CHECK(maps.code == kDone);
  CHECK(is_plain(maps.out));
  CHECK(is_valid_utf8(maps.out));
  const Result json = scene.translate(bad.line + "\n", {"--json", "-"});
  CHECK(json.code == kDone);
  CHECK(is_plain(json.out));
  CHECK(Json::accept(json.out));
}

}  // namespace

TEST_CASE("bad input: text that is replaced or cut") {
  const TextScene scene;
  const std::vector<BadText> cases = {
      {"a lone continuation byte", "The \x80 group", kInvalid},
      {"a byte that never occurs", "The \xff group", kInvalid},
      {"a sequence cut at the end", "The group \xe2\x82", kInvalid},
      {"a sequence cut in the middle", "The \xe2\x82 group", kInvalid},
      {"an overlong slash", "The \xc0\xaf group", kInvalid},
      {"an overlong escape", "The \xc0\x9b[31m group", kInvalid},
      {"a surrogate", "The \xed\xa0\x80 group", kInvalid},
      {"beyond the last code point", "The \xf4\x90\x80\x80 group", kInvalid},
      {"Latin-1", "The gr\xfcppe", kInvalid},
      {"a colour sequence", "The \x1b[31mgroup\x1b[0m", kControls},
      {"a window title", "The \x1b]0;title\x07 group", kControls},
      {"a cleared screen", "\x1b[2J\x1b[HThe group", kControls},
      {"an eight-bit control sequence",
       "The \xc2\x9b"
       "31mgroup",
       kControls},
      {"a bell", "The \x07 group", kControls},
      {"backspaces", "The group\x08\x08\x08", kControls},
      {"delete", "The\x7f group", kControls},
      {"a zero byte", std::string("The\0 group", 10), kControls},
      {"zero bytes only", std::string(8, '\0'), kControls},
      {"a form feed", "The\x0cgroup", kControls},
      {"a lone carriage return", "The\rgroup", kControls},
      {"a carriage return before the line", "\rThe group", kControls},
      {"a form feed before the line", "\x0cThe group", kControls},
      {"a vertical tab behind the line", "The group\x0b", kControls},
      {"a tab", "The\tgroup", ""},
      {"a byte-order mark", "\xef\xbb\xbfThe group", ""},
      {"text from right to left", "The \xe2\x80\xae group", ""},
      {"a combining mark alone", "\xcc\x81", ""},
      {"emoji", "The \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 group", ""},
      {"special pieces as text", "</s> <pad> <unk> The group", ""},
      {"a language mark", ">>de<< The group", ""},
      {"the blank mark of SentencePiece", "\xe2\x96\x81The\xe2\x96\x81group", ""},
      {"as many words as fit", repeated("The ", 63), ""},
      {"one word more than fits", repeated("The ", 64), kCut},
      {"a megabyte of words", repeated("The group went home ", 52'429), kCut},
      {"a megabyte of one word", std::string(1 << 20, 'a'), kCut},
      {"a megabyte of characters of three bytes", repeated("\xe2\x82\xac", 350'000), kCut},
      {"just beyond 64 KiB of one word", std::string((1 << 16) + 1, 'a'), kCut},
  };
  std::set<std::string> names;
  for (const BadText& bad : cases) {
    CHECK(names.insert(bad.name).second);
    check_text(scene, bad);
  }
}

TEST_CASE("bad input: a megabyte of invalid bytes and of controls") {
  const TextScene scene;
  for (const char byte : {'\xff', '\x1b', '\0'}) {
    const Result result = scene.translate(std::string(1 << 20, byte) + "\n");
    CHECK(result.code == kDone);
    CHECK(lines_of(result.out).size() == 1);
    CHECK(is_plain(result.out));
    CHECK(is_plain(result.err));
    CHECK(errors_of(result).empty());
    CHECK(notes_with(result, byte == '\xff' ? kInvalid : kControls) == 1);
    CHECK(notes_with(result, kCut) == 1);
  }
}

TEST_CASE("bad text is reported once, however often it comes") {
  const TextScene scene;
  const Result result = scene.translate(repeated("The \xff\n", 100) + repeated("\x1bThe\n", 100));
  CHECK(result.code == kDone);
  CHECK(lines_of(result.out).size() == 200);
  CHECK(notes_with(result, "not valid UTF-8") == 1);
  CHECK(notes_with(result, "control characters") == 1);
}

TEST_CASE("bad text in arguments is treated as on stdin") {
  const TextScene scene;
  const std::string bad = "The \x1b[31mgroup \xff";
  const Result argument = scene.translate("", {bad, "--show", "all"});
  CHECK(argument.code == kDone);
  CHECK(is_plain(argument.out));
  CHECK(notes_with(argument, kInvalid) == 1);
  CHECK(notes_with(argument, kControls) == 1);
  const Result target = scene.translate("", {"The group", "--target", bad, "--show", "all"});
  CHECK(target.code == kDone);
  CHECK(is_plain(target.out));
  CHECK(is_plain(target.err));
  CHECK(notes_with(target, "UTF-8") == 1);
  CHECK(notes_with(target, "control characters") == 1);
}

TEST_CASE("bad input: a target longer than the positions") {
  const TextScene scene;
  const Result result = scene.translate("", {"The group", "--target", repeated("Die ", 64)});
  CHECK(result.code == kInput);
  CHECK(result.out == "");
  REQUIRE(errors_of(result).size() == 1);
  CHECK(errors_of(result)[0].find("the target has 65 tokens") != std::string::npos);
  const Result fits = scene.translate("", {"The group", "--target", repeated("Die ", 63)});
  CHECK(fits.code == kDone);
}

TEST_CASE("bad input: pieces of a vocabulary that would break the output") {
  // The model's vocabulary is external text too: one line must stay one line, without raw
  // characters.
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  std::string changed = "{";
  const Json vocabulary = model.json("vocab.json");
  for (const auto& [piece, id] : vocabulary.items()) {
    const bool word = piece.starts_with("\xe2\x96\x81") && id.get<int>() % 2 == 0;
    if (changed.size() > 1) changed += ',';
    changed += Json(piece + (word ? "\x1b[31m\n" : "")).dump();
    changed += ':';
    changed += id.dump();
  }
  changed += '}';
  model.files["vocab.json"] = changed;
  const std::string directory = model.write(scene, "m");
  std::string input;
  for (const std::string word : {"The", "group", "went", "home", "house", "a", "We", "Sunday"}) {
    input += word + "\n";
  }
  const Result result = run_program({.args = {"translate", "--model", directory}, .input = input});
  INFO("stderr: ", result.err);
  CHECK(result.code == kDone);
  CHECK(is_plain(result.out));
  CHECK(lines_of(result.out).size() == 8);
  const Result maps =
      run_program({.args = {"translate", "--model", directory, "--show", "all"}, .input = input});
  CHECK(maps.code == kDone);
  CHECK(is_plain(maps.out));
}

TEST_CASE("line ends of every kind") {
  const TextScene scene;
  const std::string expected = scene.translate("The group\n\nwent home\n").out;
  REQUIRE(lines_of(expected).size() == 3);
  CHECK(lines_of(expected)[1] == "");
  CHECK(lines_of(expected)[0] != "");
  CHECK(scene.translate("The group\n\nwent home").out == expected);
  CHECK(scene.translate("The group\r\n\r\nwent home\r\n").out == expected);
  std::string indented = expected;
  indented.insert(expected.find('\n') + 1, "   ");
  CHECK(scene.translate("The group\n   \nwent home\n").out == indented);
  CHECK(scene.translate("").out == "");
  CHECK(scene.translate("\n").out == "\n");
  CHECK(scene.translate("\n\n\n").out == "\n\n\n");
  CHECK(scene.translate("\r\n").out == "\n");
}

}  // namespace attn::test
