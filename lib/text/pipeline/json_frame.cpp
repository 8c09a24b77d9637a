// The post-processor of tokenizer.json: the ids around a text.
#include <optional>

#include "text/pipeline/component_readers.h"
#include "text/pipeline/json_components.h"

namespace attn {
namespace {

/// ["</s>", 2]
int pair_id(KeyReader& reader, const char* key) {
  const Json* pair = reader.find(key);
  const bool right = pair != nullptr && pair->is_array() && pair->size() == 2 &&
                     (*pair)[0].is_string() && as_int((*pair)[1]);
  if (!right) reader.fail(key, "is no pair of a token and its id");
  return *as_int((*pair)[1]);
}

/// The ids of a special token of a template, by its name there.
std::vector<int> template_ids(const Json& tokens, const std::string& name,
                              const KeyReader& reader) {
  std::vector<int> ids;
  const auto token = tokens.find(name);
  if (token != tokens.end() && token->is_object() && token->contains("ids") &&
      (*token)["ids"].is_array()) {
    for (const Json& id : (*token)["ids"]) {
      if (!as_int(id)) reader.fail("special_tokens", "has an id that is no integer");
      ids.push_back(*as_int(id));
    }
  }
  if (ids.empty()) {
    reader.fail("special_tokens", fmt::format("has no ids of {}", in_quotes(name)));
  }
  return ids;
}

/// [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, …]
SpecialTokensTemplate template_of(KeyReader& reader) {
  const Json* parts = reader.find("single");
  const Json* tokens = reader.find("special_tokens");
  reader.find("pair");  // of two texts, which nobody asks for
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
