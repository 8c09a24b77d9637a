#include "train/training_loop.h"

#include "base/at.h"

namespace attn {

ValidationSettings validation_settings(const TrainerSetup& setup) {
  ValidationSettings settings{setup.decode, setup.languages, to_size(setup.model.max_pair_length()),
                              static_cast<float>(setup.train.label_smoothing)};
  settings.decode.num_beams = to_int(setup.train.validate_beams);
  settings.decode.num_return_sequences = 1;
  return settings;
}

}  // namespace attn
