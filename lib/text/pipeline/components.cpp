// The components of a pipeline: normalizers (Unicode forms are in unicode_normalizer.cpp),
// pre-tokenizers and decoders.
#include <unicode/uchar.h>

#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/strings/text_boundaries.h"
#include "base/strings/utf8.h"
#include "text/byte_level_bpe.h"
#include "text/pipeline/pipeline.h"
#include "text/pipeline/text_patterns.h"
#include "text/sentencepiece/normalizer.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {
namespace {

constexpr std::size_t kLongCluster = 6;  // in bytes; longer clusters are not looked up

/// Owns the bytes of which Charsmap keeps views.
struct OwnedCharsmap {
  explicit OwnedCharsmap(std::string all) : bytes(std::move(all)), rules(bytes) {}
  std::string bytes;
  Charsmap rules;
};

std::string by_rules(const Charsmap& rules, std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  for (const std::size_t end : text_boundaries(text, TextUnit::character)) {
    const std::string_view cluster = text.substr(begin, end - begin);
    begin = end;
    if (cluster.size() < kLongCluster) {
      if (const auto whole = rules.shortest(cluster)) {
        out += whole->replacement;
        continue;
      }
    }
    for (std::size_t i = 0; i < cluster.size();) {
      const std::string_view rest = cluster.substr(i);
      const std::string_view character = rest.substr(0, decode_code_point(rest).length);
      const auto rule = rules.shortest(character);
      out += rule ? rule->replacement : character;
      i += character.size();
    }
  }
  return out;
}

struct LaterLetters {
  char32_t first;
  char32_t last;
  char32_t small;  ///< lower case of the first one
};

/// Capital letters added after Unicode 15.0, the version of Debian 12's ICU; the library knows
/// them. A newer ICU gives the same results.
constexpr LaterLetters kLaterLetters[] = {
    {0x1C89, 0x1C89, 0x1C8A},    {0xA7CB, 0xA7CB, 0x0264}, {0xA7CC, 0xA7CC, 0xA7CD},
    {0xA7CE, 0xA7CE, 0xA7CF},    {0xA7D2, 0xA7D2, 0xA7D3}, {0xA7D4, 0xA7D4, 0xA7D5},
    {0xA7DA, 0xA7DA, 0xA7DB},    {0xA7DC, 0xA7DC, 0x019B}, {0x10D50, 0x10D65, 0x10D70},
    {0x16EA0, 0x16EB8, 0x16EBB},
};

char32_t small_letter(char32_t c) {
  for (const LaterLetters& range : kLaterLetters) {
    if (c >= range.first && c <= range.last) return range.small + (c - range.first);
  }
  return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
}

/// Joins the parts and splits them again into words; only a word at the start of `text` is at the
/// start.
std::vector<PreToken> words_in(const std::string& text, const std::vector<std::string_view>& parts,
                               bool at_start) {
  std::vector<PreToken> words;
  for (const std::string_view part : parts) {
    words.push_back({std::string(part), at_start && part.data() == text.data()});
  }
  return words;
}

}  // namespace

Normalizer precompiled_normalizer(std::string charsmap) {
  const auto rules = std::make_shared<const OwnedCharsmap>(std::move(charsmap));
  return [rules](const std::string& text) { return by_rules(rules->rules, text); };
}

Normalizer lowercase_normalizer() {
  return [](const std::string& text) {
    constexpr char32_t kDottedI = 0x130;  // the only letter whose lower case is two characters
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint c = decode_code_point(std::string_view(text).substr(i));
      i += c.length;
      if (c.value == kDottedI) {
        out += "i\u0307";
      } else {
        append_code_point(out, small_letter(c.value));
      }
    }
    return out;
  };
}

Normalizer strip_normalizer(bool left, bool right) {
  return [left, right](const std::string& text) {
    std::string_view rest = text;
    if (left) rest.remove_prefix(leading_whitespace_bytes(rest));
    if (right) rest.remove_suffix(trailing_whitespace_bytes(rest));
    return std::string(rest);
  };
}

