#include "train/corpus.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/random.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "compute/threads.h"
#include "text/test_set/test_set.h"

namespace attn {
namespace {

const std::string& path_of(const ParallelFiles& files, TextRole role) {
  return role == TextRole::source ? files.source : files.target;
}

/// Returns the lines of a test set's first text of this role, or those of a plain file.
std::vector<std::string> lines_of(std::string_view bytes, const ParallelFiles& files, TextRole role,
                                  std::vector<std::string>& notes) {
  std::optional<RoleTexts> found =
      texts_of_role(bytes, path_of(files, role), role, tables_of_sides(files.source, files.target));
  if (!found) {
    const std::vector<std::string_view> lines = split_lines(bytes);
    return {lines.begin(), lines.end()};
  }
  const bool several = found->texts.size() > 1;
  notes.push_back(found->note + (several ? ", of which the first is used" : ""));
  return std::move(found->texts.front().lines);
}

std::vector<std::string> read_side(std::string_view text, const ParallelFiles& files, TextRole role,
                                   ParallelText& into) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text, files, role, into.notes)) {
    CleanedText cleaned = clean_text(line);
    if (cleaned.invalid_bytes > 0) {
      throw InputError(
          "{}:{}: not valid UTF-8; training text must be: convert it, for example with iconv -f "
          "latin1 -t utf-8",
          printable(path_of(files, role)), lines.size() + 1);
    }
    into.controls += cleaned.controls;
    lines.push_back(std::move(cleaned.text));
  }
  return lines;
}

}  // namespace

ParallelText read_parallel(const ParallelFiles& files) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  constexpr auto kMostBytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(kMost, std::numeric_limits<std::size_t>::max()));
  const std::string source = read_text_file(files.source, kMostBytes);
  return parse_parallel(source, read_text_file(files.target, kMostBytes), files);
}

ParallelText parse_parallel(std::string_view source, std::string_view target,
                            const ParallelFiles& files) {
  ParallelText text;
  text.source = read_side(source, files, TextRole::source, text);
  text.target = read_side(target, files, TextRole::reference, text);
  if (text.source.size() != text.target.size()) {
    throw InputError(
        "{} has {} and {} has {}; line n of one must be the translation of line n of the "
        "other",
        printable(files.source), counted(text.source.size(), "line"), printable(files.target),
        text.target.size());
  }
  if (text.source.empty()) {
    throw InputError("{} and {} are empty; expected one sentence per line", printable(files.source),
                     printable(files.target));
  }
  return text;
}

void TokenizedSentences::add(std::span<const int> ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  offsets_.push_back(ids_.size());
}

void tokenize_pairs(std::size_t count, const std::function<TokenizedPair(std::size_t)>& cut,
                    const std::function<void(std::size_t, const TokenizedPair&)>& take) {
  constexpr std::size_t kPairs = 4096;  // pairs that the threads tokenize at a time
  constexpr Index kCostOfPair = 1 << 16;
  std::vector<TokenizedPair> pairs;
  for (std::size_t first = 0; first < count; first += kPairs) {
    pairs.assign(std::min(kPairs, count - first), {});
    const auto together = std::ssize(pairs);
    parallel_for(together, together * kCostOfPair, [&](Index i) {
      const auto pair = to_size(i);
      pairs[pair] = cut(first + pair);
    });
    for (std::size_t i = 0; i < pairs.size(); ++i) take(first + i, pairs[i]);
  }
}

std::size_t max_side_tokens(const ModelConfig& model, const TrainConfig& train) {
  auto most = static_cast<std::uint64_t>(model.max_pair_length());
  if (train.max_length > 0) most = std::min<std::uint64_t>(most, train.max_length);
  return to_size(std::min<std::uint64_t>(most, train.batch_tokens));
}

Corpus make_corpus(const ParallelText& text, const Tokenizer& tokenizer, std::size_t max_tokens,
                   const LanguageChoice& languages) {
  Corpus corpus;
  const auto cut_texts = [&](std::string_view source, std::string_view target) {
    return TokenizedPair{tokenizer.encode_source(source, languages.source).ids,
                         tokenizer.encode_target(target, languages.target).ids};
  };
  const auto cut = [&](std::size_t line) {
    return cut_texts(text.source[line], text.target[line]);
  };
  const TokenizedPair nothing = cut_texts("", "");
  tokenize_pairs(text.source.size(), cut, [&](std::size_t line, const TokenizedPair& pair) {
    if (pair.source.size() <= nothing.source.size() ||
        pair.target.size() <= nothing.target.size()) {
      ++corpus.empty;
    } else if (pair.source.size() > max_tokens || pair.target.size() > max_tokens) {
      ++corpus.too_long;
    } else {
      corpus.source.add(pair.source);
      corpus.target.add(pair.target);
      corpus.lines.push_back(static_cast<std::uint32_t>(line));
    }
  });
  return corpus;
}

namespace {

/// Sorts by the target's length, then the source's, keeping equal sentences in order, and cuts into
/// batches.
std::vector<BatchPlan> cut(const Corpus& corpus, std::vector<std::uint32_t> order,
                           std::uint64_t batch_tokens) {
  const auto longer = [&](std::uint32_t i) {
    return std::max(corpus.target.length(i), corpus.source.length(i));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (corpus.target.length(a) != corpus.target.length(b)) {
      return corpus.target.length(a) < corpus.target.length(b);
    }
    return corpus.source.length(a) < corpus.source.length(b);
  });
  std::vector<BatchPlan> batches;
  std::size_t longest = 0;
  for (const std::uint32_t i : order) {
    const std::size_t with_this = std::max(longest, longer(i));
    if (batches.empty() || with_this * (batches.back().size() + 1) > batch_tokens) {
      batches.emplace_back();
      longest = longer(i);
    } else {
      longest = with_this;
    }
    batches.back().push_back(i);
  }
  return batches;
}

std::vector<std::uint32_t> all_of(const Corpus& corpus) {
  std::vector<std::uint32_t> order(corpus.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

}  // namespace

std::vector<BatchPlan> plan_epoch(const Corpus& corpus, std::uint64_t batch_tokens,
                                  std::uint64_t seed, std::uint64_t epoch) {
  RandomGenerator random(seed, "epoch", epoch);
  std::vector<std::uint32_t> order = all_of(corpus);
  shuffle(order, random);
  std::vector<BatchPlan> batches = cut(corpus, std::move(order), batch_tokens);
  shuffle(batches, random);
  return batches;
}

std::vector<BatchPlan> plan_by_length(const Corpus& corpus, std::uint64_t batch_tokens) {
  return cut(corpus, all_of(corpus), batch_tokens);
}

namespace {

/// A sentence has at most one token per byte, plus its language token and </s>.
std::size_t max_token_count(const NormalizedText& text) {
  return text.text.size() + 2;
}

}  // namespace

SubwordSampledText::SubwordSampledText(const ParallelText& text, const Corpus& best,
                                       const Tokenizer& tokenizer,
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
    max_side_tokens_ =
        std::max({max_side_tokens_, max_token_count(source), max_token_count(target)});
  }
  max_side_tokens_ = std::min(max_side_tokens_, settings_.max_tokens);
}

RandomGenerator SubwordSampledText::random(const char* side, std::uint32_t line,
                                           std::uint64_t epoch) const {
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
