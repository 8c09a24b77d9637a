// tokenizer_config.json and special_tokens_map.json: the two parts of the input.
#include "fuzz.h"
#include "text/tokenizer_settings.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  const std::string_view text = fuzz::take_part(rest);
  fuzz::accepts([&] { parse_tokenizer_settings(text, std::nullopt, "model"); });
  if (rest.empty()) return;
  fuzz::accepts([&] { parse_tokenizer_settings(text, rest, "model"); });
}
