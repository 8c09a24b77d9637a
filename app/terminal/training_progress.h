// What a person sees of a training run while it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/progress.h"
#include "train/run/training_listener.h"

namespace attn {

/// How lines name the two losses. With label smoothing the loss is not the one that the perplexity
/// is made of, and each says which it is.
enum class LossNames { plain, smoothed };

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

/// What follows as plain lines of at most 80 columns.
std::string update_line(const ProgressFigures& figures, LossNames names);
std::string look_line(const LookFigures& figures, LossNames names);

/// On a terminal one line on stderr, redrawn at most five times a second and fitted to the window:
///   epoch 2 · update 700/1236 · loss 4.91 · 4,812 tokens/s · lr 3.5e-04 · 2:10 left
/// Elsewhere, and where TERM is dumb, that as a plain line of at most 80 columns whenever one is
/// due. No method throws because of stderr: where nobody reads any more, training goes on.
class TrainingProgress {
 public:
  explicit TrainingProgress(LossNames names) : names_(names) {}

  void update(const ProgressFigures& figures);

  /// A look at the dev part, as a line that stays:
  ///   dev 700: smoothed loss 2.345, plain ppl 6.78, BLEU 12.34, chrF2 34.56, best
  void look(const LookFigures& figures);

  /// A full line that stays, above the one that is redrawn: a note.
  void say(std::string_view text);

 private:
  LossNames names_;
  std::optional<Progress> line_;
};

}  // namespace attn
