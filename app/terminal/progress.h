// What a person at a terminal sees of a wait: one line on stderr.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/progress.h"
#include "view/terminal/status_line.h"

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

}  // namespace attn
