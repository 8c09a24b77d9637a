// A corpus of given lengths, whose ids show the pair that they belong to.
#pragma once

#include <utility>
#include <vector>

#include "base/at.h"
#include "train/corpus.h"

namespace attn::test {

/// Returns a corpus in which pair i has lengths[i].first source and lengths[i].second target ids,
/// all of them i.
inline Corpus corpus_of(const std::vector<std::pair<int, int>>& lengths) {
  Corpus corpus;
  int id = 0;
  for (const auto& [source, target] : lengths) {
    corpus.source.add(std::vector<int>(to_size(source), id));
    corpus.target.add(std::vector<int>(to_size(target), id));
    ++id;
  }
  return corpus;
}

/// Returns `size` pairs of many lengths from 2 to 30.
inline Corpus mixed_corpus(int size) {
  std::vector<std::pair<int, int>> lengths;
  for (int i = 0; i < size; ++i) lengths.emplace_back(2 + (i * 7) % 23, 2 + (i * 11) % 29);
  return corpus_of(lengths);
}

}  // namespace attn::test
