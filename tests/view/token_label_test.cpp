#include <doctest/doctest.h>

#include "base/utf8.h"
#include "view/token_label.h"

namespace attn {
namespace {

using Labels = std::vector<std::string>;

TEST_CASE("labels: whole words lose SentencePiece's mark, continuations are marked instead") {
  CHECK(token_labels({"▁The", "▁re", "sea", "rchers", ".", "</s>"}) ==
        Labels{"The", "re", "‿sea", "‿rchers", "‿.", "</s>"});
}

TEST_CASE("labels: special symbols stay, and no word goes on over one") {
  CHECK(token_labels({">>de<<", "Haus", "▁tür", "<unk>", "en", "</s>"}) ==
        Labels{">>de<<", "Haus", "tür", "<unk>", "en", "</s>"});
  CHECK(token_labels({"<pad>", "▁Die", "</s>"}) == Labels{"<pad>", "Die", "</s>"});
}

TEST_CASE("labels: a vocabulary without word marks gets none") {
  CHECK(token_labels({"The", "group", "</s>"}) == Labels{"The", "group", "</s>"});
}

TEST_CASE("labels: the mark alone, empty and blank tokens can be seen") {
  CHECK(token_labels({"▁a", "▁", "▁▁b", "▁ "}) == Labels{"a", "▁", "▁b", "\" \""});
  CHECK(token_labels({"", "  "}) == Labels{"\"\"", "\"  \""});
}

TEST_CASE("labels: controls are spelled out") {
  CHECK(token_labels({"▁\x1b[31m"}) == Labels{"\\u{1b}[31m"});
}

TEST_CASE("stack_label: lines of the width, the last one cut with an ellipsis") {
  CHECK(stack_label("home", 4, 3) == Labels{"home"});
  CHECK(stack_label("homes", 4, 3) == Labels{"home", "s"});
  CHECK(stack_label("abcdefgh", 4, 3) == Labels{"abcd", "efgh"});
  CHECK(stack_label("abcdefghijkl", 4, 3) == Labels{"abcd", "efgh", "ijkl"});
  CHECK(stack_label("abcdefghijklm", 4, 3) == Labels{"abcd", "efgh", "ijk…"});
  CHECK(stack_label("abcdef", 4, 1) == Labels{"abc…"});
  CHECK(stack_label("", 4, 3) == Labels{""});
}

TEST_CASE("stack_label: a wide character is never split over the edge") {
  CHECK(stack_label("漢字かな", 5, 3) == Labels{"漢字", "かな"});
  for (const std::string& line : stack_label("a漢b字c漢d字e漢", 4, 3)) {
    CHECK(display_width(line) <= 4);
  }
}

}  // namespace
}  // namespace attn
