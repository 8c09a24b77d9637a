// The components of tokenizer.json: each object with a known "type" becomes a component of a
// Pipeline.
#pragma once

#include <fmt/format.h>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "config/key_reader.h"
#include "text/pipeline/pipeline.h"

namespace attn {

/// Each function reads the value of its key in tokenizer.json, which may be null (none) or a
/// Sequence. Throws InputError, beginning with `where` and the path of the component, for an
/// unknown type, key or value.
std::vector<Normalizer> normalizers_of(const Json& value, const std::string& where);
std::vector<PreTokenizer> pre_tokenizers_of(const Json& value, const std::string& where);
std::vector<TokenDecoder> decoders_of(const Json& value, const std::string& where);

/// Reads a post-processor: TemplateProcessing's "single", RobertaProcessing or ByteLevel (adds
/// nothing).
SpecialTokensTemplate post_processor_of(const Json& value, const std::string& where);

/// True if the decoders contain a ByteLevel.
bool has_byte_level(const Json& decoder);

// Shared by the readers of tokenizer.json's components.

/// Creates a component from the keys of its object.
template <typename Component>
using Reader = std::function<Component(KeyReader&)>;
template <typename Component>
using Readers = std::map<std::string, Reader<Component>>;

inline std::string required_text(KeyReader& reader, const std::string& key) {
  const auto text = reader.text(key);
  if (!text || text->empty()) reader.fail(key, "is missing; expected a text");
  return *text;
}

/// Appends the components of a value; a Sequence is flattened.
template <typename Component>
void read_components(const Json& value, const std::string& where, const char* sequence_key,
                     const Readers<Component>& readers, std::vector<Component>& out) {
  if (value.is_null()) return;
  if (!value.is_object()) {
    throw InputError("{} is {}; expected an object with its type, or null", where, describe(value));
  }
  KeyReader reader(value, where);
  const std::string type = required_text(reader, "type");
  if (type == "Sequence") {
    const Json* parts = reader.find(sequence_key);
    if (parts == nullptr || !parts->is_array()) {
      reader.fail(sequence_key, "is missing; expected a list of components");
    }
    reader.refuse_unused();
    for (const Json& part : *parts) {
      read_components(part, where, sequence_key, readers, out);
    }
    return;
  }
  const auto found = readers.find(type);
  if (found == readers.end()) {
    std::vector<std::string> known{"Sequence"};
    for (const auto& [name, read] : readers) known.push_back(name);
    reader.fail("type", fmt::format("{} is not supported; supported are {}", in_quotes(type),
                                    fmt::join(known, ", ")));
  }
  out.push_back(found->second(reader));
  reader.refuse_unused();
}

}  // namespace attn
