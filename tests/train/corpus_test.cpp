#include "train/corpus.h"

#include <doctest/doctest.h>

#include "check_error.h"
#include "temporary_directory.h"

namespace attn::test {
namespace {

const std::string kTokenizer = std::string(ATTN_SOURCE_DIR) + "/data/demo/tokenizer";

/// Two files, and the result of read_parallel for them.
struct Files {
  TemporaryDirectory directory;
  ParallelFiles files{directory.file("en"), directory.file("de")};

  ParallelText read(std::string_view source, std::string_view target) const {
    directory.write("en", source);
    directory.write("de", target);
    return read_parallel(files);
  }
  void refuse(std::string_view source, std::string_view target, const std::string& part) const {
    check_error([&] { read(source, target); }, ExitCode::input, part);
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("lines of both sides, with any line ends and none at the end") {
  const Files files;
  const ParallelText text = files.read("a b\r\n\nc\xC3\xA4", "x\n\r\ny\n");
  CHECK(text.source == Lines{"a b", "", "c\xC3\xA4"});
  CHECK(text.target == Lines{"x", "", "y"});
  CHECK(text.controls == 0);
  const ParallelText empty_last = files.read("a\n\n", "b\n\n");
  CHECK(empty_last.source == Lines{"a", ""});
}

TEST_CASE("control characters are replaced and counted, tabs are blanks") {
  const Files files;
  const ParallelText text = files.read("a\tb\n", std::string_view("\x01x\0\n", 4));
  CHECK(text.source == Lines{"a b"});
  CHECK(text.target == Lines{"\xEF\xBF\xBDx\xEF\xBF\xBD"});
  CHECK(text.controls == 2);
}

TEST_CASE("a table without the name of one is read only if it is both sides") {
  const Files files;
  const std::string table = "a\tx\nb\ty\n";
  CHECK(files.read(table, "x\ny\n").source == Lines{"a x", "b y"});
  CHECK(files.read("a\nb\n", table).target == Lines{"a x", "b y"});
  const std::string both = files.files.source;
  const ParallelText text = parse_parallel(table, table, {both, both});
  CHECK(text.source == Lines{"a", "b"});
  CHECK(text.target == Lines{"x", "y"});
  CHECK(text.notes.size() == 2);
}

TEST_CASE("sides that do not fit are refused") {
  const Files files;
  const std::string source = files.files.source;
  const std::string target = files.files.target;
  files.refuse("a\nb\n", "a\nb\nc\n", source + " has 2 lines and " + target + " has 3");
  files.refuse("a\nb", "a\n\n\n", "has 2 lines and");
  files.refuse("", "a\n", "has 0 lines and");
  files.refuse("", "", "are empty");
  files.refuse("a\nb\n\xFFz\n", "a\nb\nc\n", source + ":3: not valid UTF-8");
  files.refuse("a\n", "\xC3", target + ":1: not valid UTF-8");
  check_error(
      [&] {
        read_parallel({files.directory.file("none"), target});
      },
      ExitCode::system, "none");
}

TEST_CASE("sentences are kept one after another") {
  TokenizedSentences sentences;
  CHECK(sentences.size() == 0);
  sentences.add(std::vector{1, 2, 3});
  sentences.add({});
  sentences.add(std::vector{4});
  REQUIRE(sentences.size() == 3);
  CHECK(sentences.length(0) == 3);
  CHECK(sentences.length(1) == 0);
  CHECK(sentences[0][2] == 3);
  CHECK(sentences[2].size() == 1);
  CHECK(sentences[2][0] == 4);
}

TEST_CASE("pairs with an empty side or too many tokens are skipped and counted") {
  const Tokenizer tokenizer(kTokenizer);
  const std::string sentence = "The group went home";
  const std::vector<int> ids = tokenizer.encode_source(sentence).ids;
  ParallelText text;
  text.source = {sentence, "", "  ", sentence, sentence, sentence + " " + sentence};
  text.target = {"Die Gruppe", "Wir", "", " ", "Wir", "Wir"};
  const Corpus corpus = make_corpus(text, tokenizer, ids.size());
  CHECK(corpus.size() == 2);
  CHECK(corpus.target.size() == 2);
  CHECK(corpus.empty == 3);
  CHECK(corpus.too_long == 1);
  CHECK(corpus.lines == std::vector<std::uint32_t>{0, 4});
  const std::span<const int> first = corpus.source[0];
  CHECK(std::vector<int>(first.begin(), first.end()) == ids);
  CHECK(first.back() == tokenizer.special_tokens().eos);
  const std::vector<int> wir = tokenizer.encode_target("Wir").ids;
  const std::span<const int> second = corpus.target[1];
  CHECK(std::vector<int>(second.begin(), second.end()) == wir);
  CHECK(make_corpus(text, tokenizer, ids.size() - 1).size() == 0);
}

TEST_CASE("languages stand around the texts of a corpus, and nothing between them is empty") {
  const Tokenizer tokenizer(std::string(ATTN_SOURCE_DIR) + "/tests/golden/languages/Nllb");
  const Languages& known = tokenizer.languages();
  const LanguageChoice choice{known.find("fra_Latn")->id, known.find("deu_Latn")->id};
  ParallelText text;
  text.source = {"home", "home", "", "home"};
  text.target = {"Haus", "", "Haus", "Haus am See"};
  const Corpus corpus = make_corpus(text, tokenizer, 20, choice);
  CHECK(corpus.empty == 2);
  REQUIRE(corpus.size() == 2);
  CHECK(corpus.source[0].front() == choice.source);
  CHECK(corpus.target[1].front() == choice.target);
  CHECK(corpus.target[1].back() == tokenizer.special_tokens().eos);
  CHECK(make_corpus(text, tokenizer, 20).target[0].front() == known.target);
}

}  // namespace attn::test
