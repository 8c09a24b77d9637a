#include "train/sampled_text.h"

#include <algorithm>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {
namespace {

/// A cut has at most a piece a byte, its language mark and </s>.
std::size_t most_pieces(const NormalisedText& text) {
  return text.text.size() + 2;
}

}  // namespace

SampledText::SampledText(const ParallelText& text, const Corpus& best, const Tokenizer& tokenizer,
                         const SamplingSettings& settings)
    : tokenizer_(tokenizer), settings_(settings), pairs_(best.size()) {
  constexpr Index kCostOfPair = 1 << 16;
  const auto count = std::ssize(pairs_);
  parallel_for(count, count * kCostOfPair, [&](Index i) {
    const auto pair = to_size(i);
    pairs_[pair] = {tokenizer.normalise_source(text.source[best.lines[pair]]),
                    tokenizer.normalise_target(text.target[best.lines[pair]])};
    std::string& mark = pairs_[pair].source.language_mark;
    if (settings.language >= 0 && mark.empty()) mark = tokenizer.source_piece(settings.language);
  });
  for (const auto& [source, target] : pairs_) {
    most_tokens_ = std::max({most_tokens_, most_pieces(source), most_pieces(target)});
  }
  most_tokens_ = std::min(most_tokens_, settings_.max_tokens);
}

RandomNumbers SampledText::random(const char* side, std::uint32_t line, std::uint64_t epoch) const {
  return {settings_.seed, side, epoch << 32 | line};
}

Corpus SampledText::cut(const Corpus& best, std::uint64_t epoch) const {
  const double sampling = settings_.sampling;
  const auto cut_one = [&](std::size_t i) {
    RandomNumbers source = random("cut of the source", best.lines[i], epoch);
    RandomNumbers target = random("cut of the target", best.lines[i], epoch);
    return PairOfIds{tokenizer_.sample_source(pairs_[i].source, sampling, source).ids,
                     tokenizer_.sample_target(pairs_[i].target, sampling, target).ids};
  };
  const auto fits = [&](const std::vector<int>& ids) { return ids.size() <= settings_.max_tokens; };
  Corpus corpus;
  cut_pairs(best.size(), cut_one, [&](std::size_t i, const PairOfIds& pair) {
    corpus.source.add(fits(pair.source) ? pair.source : best.source[i]);
    corpus.target.add(fits(pair.target) ? pair.target : best.target[i]);
  });
  corpus.lines = best.lines;
  return corpus;
}

}  // namespace attn
