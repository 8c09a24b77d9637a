#include "text/pipeline/text_patterns.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/strings/utf8.h"
#include "text/byte_level_bpe.h"

namespace attn {
namespace {

constexpr std::string_view kBlanks = " {2,}";
constexpr std::string_view kWhiteSpace = "\\s+";
constexpr std::string_view kLineEnd = "\\n";
constexpr std::string_view kWords =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

std::vector<TextSpan> two_blanks_or_more(std::string_view text) {
  std::vector<TextSpan> found;
  for (std::size_t begin = 0; (begin = text.find("  ", begin)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_not_of(' ', begin), text.size());
    found.push_back({begin, end});
    begin = end;
  }
  return found;
}

std::vector<TextSpan> white_space(std::string_view text, bool whole_runs) {
  std::vector<TextSpan> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view rest = text.substr(begin);
    const std::size_t character = decode_code_point(rest).length;
    const std::size_t run = leading_whitespace_bytes(whole_runs ? rest : rest.substr(0, character));
    if (run > 0) found.push_back({begin, begin + run});
    begin += std::max(run, character);
  }
  return found;
}

std::vector<TextSpan> words(std::string_view text) {
  std::vector<TextSpan> found;
  std::size_t begin = 0;
  for (const std::string_view word : byte_level_words(text)) {
    found.push_back({begin, begin + word.size()});
    begin += word.size();
  }
  return found;
}

struct Piece {
  TextSpan span;
  bool match = false;
};

/// Returns the matches and the text between them.
std::vector<Piece> matches_and_gaps(std::string_view text, const TextPattern& pattern,
                                    bool invert) {
  std::vector<Piece> pieces;
  std::size_t done = 0;
  for (const TextSpan match : pattern(text)) {
    if (done < match.begin) pieces.push_back({{done, match.begin}, invert});
    pieces.push_back({match, !invert});
    done = match.end;
  }
  if (done < text.size()) pieces.push_back({{done, text.size()}, invert});
  return pieces;
}

/// Joins each match to the piece before it, unless that was a match itself.
std::vector<Piece> merged(const std::vector<Piece>& pieces, bool contiguous) {
  std::vector<Piece> all;
  bool match_before = false;
  for (const Piece& piece : pieces) {
    const bool joins = contiguous ? piece.match == match_before : piece.match && !match_before;
    if (joins && !all.empty()) {
      all.back().span.begin = std::min(all.back().span.begin, piece.span.begin);
      all.back().span.end = std::max(all.back().span.end, piece.span.end);
    } else {
      all.push_back(piece);
    }
    match_before = piece.match;
  }
  return all;
}

}  // namespace

TextPattern literal_pattern(std::string text) {
  return [literal = std::move(text)](std::string_view in) {
    std::vector<TextSpan> found;
    for (std::size_t at = 0; (at = in.find(literal, at)) != in.npos; at += literal.size()) {
      found.push_back({at, at + literal.size()});
    }
    return found;
  };
}

TextPattern whitespace_pattern() {
  return [](std::string_view text) { return white_space(text, false); };
}

std::optional<TextPattern> supported_regex(std::string_view expression) {
  if (expression == kBlanks) return two_blanks_or_more;
  if (expression == kWords) return words;
  if (expression == kLineEnd) return literal_pattern("\n");
  if (expression == kWhiteSpace) {
    return [](std::string_view text) { return white_space(text, true); };
  }
  return std::nullopt;
}

std::string supported_regex_list() {
  return "\" {2,}\", \"\\s+\", \"\\n\" and GPT-2's words";
}

std::vector<std::string_view> split_text(std::string_view text, const TextPattern& pattern,
                                         SplitBehavior behavior, bool invert) {
  std::vector<Piece> pieces = matches_and_gaps(text, pattern, invert);
  if (behavior == SplitBehavior::removed) {
    std::erase_if(pieces, [](const Piece& piece) { return piece.match; });
  } else if (behavior == SplitBehavior::merged_with_next) {
    std::reverse(pieces.begin(), pieces.end());
    pieces = merged(pieces, false);
    std::reverse(pieces.begin(), pieces.end());
  } else if (behavior != SplitBehavior::isolated) {
    pieces = merged(pieces, behavior == SplitBehavior::contiguous);
  }
  std::vector<std::string_view> parts;
  for (const Piece& piece : pieces) {
    parts.push_back(text.substr(piece.span.begin, piece.span.end - piece.span.begin));
  }
  return parts;
}

std::string replace_matches(std::string_view text, const TextPattern& pattern,
                            std::string_view to) {
  std::string out;
  std::size_t done = 0;
  for (const TextSpan match : pattern(text)) {
    out.append(text, done, match.begin - done).append(to);
    done = match.end;
  }
  return out.append(text, done);
}

namespace {

bool is_white_space(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_WHITE_SPACE) != 0;
}

bool is_word_character(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  const std::uint32_t category = U_GET_GC_MASK(point);
  return u_hasBinaryProperty(point, UCHAR_ALPHABETIC) != 0 ||
         u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL) != 0 ||
         (category & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

/// Returns the last character of a non-empty text.
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && is_continuation_byte(text[begin])) --begin;
  return text.substr(begin);
}

}  // namespace

std::size_t leading_whitespace_bytes(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const CodePoint c = decode_code_point(text.substr(length));
    if (!is_white_space(c.value)) break;
    length += c.length;
  }
  return length;
}

std::size_t trailing_whitespace_bytes(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::string_view last = last_character(text.substr(0, end));
    if (!is_white_space(decode_code_point(last).value)) break;
    end -= last.size();
  }
  return text.size() - end;
}

bool begins_with_word_character(std::string_view text) {
  return !text.empty() && is_word_character(decode_code_point(text).value);
}

bool ends_with_word_character(std::string_view text) {
  return !text.empty() && is_word_character(decode_code_point(last_character(text)).value);
}

}  // namespace attn
