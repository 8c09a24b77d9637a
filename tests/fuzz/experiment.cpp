// Experiment files with --set: the first part of the input is the file, every other an override.
#include "config/experiment.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  const std::string_view text = fuzz::take_part(rest);
  std::vector<std::string> overrides;
  while (!rest.empty()) overrides.emplace_back(fuzz::take_part(rest));
  ExperimentConfig config;
  if (!fuzz::accepts([&] { config = parse_experiment(text, "/run/x.json", overrides); })) return;
  // What a run keeps beside its model is an experiment file, too, unless an override is no UTF-8.
  for (const std::string& override : overrides) {
    if (!is_valid_utf8(override)) return;
  }
  const std::string kept = config.document.dump();
  fuzz::require(parse_experiment(kept, "/run/x.json", {}).document == config.document,
                "an experiment is read as it was kept");
}
