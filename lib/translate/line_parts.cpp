#include "translate/line_parts.h"

#include <algorithm>
#include <numeric>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentence_splitter.h"

namespace attn {
namespace {

/// The joined translations of the first parts of a line.
struct Partial {
  LineTranslation line;
  float sum = 0;  ///< sum of the log-probabilities
};

Partial extended(const Partial& before, const Translation& part, std::size_t rank,
                 const std::string& gap, float length_penalty) {
  Partial after = before;
  // An empty translation is dropped together with the spaces before it.
  if (!after.line.text.empty() && !part.text.empty()) after.line.text += gap;
  after.line.text += part.text;
  after.line.ranks.push_back(rank);
  if (part.ids.empty()) return after;
  const bool first = after.line.tokens == 0;
  after.line.tokens += part.ids.size();
  after.sum += part.score * length_penalty_divisor(std::ssize(part.ids), length_penalty);
  after.line.score =
      first ? part.score : hypothesis_score(after.sum, after.line.tokens, length_penalty);
  return after;
}

bool fits(const PreparedSentence& sentence, std::size_t longest) {
  return sentence.truncated_tokens == 0 && sentence.ids.size() <= longest;
}

/// Returns the length, in tokens, of the longest source that the model has learned or, if that is
/// unknown, the longest that it can process.
std::size_t longest_source(const Translator& translator, const TranslationSettings& settings) {
  const int learned = settings.decode.longest_source;
  return learned > 0 ? to_size(learned) : translator.max_source_tokens();
}

/// Splits the text of a line into parts.
struct LineSplitter {
  const Translator& translator;
  const TranslationSettings& settings;
  const std::string& text;  ///< already cleaned
  Splitting splitting;
  std::string tag = {};  ///< language tag at the start of the line

  PreparedSentence prepare(const SentenceSpan& span, bool first) const {
    const std::string part = text.substr(span.begin, span.end - span.begin);
    return translator.prepare(first ? part : tag + part, settings);
  }

