// The progress display: one line on stderr, if that is a terminal.
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

/// True if stderr is a terminal on which a line can be redrawn (TERM).
bool stderr_redraws();

struct ProgressTask;

/// Shows the progress of a task while an instance exists, from the first second on, five times per
/// second:
///   translating · 1200 sentences · 43 a second · 0:28 · 45% · 0:34 left
/// Erases the line at the end. If there are several instances, shows the newest. Does nothing
/// unless stderr_redraws().
class TerminalProgress : public ProgressView {
 public:
  explicit TerminalProgress(const std::string& what, const std::string& unit = "");
  ~TerminalProgress() override;
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void update(std::size_t done, std::optional<double> fraction) override;
  /// Shows these parts instead, immediately.
  void show(std::vector<StatusPart> parts);

 private:
  std::unique_ptr<ProgressTask> wait_;
};

/// Returns a progress display if stderr can redraw lines (set_progress_factory).
std::unique_ptr<ProgressView> terminal_progress(const std::string& what, const std::string& unit);

/// Writes permanent text to stderr, or (through `write`) to a stdout on the same terminal, after
/// removing the status line. `ends_line`: the cursor is then at the start of a line, which decides
/// when the status line is drawn next.
void write_beside_progress(bool ends_line, const std::function<void()>& write);

/// Removes the status line. Safe in a signal handler before the process ends.
void erase_progress() noexcept;

// The progress of a training run.

/// On a terminal, one line on stderr, redrawn at most five times per second and fitted to the
/// window:
///   epoch 2 · update 700/1236 · loss 4.91 · 4,812 tokens/s · lr 3.5e-04 · 2:10 left
/// Elsewhere, and if TERM is dumb, a plain line of at most 80 columns whenever one is due. No
/// method throws because of stderr: if it is closed, training continues.
class TrainingProgress {
 public:
  explicit TrainingProgress(LossNames names) : names_(names) {}

  void update(const UpdateMetrics& metrics);

  /// Prints a validation as a permanent line.
  void look(const ValidationMetrics& metrics) { say(validation_line(metrics, names_)); }

  /// Prints a permanent line, such as a note, above the one that is redrawn.
  void say(std::string_view text);

 private:
  LossNames names_;
  std::optional<TerminalProgress> line_;
};

}  // namespace attn
