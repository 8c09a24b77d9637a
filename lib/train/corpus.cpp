#include "train/corpus.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/lines.h"
#include "base/strings/utf8.h"
#include "compute/threads.h"

namespace attn {
namespace {

std::vector<std::string> read_side(std::string_view text, const std::string& path,
                                   std::size_t& controls) {
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) {
    CleanedText cleaned = clean_text(line);
    if (cleaned.invalid_bytes > 0) {
      throw InputError(
          "{}:{}: not valid UTF-8; training text must be: convert it, for example with iconv -f "
          "latin1 -t utf-8",
          printable(path), lines.size() + 1);
    }
    controls += cleaned.controls;
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
  text.source = read_side(source, files.source, text.controls);
  text.target = read_side(target, files.target, text.controls);
  if (text.source.size() != text.target.size()) {
    throw InputError(
        "{} has {} lines and {} has {}; line n of one must be the translation of line n of the "
        "other",
        printable(files.source), text.source.size(), printable(files.target), text.target.size());
  }
  if (text.source.empty()) {
    throw InputError("{} and {} are empty; expected a sentence a line", printable(files.source),
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
  constexpr std::size_t kPairs = 4096;  // cut by the threads at a time
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

}  // namespace attn
