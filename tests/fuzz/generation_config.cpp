// Fuzzes generation_config.json, and the `decode` section of an experiment.
#include "base/json.h"
#include "config/decode_config.h"
#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  Json json;
  if (!fuzz::accepts([&] { json = parse_json(bytes, "text"); })) return;
  std::vector<std::string> notes;
  fuzz::accepts([&] {
    const DecodeOptions options =
        decode_options_from_directory(json, "generation_config.json", notes);
    const DecodeConfig config = resolve_decode_options(options, 0, "generation_config.json");
    fuzz::require(config.num_return_sequences <= config.num_beams && config.max_new_tokens >= 0,
                  "a search that can be made");
  });
  for (const std::string& note : notes) fuzz::check_message(note);
  fuzz::accepts([&] { decode_options_from_experiment(json, "x.json"); });
}
