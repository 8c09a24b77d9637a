// Fuzzes tokenizer_config.json, special_tokens_map.json and added_tokens.json, which are the parts
// of the input.
#include "fuzz.h"
#include "text/tokenizer_settings.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  TokenizerSettingsFiles texts;
  for (auto* text : {&texts.settings, &texts.older, &texts.added_tokens}) {
    if (!rest.empty()) *text = std::string(fuzz::take_part(rest));
  }
  fuzz::accepts([&] { parse_tokenizer_settings(texts, "model"); });
}
