#include "text/pipeline/json_components.h"

#include <map>
#include <optional>
#include <utility>

#include "base/strings/base64.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "text/sentencepiece/normalizer.h"

namespace attn {
namespace {

constexpr int kMostStripped = 1000;

/// Reads {"String": "…"} or {"Regex": "…"}.
TextPattern pattern_of(KeyReader& reader) {
  const Json* value = reader.find("pattern");
  const bool object = value != nullptr && value->is_object() && value->size() == 1;
  const bool literal = object && value->contains("String");
  if (!object || (!literal && !value->contains("Regex"))) {
    reader.fail("pattern", "is missing; expected {\"String\": …} or {\"Regex\": …}");
  }
  const Json& text = literal ? (*value)["String"] : (*value)["Regex"];
  if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
    reader.fail_type("pattern", text, "a text");
  }
  if (literal) return literal_pattern(text.get<std::string>());
  const std::optional<TextPattern> known = supported_regex(text.get<std::string>());
  if (!known) {
    reader.fail("pattern", fmt::format("{} is an unsupported regular expression; supported are {}",
                                       describe(text), supported_regex_list()));
  }
  return *known;
}

Normalizer precompiled_of(KeyReader& reader) {
  const std::string text = required_text(reader, "precompiled_charsmap");
  std::optional<std::string> charsmap = decode_base64(text);
  if (!charsmap) reader.fail("precompiled_charsmap", "is no base64");
  check_charsmap(*charsmap, 0, reader.where() + ": precompiled_charsmap");
  return precompiled_normalizer(std::move(*charsmap));
}

const Readers<Normalizer>& normalizer_readers() {
  static const Readers<Normalizer> readers{
      {"Precompiled", precompiled_of},
      {"Replace",
       [](KeyReader& r) {
         return replace_normalizer(pattern_of(r), r.text("content").value_or(""));
       }},
      {"Prepend", [](KeyReader& r) { return prepend_normalizer(required_text(r, "prepend")); }},
      {"Strip",
       [](KeyReader& r) {
         return strip_normalizer(r.boolean("strip_left").value_or(true),
                                 r.boolean("strip_right").value_or(true));
       }},
      {"Lowercase", [](KeyReader&) { return lowercase_normalizer(); }},
      {"NFC", [](KeyReader&) { return unicode_normalizer(UnicodeForm::nfc); }},
      {"NFD", [](KeyReader&) { return unicode_normalizer(UnicodeForm::nfd); }},
      {"NFKC", [](KeyReader&) { return unicode_normalizer(UnicodeForm::nfkc); }},
      {"NFKD", [](KeyReader&) { return unicode_normalizer(UnicodeForm::nfkd); }},
  };
  return readers;
}

/// The keys of Metaspace: its mark, where it is added (add_prefix_space in older files), and
/// whether it splits.
struct MetaspaceKeys {
  explicit MetaspaceKeys(KeyReader& reader) : mark(required_text(reader, "replacement")) {
    const bool older = reader.boolean("add_prefix_space").value_or(true);
    const std::string name = reader.text("prepend_scheme").value_or(older ? "always" : "never");
    split = reader.boolean("split").value_or(true);
    if (name == "first") scheme = PrependScheme::first;
    if (name == "never") scheme = PrependScheme::never;
    if (scheme == PrependScheme::always && name != "always") {
      reader.fail("prepend_scheme",
                  fmt::format("{} is not supported; supported are always, first and never",
                              in_quotes(name)));
    }
    reader.text("str_rep");  // the same character, in older files
  }
  std::string mark;
  PrependScheme scheme = PrependScheme::always;
  bool split = true;
};

PreTokenizer split_of(KeyReader& reader) {
  static const std::map<std::string, SplitBehavior> behaviors{
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  TextPattern pattern = pattern_of(reader);
  const std::string name = required_text(reader, "behavior");
  const auto behavior = behaviors.find(name);
  if (behavior == behaviors.end()) {
    reader.fail("behavior", fmt::format("{} is not supported; supported are Removed, Isolated, "
                                        "MergedWithPrevious, MergedWithNext and Contiguous",
                                        in_quotes(name)));
  }
  return split_pre_tokenizer(std::move(pattern), behavior->second,
                             reader.boolean("invert").value_or(false));
}

PreTokenizer byte_level_of(KeyReader& reader) {
  reader.boolean("trim_offsets");  // concerns text offsets, which are not used here
  const bool prefix = reader.boolean("add_prefix_space").value_or(true);
  return byte_level_pre_tokenizer(prefix, reader.boolean("use_regex").value_or(true));
}

const Readers<PreTokenizer>& pre_tokenizer_readers() {
  static const Readers<PreTokenizer> readers{
      {"ByteLevel", byte_level_of},
      {"Metaspace",
       [](KeyReader& r) {
         const MetaspaceKeys keys(r);
         return metaspace_pre_tokenizer(keys.mark, keys.scheme, keys.split);
       }},
      {"Split", split_of},
      {"WhitespaceSplit",
       [](KeyReader&) {
         return split_pre_tokenizer(whitespace_pattern(), SplitBehavior::removed, false);
       }},
  };
  return readers;
}

TokenDecoder strip_of(KeyReader& reader) {
  const std::string content = required_text(reader, "content");
  const auto count = [&](const char* key) {
    const int number = reader.integer(key).value_or(0);
    if (number < 0 || number > kMostStripped) {
      reader.fail(key, fmt::format("is {}; expected 0 to {}", number, kMostStripped));
    }
    return number;
  };
  const int start = count("start");
  return strip_decoder(content, start, count("stop"));
}

const Readers<TokenDecoder>& decoder_readers() {
  static const Readers<TokenDecoder> readers{
      {"ByteFallback", [](KeyReader&) { return byte_fallback_decoder(); }},
      {"ByteLevel",
       [](KeyReader& r) {
         for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) r.boolean(key);
         return byte_level_decoder();
       }},
      {"Fuse", [](KeyReader&) { return fuse_decoder(); }},
      {"Metaspace",
       [](KeyReader& r) {
         const MetaspaceKeys keys(r);
         return metaspace_decoder(keys.mark, keys.scheme);
       }},
      {"Replace",
       [](KeyReader& r) { return replace_decoder(pattern_of(r), r.text("content").value_or("")); }},
      {"Strip", strip_of},
  };
  return readers;
}

}  // namespace