Normalizer prepend_normalizer(std::string text) {
  return [first = std::move(text)](const std::string& rest) {
    return rest.empty() ? rest : first + rest;
  };
}

Normalizer replace_normalizer(TextPattern pattern, std::string to) {
  return [pattern = std::move(pattern), to = std::move(to)](const std::string& text) {
    return replace_matches(text, pattern, to);
  };
}

PreTokenizer metaspace_pre_tokenizer(std::string mark, PrependScheme scheme, bool split) {
  const TextPattern marks = literal_pattern(mark);
  return [=](const PreToken& word) {
    std::string text = replace_matches(word.text, literal_pattern(" "), mark);
    const bool wanted =
        scheme == PrependScheme::always || (scheme == PrependScheme::first && word.at_start);
    if (wanted && !text.starts_with(mark)) text.insert(0, mark);
    if (!split) return std::vector<PreToken>{{text, word.at_start}};
    return words_in(text, split_text(text, marks, SplitBehavior::merged_with_next), word.at_start);
  };
}

PreTokenizer byte_level_pre_tokenizer(bool add_prefix_space, bool words) {
  return [=](const PreToken& word) {
    std::string text = word.text;
    if (add_prefix_space && !text.starts_with(' ')) text.insert(0, " ");
    std::vector<std::string_view> parts{text};
    if (words) parts = byte_level_words(text);
    std::vector<PreToken> spelled;
    for (const std::string_view part : parts) {
      std::string& characters = spelled.emplace_back().text;
      for (const char byte : part) {
        append_code_point(characters, byte_to_unicode(static_cast<unsigned char>(byte)));
      }
    }
    if (!spelled.empty()) spelled.front().at_start = word.at_start;
    return spelled;
  };
}

PreTokenizer split_pre_tokenizer(TextPattern pattern, SplitBehavior behavior, bool invert) {
  return [=](const PreToken& word) {
    return words_in(word.text, split_text(word.text, pattern, behavior, invert), word.at_start);
  };
}

TokenDecoder metaspace_decoder(std::string mark, PrependScheme scheme) {
  return [=](std::vector<std::string> tokens) {
    const bool drops_first = scheme != PrependScheme::never;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], mark, i == 0 && drops_first ? "" : " ");
    }
    return tokens;
  };
}

TokenDecoder byte_level_decoder() {
  return [](const std::vector<std::string>& tokens) {
    std::string bytes;
    for (const std::string& token : tokens) bytes += bytes_of_token(token).value_or(token);
    // A model may split a character.
    return std::vector<std::string>{valid_text(bytes)};
  };
}

TokenDecoder byte_fallback_decoder() {
  return [](const std::vector<std::string>& tokens) {
    std::vector<std::string> out;
    std::string bytes;
    const auto end_bytes = [&] {
      if (is_valid_utf8(bytes)) {
        if (!bytes.empty()) out.push_back(bytes);
      } else {
        out.insert(out.end(), bytes.size(), "\ufffd");
      }
      bytes.clear();
    };
    for (const std::string& token : tokens) {
      const int byte = byte_value(std::string_view(token));
      if (byte < kByteValues) {
        bytes += static_cast<char>(byte);
      } else {
        end_bytes();
        out.push_back(token);
      }
    }
    end_bytes();
    return out;
  };
}

TokenDecoder replace_decoder(TextPattern pattern, std::string to) {
  return [=](std::vector<std::string> tokens) {
    for (std::string& token : tokens) token = replace_matches(token, pattern, to);
    return tokens;
  };
}

TokenDecoder fuse_decoder() {
  return [](const std::vector<std::string>& tokens) {
    std::string all;
    for (const std::string& token : tokens) all += token;
    return std::vector<std::string>{all};
  };
}

TokenDecoder strip_decoder(std::string content, int start, int stop) {
  return [=](std::vector<std::string> tokens) {
    for (std::string& token : tokens) {
      for (int i = 0; i < start && token.starts_with(content); ++i) token.erase(0, content.size());
      for (int i = 0; i < stop && token.ends_with(content); ++i) {
        token.resize(token.size() - content.size());
      }
    }
    return tokens;
  };
}

}  // namespace attn
