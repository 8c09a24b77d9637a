// Progress reports of long tasks, which a front end may show.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace attn {

/// Shows one task's progress until it is destroyed.
class ProgressView {
 public:
  virtual ~ProgressView() = default;
  virtual void update(std::size_t done, std::optional<double> fraction) = 0;
};

/// Makes the view of a task `what` that counts in `unit`; null: nothing is shown.
using ProgressFactory = std::unique_ptr<ProgressView> (*)(const std::string& what,
                                                          const std::string& unit);

/// Shows all tasks from now on. Without this call nothing is shown, because stderr belongs to a
/// program that has loaded this as a library.
void set_progress_factory(ProgressFactory make);

/// A task in progress during the lifetime of this object.
class Progress {
 public:
  explicit Progress(const std::string& what, const std::string& unit = "");
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that `done` items are finished, a `fraction` (0 to 1) of all.
  void update(std::size_t done, std::optional<double> fraction = std::nullopt);
  /// Like update(), for `all` items.
  void update_of(std::size_t done, std::size_t all);

 private:
  std::unique_ptr<ProgressView> view_;
};

}  // namespace attn
