#include "service/training/untrained_model.h"

#include <memory>
#include <string>
#include <utility>

#include "base/files/temporary_path.h"
#include "config/experiment.h"
#include "service/training/experiment_setup.h"

namespace attn {
namespace {

ReadyModel make_untrained_model(const ModelChoice& choice, const std::string& config,
                                const ExperimentConfig& experiment) {
  check_shape(experiment.model, config, choice.asked_changes(true));
  check_paths_exist(experiment, "tokenizer.");
  std::shared_ptr<TemporaryPath> directory = TemporaryPath::make_working_directory();
  train_tokenizer_for(experiment, directory->path());
  ReadyModel ready = open_model(choice, directory->path());
  ready.temporary = std::move(directory);
  return ready;
}

}  // namespace

ReadyModel open_or_make_model(const ModelChoice& choice) {
  choice.check_one_source();
  const std::string config = chosen_config(choice);
  if (config.empty()) return open_model(choice);
  const ExperimentConfig experiment = read_with_overrides(config, choice.all_overrides());
  if (!experiment.tokenizer.model.empty()) return open_model(choice);
  return make_untrained_model(choice, config, experiment);
}

ReadyEnsemble open_or_make_models(const ModelChoice& choice) {
  if (!choice.models.empty()) return open_models(choice);
  ReadyEnsemble ready;
  ready.maps_of = choice.maps_index();
  ready.models.push_back(open_or_make_model(choice));
  return ready;
}

}  // namespace attn
