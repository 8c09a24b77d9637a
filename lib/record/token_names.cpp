#include "record/token_names.h"

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "config/attention_site.h"
#include "base/strings/excerpt.h"
#include "record/words.h"

namespace attn {
namespace {

constexpr std::size_t kMostListed = 24;

/// Words as the text has them: pieces that the vocabulary does not have spell nothing.
std::vector<Word> with_text_spelling(std::vector<Word> words, std::string_view text, bool fits_text) {
  if (!fits_text) return words;
  for (Word& word : words) {
    const bool unmatched = word.text.find("<unk>") != std::string::npos;
    if (unmatched && word.type == WordType::word)
      word.text = strip_punctuation(text_word(text, word.text_index));
  }
  return words;
}

TokenAxis axis_of(const AttentionRecord& record, std::size_t hypothesis, bool source) {
  const RecordWords words = words_in_record(record, hypothesis);
  if (source) return {"source", with_text_spelling(words.source, record.source_text, words.fits_text)};
  if (hypothesis >= record.hypotheses.size()) return {"translation", {}};
  return {"translation",
          with_text_spelling(words.target, record.hypotheses[hypothesis].text, words.fits_text)};
}

/// "0 Die, 1 Gruppe, 2 ging"
std::string listed(const std::vector<Word>& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kMostListed); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", words[i].first, excerpt(words[i].text));
  }
  return words.size() > kMostListed ? text + ", …" : text;
}

}  // namespace

TokenAxis query_axis(const AttentionRecord& record, AttentionSite kind, std::size_t hypothesis) {
  return axis_of(record, hypothesis, kind == AttentionSite::encoder_self);
}

TokenAxis key_axis(const AttentionRecord& record, AttentionSite kind, std::size_t hypothesis) {
  TokenAxis axis = axis_of(record, hypothesis, kind != AttentionSite::decoder_self);
  if (kind != AttentionSite::decoder_self || hypothesis >= record.hypotheses.size()) return axis;
  const TokenSequence& input = record.hypotheses[hypothesis].decoder_input;
  axis.words = by_reading_step(axis.words, to_int(input.tokens.size()));
  if (!input.tokens.empty()) {
    axis.words.insert(axis.words.begin(), {input.tokens.front(), 0, 1, WordType::special, -1});
  }
  return axis;
}

bool is_index(std::string_view written) {
  return !written.empty() && written.find_first_not_of("0123456789") == written.npos;
}

int find_token(std::string_view written, const TokenAxis& axis) {
  if (is_index(written)) {
    const std::optional<int> index = parse_index(written);
    if (index) return *index;
    throw UsageError("{}: expected a whole number from 0, in plain decimals", excerpt(written));
  }
  std::vector<int> places;
  for (const Word& word : axis.words) {
    if (word.text == written) places.push_back(word.first);
  }
  if (places.size() == 1) return places.front();
  if (places.empty()) {
    throw UsageError("{}: no word of the {} reads so; there are {}", excerpt(written), axis.side,
                     axis.words.empty() ? "none" : listed(axis.words));
  }
  throw UsageError("{}: the {} has this word at {}; give one of these numbers", excerpt(written),
                   axis.side, fmt::format("{}", fmt::join(places, ", ")));
}

}  // namespace attn
