#include "train/aligned_text.h"

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "nn/attention/tiled_attention.h"
#include "record/words.h"

namespace attn {
namespace {

void check_link(const std::string& where, const AlignmentLink& link, int source_words,
                int target_words) {
  const bool source = link.source >= source_words;
  if (!source && link.target < target_words) return;
  throw InputError(
      "{}: found the link {}-{}, but the {} has {} words, counted from 0; align the text as it is "
      "in data.train, split at spaces",
      where, link.source, link.target, source ? "source" : "target",
      source ? source_words : target_words);
}

/// Returns the words of one side's tokens; nothing if they are not those of the text.
template <typename Name>
std::vector<Word> words_of(std::span<const int> ids, const std::string& text, Name&& name) {
  std::vector<std::string> tokens;
  for (const int id : ids) tokens.push_back(name(id));
  std::vector<Word> words = text_words(split_words(tokens, text, {tokens.back()}));
  if (std::ssize(words) != count_text_words(text)) words.clear();
  return words;
}

}  // namespace

AlignedText::AlignedText(const ParallelText& text, std::vector<WordLinks> links,
                         const Tokenizer& tokenizer, const std::string& path)
    : source_(text.source), target_(text.target), links_(std::move(links)), tokenizer_(tokenizer) {
  if (links_.size() != source_.size()) {
    throw InputError("{} has {} lines and data.train {}; expected the links of one pair per line",
                     printable(path), links_.size(), source_.size());
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const std::string where = fmt::format("{}:{}", printable(path), i + 1);
    const int source_words = count_text_words(source_[i]);
    const int target_words = count_text_words(target_[i]);
    for (const AlignmentLink& link : links_[i]) {
      check_link(where, link, source_words, target_words);
    }
  }
}

std::vector<TokenLink> AlignedText::links_of_pair(const Corpus& corpus, std::size_t pair) const {
  if (to_index(corpus.source.length(pair)) > kShortRow) return {};
  const std::uint32_t line = corpus.lines[pair];
  const std::vector<Word> source = words_of(corpus.source[pair], source_[line], [&](int id) {
    return std::string(tokenizer_.source_token(id));
  });
  const std::vector<Word> target = words_of(corpus.target[pair], target_[line], [&](int id) {
    return std::string(tokenizer_.target_token(id));
  });
  std::vector<TokenLink> found;
  if (source.empty() || target.empty()) return found;
  for (const AlignmentLink& link : links_[line]) {
    const Word& from = at(source, link.source);
    const Word& to = at(target, link.target);
    for (int t = to.first; t < to.first + to.count; ++t) {
      for (int j = from.first; j < from.first + from.count; ++j) found.push_back({t, j, 1});
    }
  }
  const auto order = [](const TokenLink& link) { return std::pair(link.query, link.key); };
  std::ranges::sort(found, {}, order);
  const auto same = [&](const TokenLink& a, const TokenLink& b) { return order(a) == order(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  for (auto first = found.begin(); first != found.end();) {
    const auto last = std::find_if(
        first, found.end(), [&](const TokenLink& link) { return link.query != first->query; });
    const float share = 1.0F / static_cast<float>(last - first);
    for (; first != last; ++first) first->weight = share;
  }
  return found;
}

std::vector<std::vector<TokenLink>> AlignedText::token_links(const Corpus& corpus) const {
  std::vector<std::vector<TokenLink>> links(corpus.size());
  for (std::size_t i = 0; i < links.size(); ++i) links[i] = links_of_pair(corpus, i);
  return links;
}

}  // namespace attn
