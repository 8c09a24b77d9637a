// What a person at a terminal sees of a wait: one line on stderr.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A piece of the line. Where the window is narrow, those of the highest rank go first.
struct StatusPart {
  std::string text;
  int rank;
};

/// The pieces that fit into so many columns, with " · " between them.
std::string fitted(const std::vector<StatusPart>& parts, int columns);

/// From now on no line is drawn: stderr is another's, who has loaded this as a library.
void draw_no_progress();

/// Whether stderr is a terminal on which a line can be drawn again (TERM).
bool stderr_redraws();

struct Wait;

/// While one exists, what it is for is shown, from the first second on and five times a second:
///   translating · 1200 sentences · 43 a second · 0:28 · 45% · 0:34 left
/// Erased at the end; nothing where stderr does not redraw. Of several the last one is shown.
class Progress {
 public:
  explicit Progress(const std::string& what, std::string unit = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many are done, which is `fraction` (0 to 1) of all.
  void update(std::size_t done, std::optional<double> fraction = std::nullopt);
  /// Shows these instead, at once.
  void show(std::vector<StatusPart> parts);
  /// As update() where there are `all` of them.
  void update_of(std::size_t done, std::size_t all);

 private:
  std::unique_ptr<Wait> wait_;  ///< null where nothing is shown
};

/// Writes what is to stay on stderr, or (as `write` does it) on a stdout that is the same terminal,
/// with the line out of its way. Whether the terminal's cursor is then at the start of a line
/// decides when the next one is drawn.
void write_beside_progress(bool ends_line, const std::function<void()>& write);

/// Takes the line away; safe in a signal's handler, before the process ends.
void erase_progress() noexcept;

}  // namespace attn
