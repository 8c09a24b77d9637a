#include "train/sampled_text.h"

#include <algorithm>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {
namespace {

/// A cut has at most a piece a byte, its language mark and </s>.
std::size_t max_token_count(const NormalizedText& text) {
  return text.text.size() + 2;
}

}  // namespace

SubwordSampledText::SubwordSampledText(const ParallelText& text, const Corpus& best, const Tokenizer& tokenizer,
                         const SubwordSamplingSettings& settings)
    : tokenizer_(tokenizer), settings_(settings), pairs_(best.size()) {
  constexpr Index kCostOfPair = 1 << 16;
  const auto count = std::ssize(pairs_);
  parallel_for(count, count * kCostOfPair, [&](Index i) {
    const auto pair = to_size(i);
    pairs_[pair] = {tokenizer.normalise_source(text.source[best.lines[pair]]),
                    tokenizer.normalise_target(text.target[best.lines[pair]])};
    std::string& mark = pairs_[pair].source.language_tag;
    if (settings.language >= 0 && mark.empty()) mark = tokenizer.source_token(settings.language);
  });
  for (const auto& [source, target] : pairs_) {
    max_side_tokens_ = std::max({max_side_tokens_, max_token_count(source), max_token_count(target)});
  }
  max_side_tokens_ = std::min(max_side_tokens_, settings_.max_tokens);
}

RandomGenerator SubwordSampledText::random(const char* side, std::uint32_t line, std::uint64_t epoch) const {
  return {settings_.seed, side, epoch << 32 | line};
}

Corpus SubwordSampledText::tokenize(const Corpus& best, std::uint64_t epoch) const {
  const double sampling = settings_.sampling;
  const auto cut_one = [&](std::size_t i) {
    RandomGenerator source = random("cut of the source", best.lines[i], epoch);
    RandomGenerator target = random("cut of the target", best.lines[i], epoch);
    return TokenizedPair{tokenizer_.sample_source(pairs_[i].source, sampling, source).ids,
                     tokenizer_.sample_target(pairs_[i].target, sampling, target).ids};
  };
  const auto fits = [&](const std::vector<int>& ids) { return ids.size() <= settings_.max_tokens; };
  Corpus corpus;
  tokenize_pairs(best.size(), cut_one, [&](std::size_t i, const TokenizedPair& pair) {
    corpus.source.add(fits(pair.source) ? pair.source : best.source[i]);
    corpus.target.add(fits(pair.target) ? pair.target : best.target[i]);
  });
  corpus.lines = best.lines;
  return corpus;
}

}  // namespace attn
