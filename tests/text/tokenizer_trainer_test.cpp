#include "text/tokenizer_trainer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/at.h"
#include "base/files/files.h"
#include "check_error.h"
#include "test_files.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

using test::check_error;
using test::kDemo;
using test::kSource;
using test::TemporaryDirectory;

TokenizerTraining demo(TokenizerType type, int vocab_size, bool joint = true) {
  TokenizerTraining training;
  training.type = type;
  training.vocab_size = vocab_size;
  training.joint = joint;
  training.source_lines = read_lines(kSource + "/data/demo/corpus.en", TextRole::source);
  training.target_lines = read_lines(kSource + "/data/demo/corpus.de", TextRole::source);
  return training;
}

void check_round_trip(const std::string& directory) {
  const Tokenizer tokenizer(directory);
  CHECK(tokenizer.special_tokens().eos == 0);
  CHECK(tokenizer.special_tokens().unk == 1);
  CHECK(tokenizer.special_tokens().pad == tokenizer.source_vocab_size() - 1);
  CHECK(tokenizer.target_vocab_size() == tokenizer.source_vocab_size());
  CHECK(tokenizer.target_token(tokenizer.target_vocab_size() - 1) == "<pad>");
  for (const std::string& line : read_lines(kSource + "/data/demo/corpus.de", TextRole::source)) {
    const EncodedText encoded = tokenizer.encode_target(line);
    CHECK(encoded.unknown == 0);
    CHECK(tokenizer.decode_target(encoded.ids) == line);
  }
}

TEST_CASE("the demo's tokenizer is what its corpus gives") {
  const TemporaryDirectory made;
  train_tokenizer(demo(TokenizerType::word, 1000), made.path());
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"}) {
    CAPTURE(name);
    CHECK(read_file(made.file(name)) == read_file(kDemo + "/" + name));
  }
  CHECK_FALSE(file_exists(made.file("target_vocab.json")));
  check_round_trip(made.path());
}

TEST_CASE("every type trains, joint and separate, and loads") {
  for (const TokenizerType type :
       {TokenizerType::unigram, TokenizerType::bpe, TokenizerType::word}) {
    for (const bool joint : {true, false}) {
      CAPTURE(static_cast<int>(type));
      CAPTURE(joint);
      const TemporaryDirectory made;
      train_tokenizer(demo(type, 120, joint), made.file("new/directory"));
      if (type != TokenizerType::word) check_round_trip(made.file("new/directory"));
      const Tokenizer tokenizer(made.file("new/directory"));
      CHECK(tokenizer.separate_vocabularies() == !joint);
      CHECK(tokenizer.source_vocab_size() <= 121);
    }
  }
}

TEST_CASE("separate vocabularies of different sizes are filled up to one padding id") {
  const TemporaryDirectory made;
  train_tokenizer(demo(TokenizerType::word, 1000, false), made.path());
  check_round_trip(made.path());
  const Tokenizer tokenizer(made.path());
  const int last = tokenizer.source_vocab_size() - 2;
  CHECK((tokenizer.source_token(last).starts_with("<filler_") !=
         tokenizer.target_token(last).starts_with("<filler_")));
}

TEST_CASE("what was made is counted, and lines that the library leaves out") {
  const TemporaryDirectory made;
  TokenizerTraining training;
  training.type = TokenizerType::word;
  training.joint = false;
  training.source_lines = {"one two", std::string(kLongestTrainingLine + 1, 'a'),
                           std::string(2000, 'b') + ' ' + std::string(2000, 'b')};
  training.target_lines = {"eins"};
  const TrainedTokenizer separate = train_tokenizer(training, made.path());
  CHECK(separate.source_pieces == 5);
  CHECK(separate.target_pieces == 3);
  CHECK(separate.skipped_lines == 1);
  training.joint = true;
  const TrainedTokenizer joint = train_tokenizer(training, made.path());
  CHECK(joint.source_pieces == 6);
  CHECK(joint.target_pieces == 6);
  training.source_lines[0] = std::string(2001, 'c');
  check_error([&] { train_tokenizer(training, made.path()); }, ExitCode::input,
              "a word of 2001 bytes; expected at most 2000");
}

TEST_CASE("text that normalising takes away is refused; one character late in the text is enough") {
  const TemporaryDirectory made;
  TokenizerTraining training;
  training.source_lines.assign(200, "\x01");
  training.target_lines = training.source_lines;
  check_error([&] { train_tokenizer(training, made.path()); }, ExitCode::input,
              "source text and target text: no text");
  CHECK(made.entries() == 0);
  training.target_lines.emplace_back("a");
  CHECK(train_tokenizer(training, made.path()).source_pieces == 4);
}

TEST_CASE("with bytes nothing is unknown, and text stays as it is typed") {
  for (const TokenizerType type : {TokenizerType::unigram, TokenizerType::bpe}) {
    const TemporaryDirectory made;
    TokenizerTraining training = demo(type, 450);
    training.byte_fallback = true;
    train_tokenizer(training, made.path());
    check_round_trip(made.path());
    const Tokenizer tokenizer(made.path());
    for (const char* text : {"½ £5 ﬁ", "سلام 😀", "https://example.org/~a?b=%20", "東京…"}) {
      CAPTURE(text);
      const EncodedText encoded = tokenizer.encode_source(text);
      CHECK(encoded.unknown == 0);
      CHECK(tokenizer.decode_target(encoded.ids) == text);
    }
  }
}

TEST_CASE("training is deterministic") {
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  train_tokenizer(demo(TokenizerType::unigram, 150), first.path());
  train_tokenizer(demo(TokenizerType::unigram, 150), second.path());
  for (const char* name : {"source.spm", "vocab.json"}) {
    CHECK(read_file(first.file(name)) == read_file(second.file(name)));
  }
}

TEST_CASE("what cannot be trained is said, and leaves nothing") {
  const TemporaryDirectory made;
  const std::string directory = made.file("none");
  const auto refuse = [&](const TokenizerTraining& training, const std::string& part) {
    check_error([&] { train_tokenizer(training, directory); }, ExitCode::input, part);
    CHECK_FALSE(directory_exists(directory));
  };
  refuse(demo(TokenizerType::word, 2), "vocab_size 2 is out of range; expected 3 to 1048576");
  refuse(demo(TokenizerType::word, -1), "vocab_size -1");
  refuse(demo(TokenizerType::unigram, 10), "vocab_size 10 is too small for a unigram tokenizer");
  TokenizerTraining bytes = demo(TokenizerType::word, 500);
  bytes.byte_fallback = true;
  refuse(bytes, "whole words are not spelled in bytes");
  bytes.type = TokenizerType::unigram;
  bytes.vocab_size = 200;
  refuse(bytes, "vocab_size 200 is too small for a unigram tokenizer");
  TokenizerTraining empty = demo(TokenizerType::bpe, 100, false);
  empty.target_lines = {"", "  "};
  refuse(empty, "target text: no text");
  made.write("file", "");
  check_error([&] { train_tokenizer(demo(TokenizerType::word, 99), made.file("file/in")); },
              ExitCode::system, "cannot make the directory");
}

TEST_CASE("lines are cleaned") {
  const TemporaryDirectory made;
  made.write("text", "a\r\n\nb\tc\n\xFFz");
  CHECK(read_lines(made.file("text"), TextRole::source) ==
        std::vector<std::string>{"a", "", "b c", "\xEF\xBF\xBDz"});
  check_error([&] { read_lines(made.file("no"), TextRole::source); }, ExitCode::system, "no");
}

}  // namespace
}  // namespace attn
