// Fuzzes experiment files with --set: the first part of the input is the file, and every other
// part is an override.
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
  // The config that a run saves beside its model must be an experiment file, too, unless an
  // override is not UTF-8.
  for (const std::string& override : overrides) {
    if (!is_valid_utf8(override)) return;
  }
  const std::string kept = config.document.dump();
  fuzz::require(parse_experiment(kept, "/run/x.json", {}).document == config.document,
                "an experiment is read as it was kept");
}
