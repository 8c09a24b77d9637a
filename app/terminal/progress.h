// What a person at a terminal sees of a wait: one line on stderr.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/progress.h"
#include "service/training/training_lines.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Whether stderr is a terminal on which a line can be drawn again (TERM).
bool stderr_redraws();

struct ProgressTask;

/// While one exists, what it is for is shown, from the first second on and five times a second:
///   translating · 1200 sentences · 43 a second · 0:28 · 45% · 0:34 left
/// Erased at the end. Of several the last one is shown. Only where stderr_redraws().
class TerminalProgress : public ProgressView {
 public:
  explicit TerminalProgress(const std::string& what, const std::string& unit = "");
  ~TerminalProgress() override;
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void update(std::size_t done, std::optional<double> fraction) override;
  /// Shows these instead, at once.
  void show(std::vector<StatusPart> parts);

 private:
  std::unique_ptr<ProgressTask> wait_;
};

/// One where stderr redraws (set_progress_factory).
std::unique_ptr<ProgressView> terminal_progress(const std::string& what, const std::string& unit);

/// Writes what is to stay on stderr, or (as `write` does it) on a stdout that is the same terminal,
/// with the line out of its way. Whether the terminal's cursor is then at the start of a line
/// decides when the next one is drawn.
void write_beside_progress(bool ends_line, const std::function<void()>& write);

/// Takes the line away; safe in a signal's handler, before the process ends.
void erase_progress() noexcept;

// What a person sees of a training run while it goes on.

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
