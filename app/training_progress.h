// What a person sees of a training run while it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "progress.h"

namespace attn {

struct ProgressFigures {
  std::uint64_t epoch = 1;
  std::uint64_t update = 0;
  std::optional<std::uint64_t> updates;  ///< how many the run makes in all, where that is known
  double loss = 0;
  double tokens_per_second = 0;  ///< target tokens
  double learning_rate = 0;
  std::optional<double> seconds_left;
  bool log = false;  ///< a plain line is due
};

/// On a terminal one line on stderr, redrawn at most five times a second and fitted to the window:
///   epoch 2 · update 700/1236 · loss 4.91 · 4,812 tokens/s · lr 3.5e-04 · 2:10 left
/// Elsewhere, and where TERM is dumb, that as a plain line whenever one is due. No method throws
/// because of stderr: where nobody reads any more, training goes on.
class TrainingProgress {
 public:
  void update(const ProgressFigures& figures);

  /// A full line that stays, above the one that is redrawn: a validation, a note.
  void say(std::string_view text);

 private:
  std::optional<Progress> line_;
};

}  // namespace attn
