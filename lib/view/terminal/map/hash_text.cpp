#include "view/terminal/map/hash_text.h"

#include <string_view>
#include <unordered_map>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "record/best_keys.h"
#include "view/terminal/text_line.h"

namespace attn {
namespace {

/// Words behind `start`, with further lines below the first word.
std::string hanging(const std::string& start, const std::vector<std::string>& words, int width) {
  const int indent = display_width(start);
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + truncate_to_width(word, width - indent);
  }
  return start + wrap_words(text, width - indent, indent);
}

/// The tokens of a sentence, with their places where there are several alike.
std::vector<std::string> told_apart(std::span<const std::string> labels) {
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& label : labels) ++counts[label];
  std::vector<std::string> names(labels.begin(), labels.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[labels[i]] > 1) names[i] += fmt::format("({})", i);
  }
  return names;
}

/// The tokens of a round: "[1]" before those of a bucket, "|" behind a chunk.
std::vector<std::string> round_words(const LshBuckets& order, std::size_t round,
                                     std::span<const std::string> labels) {
  const std::vector<std::int32_t>& tokens = order.order[round];
  std::vector<std::string> words;
  std::int32_t before = -1;
  for (std::size_t place = 0; place < tokens.size(); ++place) {
    const std::int32_t token = tokens[place];
    if (place > 0 && place % to_size(order.chunk) == 0) words.emplace_back("|");
    const std::int32_t bucket = at(order.buckets[round], token);
    if (bucket != before) words.push_back(fmt::format("[{}]", bucket));
    before = bucket;
    words.push_back(labels[to_size(token)]);
  }
  return words;
}

}  // namespace

std::string lsh_bucket_text(const AttentionMaps& maps, const HeadName& head,
                      std::span<const std::string> labels, int width) {
  const std::vector<std::string> names = told_apart(labels);
  const RecordedLshHead* hashed = maps.hashed(*head.layer, *head.head);
  const LshBuckets& order = hashed->order;
  if (order.buckets.empty()) {
    return wrap_words(
        fmt::format("{}: the sentence is one chunk, in which all have met.", to_string(head)),
        width);
  }
  std::string out = wrap_words(
      fmt::format("{}: tokens by [bucket] in each round; | ends a chunk of {}, which sees itself "
                  "and the one before it.",
                  to_string(head), order.chunk),
      width);
  for (std::size_t round = 0; round < order.order.size(); ++round) {
    out += hanging(fmt::format("  round {} ", round), round_words(order, round, names), width);
  }
  const LshRecall found = lsh_recall(maps, *head.layer, *head.head);
  out +=
      "  " + wrap_words(fmt::format("{} of {} rows met their best key; of full attention's weights on "
                                 "others {:.2f} lie on keys that were met.",
                                 found.found_count(), found.of, found.mass),
                     width - 2, 2);
  return out;
}

}  // namespace attn
