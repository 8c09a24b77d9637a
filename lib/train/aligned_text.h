// Word alignments of the training text, as links between the tokens of a corpus: what guided
// alignment learns from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nn/attention/guided_alignment.h"
#include "record/head_report.h"
#include "text/tokenizer.h"
#include "train/corpus.h"

namespace attn {

/// The links of one line, between words counted from 0.
using WordLinks = std::vector<AlignmentLink>;

class AlignedText {
 public:
  /// `links` has one entry per line of the text; `path` names their file in messages. The tokenizer
  /// must outlive this object. Throws InputError, with path and line, if there are more or fewer
  /// lines, or if a link names a word that a line does not have.
  AlignedText(const ParallelText& text, std::vector<WordLinks> links, const Tokenizer& tokenizer,
              const std::string& path);

  /// Returns the links of each pair of a corpus of this text. Each token of a word is linked with
  /// each token of the words that it is linked with, with equal weights that add up to 1. Pairs
  /// whose tokens do not form the text's words have no links, and neither have sources longer than
  /// kShortRow tokens, whose attention weights are not kept.
  std::vector<std::vector<TokenLink>> token_links(const Corpus& corpus) const;

 private:
  std::vector<TokenLink> links_of_pair(const Corpus& corpus, std::size_t pair) const;

  std::vector<std::string> source_;
  std::vector<std::string> target_;
  std::vector<WordLinks> links_;
  const Tokenizer& tokenizer_;
};

}  // namespace attn
