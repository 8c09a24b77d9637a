// Fuzzes config.json of a model directory: a config that is written must be the same when read
// again.
#include "config/model_config.h"

#include "base/json.h"
#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  ModelConfig config;
  std::vector<std::string> unknown, notes;
  const bool read = fuzz::accepts([&] {
    config = model_config_from_directory(parse_json(bytes, "config.json"), "config.json", unknown,
                                         notes);
  });
  for (const std::string& note : notes) fuzz::check_message(note);
  if (!read) return;
  const Json written = to_config_json(config);
  const ModelConfig again = model_config_from_directory(written, "written", unknown, notes);
  fuzz::require(to_config_json(again) == written, "a config is read as it was written");
  count_parameters(config);
}
