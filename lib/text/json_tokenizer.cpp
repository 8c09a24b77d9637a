// tokenizer.json of a directory, with tokenizer_config.json beside it.
#include "text/pipeline/tokenizer_json.h"
#include "text/tokenizer_kind.h"

namespace attn {

std::unique_ptr<const TokenizerKind> json_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  return pipeline_tokenizer(read_tokenizer_json(read_tokenizer_file(directory, "tokenizer.json"), settings,
                                                directory + "/tokenizer.json"));
}

}  // namespace attn