  /// Returns the text's sentences. Joins those inside one pair of brackets or quotation marks while
  /// they fit, and in a document all that fit.
  std::vector<SentenceSpan> spans() const {
    const std::size_t longest = longest_source(translator, settings);
    std::vector<SentenceSpan> spans;
    for (const SentenceSpan& sentence : split_sentences(text)) {
      if ((sentence.inside_brackets || splitting == Splitting::document) && !spans.empty()) {
        SentenceSpan together = spans.back();
        together.end = sentence.end;
        if (fits(prepare(together, spans.size() == 1), longest)) {
          spans.back().end = sentence.end;
          continue;
        }
      }
      spans.push_back(sentence);
    }
    return spans;
  }
};

/// True if the line should be split, if possible; `fits` tells whether it fits as a whole.
bool wants_parts(Splitting splitting, bool fits) {
  switch (splitting) {
    case Splitting::never:
      return false;
    case Splitting::sentences:
      return true;
    case Splitting::automatic:
    case Splitting::document:
      break;
  }
  return !fits;
}

/// Returns the language tag (">>por<<") at the start of the text and a space; nothing if there is
/// none that the tokenizer encodes as one token.
std::string language_tag(const Translator& translator, std::string_view text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : text.npos;
  if (end == text.npos) return "";
  const std::string_view tag = text.substr(0, end + 2);
  const EncodedText alone = translator.tokenizer().encode_source(tag);
  const bool known = alone.ids.size() == 2 && alone.unknown == 0 && alone.pieces.front() == tag;
  return known ? std::string(tag) + " " : "";
}

}  // namespace

std::optional<LinePart> line_part(const PreparedLine& line, std::size_t part, std::size_t number) {
  if (line.parts.size() < 2) return std::nullopt;
  return LinePart{number, part + 1, line.parts.size(), line.text, line.gaps[part]};
}

PreparedLine prepare_line(const Translator& translator, const TranslationSettings& settings,
                          std::string_view bytes, Splitting splitting) {
  PreparedLine line;
  line.parts.push_back(translator.prepare(bytes, settings));
  line.gaps.emplace_back();
  line.text = line.parts.front().text;
  line.tried_to_split =
      wants_parts(splitting, fits(line.parts.front(), longest_source(translator, settings)));
  if (!line.tried_to_split) return line;
  CleanedText cleaned = clean_text(bytes);
  LineSplitter splitter{translator, settings, cleaned.text, splitting};
  const std::size_t start = cleaned.text.find_first_not_of(' ');
  if (start != cleaned.text.npos) {
    splitter.tag = language_tag(translator, std::string_view(cleaned.text).substr(start));
  }
  const std::vector<SentenceSpan> spans = splitter.spans();
  if (spans.size() < 2) return line;
  PreparedLine parted;
  parted.tried_to_split = true;
  std::size_t last = spans.front().begin;
  for (const SentenceSpan& span : spans) {
    parted.gaps.push_back(cleaned.text.substr(last, span.begin - last));
    parted.parts.push_back(splitter.prepare(span, parted.parts.empty()));
    last = span.end;
  }
  parted.parts.front().invalid_bytes = cleaned.invalid_bytes;
  parted.parts.front().controls = cleaned.controls;
  parted.text = std::move(cleaned.text);
  return parted;
}

std::vector<LineTranslation> join_parts(const std::vector<std::vector<Translation>>& parts,
                                        const std::vector<std::string>& gaps,
                                        const DecodeConfig& decode) {
  std::vector<Partial> best(1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<Partial> longer;
    for (const Partial& before : best) {
      for (std::size_t rank = 0; rank < parts[i].size(); ++rank) {
        longer.push_back(extended(before, parts[i][rank], rank, gaps[i], decode.length_penalty));
      }
    }
    std::stable_sort(longer.begin(), longer.end(), [](const Partial& a, const Partial& b) {
      return a.line.score > b.line.score;
    });
    if (longer.size() > to_size(decode.num_return_sequences)) {
      longer.resize(to_size(decode.num_return_sequences));
    }
    best = std::move(longer);
  }
  std::vector<LineTranslation> joined;
  for (Partial& partial : best) joined.push_back(std::move(partial.line));
  return joined;
}

std::vector<PreparedSentence> all_parts(const std::vector<PreparedLine>& lines) {
  std::vector<PreparedSentence> parts;
  for (const PreparedLine& line : lines) {
    parts.insert(parts.end(), line.parts.begin(), line.parts.end());
  }
  return parts;
}

std::optional<std::vector<Translation>> translate_all(
    const Translator& translator, const TranslationSettings& settings,
    std::vector<PreparedSentence> sentences, std::size_t batch,
    const std::function<bool(const TranslationProgress&)>& go_on) {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].ids.size() > sentences[b].ids.size();
  });
  std::size_t all_tokens = 0;
  for (const PreparedSentence& sentence : sentences) all_tokens += sentence.ids.size();
  std::vector<Translation> translations(sentences.size());
  std::size_t tokens = 0;
  for (std::size_t first = 0; first < order.size(); first += batch) {
    const std::size_t last = std::min(first + batch, order.size());
    std::vector<PreparedSentence> part;
    for (std::size_t i = first; i < last; ++i) {
      tokens += sentences[order[i]].ids.size();
      part.push_back(std::move(sentences[order[i]]));
    }
    std::vector<std::vector<Translation>> found = translator.translate({part, settings});
    for (std::size_t i = first; i < last; ++i) {
      translations[order[i]] = std::move(found[i - first].front());
    }
    const double done =
        static_cast<double>(tokens) / static_cast<double>(std::max<std::size_t>(1, all_tokens));
    if (!go_on({last, done})) return std::nullopt;
  }
  return translations;
}

}  // namespace attn
