// What a person sees of a training run while it goes on.
#pragma once

#include <optional>
#include <string_view>

#include "service/training/training_lines.h"
#include "terminal/progress.h"

namespace attn {

/// On a terminal one line on stderr, redrawn at most five times a second and fitted to the window:
///   epoch 2 · update 700/1236 · loss 4.91 · 4,812 tokens/s · lr 3.5e-04 · 2:10 left
/// Elsewhere, and where TERM is dumb, that as a plain line of at most 80 columns whenever one is
/// due. No method throws because of stderr: where nobody reads any more, training goes on.
class TrainingProgress {
 public:
  explicit TrainingProgress(LossNames names) : names_(names) {}

  void update(const UpdateMetrics& metrics);

  /// A look at the dev part, as a line that stays.
  void look(const ValidationMetrics& metrics) { say(validation_line(metrics, names_)); }

  /// A full line that stays, above the one that is redrawn: a note.
  void say(std::string_view text);

 private:
  LossNames names_;
  std::optional<TerminalProgress> line_;
};

}  // namespace attn