std::vector<Normalizer> normalizers_of(const Json& value, const std::string& where) {
  std::vector<Normalizer> found;
  read_components(value, where + ": normalizer", "normalizers", normalizer_readers(), found);
  return found;
}

std::vector<PreTokenizer> pre_tokenizers_of(const Json& value, const std::string& where) {
  std::vector<PreTokenizer> found;
  read_components(value, where + ": pre_tokenizer", "pretokenizers", pre_tokenizer_readers(),
                  found);
  return found;
}

std::vector<TokenDecoder> decoders_of(const Json& value, const std::string& where) {
  std::vector<TokenDecoder> found;
  read_components(value, where + ": decoder", "decoders", decoder_readers(), found);
  return found;
}

bool has_byte_level(const Json& decoder) {
  if (!decoder.is_object()) return false;
  if (decoder.contains("type") && decoder["type"] == "ByteLevel") return true;
  const auto parts = decoder.find("decoders");
  if (parts == decoder.end() || !parts->is_array()) return false;
  for (const Json& part : *parts) {
    if (has_byte_level(part)) return true;
  }
  return false;
}

// The post-processor of tokenizer.json: special tokens around a text.
namespace {

/// Reads the id of a pair ["</s>", 2].
int pair_id(KeyReader& reader, const char* key) {
  const Json* pair = reader.find(key);
  const bool right = pair != nullptr && pair->is_array() && pair->size() == 2 &&
                     (*pair)[0].is_string() && as_int((*pair)[1]);
  if (!right) reader.fail(key, "is not a pair of a token and its id");
  return *as_int((*pair)[1]);
}

/// Returns the ids of a special token from its name in the template.
std::vector<int> template_ids(const Json& tokens, const std::string& name,
                              const KeyReader& reader) {
  std::vector<int> ids;
  const auto token = tokens.find(name);
  if (token != tokens.end() && token->is_object() && token->contains("ids") &&
      (*token)["ids"].is_array()) {
    for (const Json& id : (*token)["ids"]) {
      if (!as_int(id)) reader.fail("special_tokens", "has an id that is not an integer");
      ids.push_back(*as_int(id));
    }
  }
  if (ids.empty()) {
    reader.fail("special_tokens", fmt::format("has no ids of {}", in_quotes(name)));
  }
  return ids;
}

/// Reads [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, …].
SpecialTokensTemplate template_of(KeyReader& reader) {
  const Json* parts = reader.find("single");
  const Json* tokens = reader.find("special_tokens");
  reader.find("pair");  // for pairs of texts, which are not used here
  if (parts == nullptr || !parts->is_array() || tokens == nullptr || !tokens->is_object()) {
    reader.fail("single", "is missing; expected it and special_tokens");
  }
  SpecialTokensTemplate frame;
  bool after = false;
  for (const Json& part : *parts) {
    const bool object = part.is_object() && part.size() == 1 && part.begin()->is_object();
    const std::string kind = object ? part.begin().key() : "";
    const bool named = object && part.begin()->contains("id") && (*part.begin())["id"].is_string();
    const std::string id = named ? (*part.begin())["id"].get<std::string>() : "";
    if (kind == "Sequence" && id == "A" && !after) {
      after = true;
    } else if (kind == "SpecialToken") {
      for (const int one : template_ids(*tokens, id, reader)) {
        (after ? frame.after : frame.before).push_back(one);
      }
    } else {
      reader.fail("single", fmt::format("has {}; expected SpecialToken, and Sequence A once",
                                        describe(part)));
    }
  }
  if (!after) reader.fail("single", "has no Sequence A, which is the text");
  return frame;
}

SpecialTokensTemplate roberta_of(KeyReader& reader) {
  for (const char* key : {"add_prefix_space", "trim_offsets"}) reader.boolean(key);
  return {{pair_id(reader, "cls")}, {pair_id(reader, "sep")}};
}

const Readers<SpecialTokensTemplate>& post_processor_readers() {
  static const Readers<SpecialTokensTemplate> readers{
      {"ByteLevel",
       [](KeyReader& r) {
         for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) r.boolean(key);
         return SpecialTokensTemplate{};
       }},
      {"RobertaProcessing", roberta_of},
      {"TemplateProcessing", template_of},
  };
  return readers;
}

}  // namespace

SpecialTokensTemplate post_processor_of(const Json& value, const std::string& where) {
  std::vector<SpecialTokensTemplate> found;
  read_components(value, where + ": post_processor", "processors", post_processor_readers(), found);
  SpecialTokensTemplate frame;
  for (SpecialTokensTemplate& one : found) {
    frame.before.insert(frame.before.begin(), one.before.begin(), one.before.end());
    frame.after.insert(frame.after.end(), one.after.begin(), one.after.end());
  }
  return frame;
}

}  // namespace attn
