#include "analysis/line_alignment.h"

#include "record/words.h"

namespace attn {
namespace {

/// Words before the next part, after one of `text` has joined those before it.
int words_after(int words, const std::string& text, bool blanks_before) {
  const int more = count_text_words(text);
  // Without blanks between, a part's first word goes on with the last one.
  return words > 0 && more > 0 && !blanks_before ? words + more - 1 : words + more;
}

int first_word(int words, const std::string& text, bool blanks_before) {
  return words_after(words, text, blanks_before) - count_text_words(text);
}

}  // namespace

WordAlignment line_alignment(std::span<const AttentionRecord> parts,
                             std::span<const std::size_t> ranks) {
  WordAlignment line;
  int source_words = 0, target_words = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const HypothesisRecord& hypothesis = parts[i].hypotheses[ranks[i]];
    const bool blanks = parts[i].part.has_value() && !parts[i].part->gap.empty();
    const int source = first_word(source_words, parts[i].source_text, blanks);
    const int target = first_word(target_words, hypothesis.text, blanks);
    if (hypothesis.alignment) {
      line.from = hypothesis.alignment->from;
      for (const AlignmentLink& link : hypothesis.alignment->links) {
        line.links.push_back({link.source + source, link.target + target, link.weight});
      }
    }
    source_words = words_after(source_words, parts[i].source_text, blanks);
    target_words = words_after(target_words, hypothesis.text, blanks);
  }
  return line;
}

}  // namespace attn
