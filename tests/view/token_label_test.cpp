#include <doctest/doctest.h>

#include "view/map_labels.h"

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

}  // namespace
}  // namespace attn
