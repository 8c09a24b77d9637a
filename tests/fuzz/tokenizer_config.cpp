// tokenizer_config.json and special_tokens_map.json: the two parts of the input.
#include "fuzz.h"
#include "text/tokenizer_settings.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  const std::string_view text = fuzz::take_part(rest);
  const std::optional<std::string_view> map =
      rest.empty() ? std::nullopt : std::optional<std::string_view>(rest);
  fuzz::accepts([&] { parse_tokenizer_settings(text, map, "model"); });
}
