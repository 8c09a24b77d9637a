// What takes long says so while it goes on; a front end may show it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace attn {

/// What is shown of one wait, until it is destroyed.
class ProgressView {
 public:
  virtual ~ProgressView() = default;
  virtual void update(std::size_t done, std::optional<double> fraction) = 0;
};

/// Makes the view of a wait for `what`, which counts in `unit`; null: nothing is shown.
using ProgressFactory = std::unique_ptr<ProgressView> (*)(const std::string& what,
                                                          const std::string& unit);

/// Shows every wait from now on; without a call nothing is shown: stderr is another's, who has
/// loaded this as a library.
void set_progress_factory(ProgressFactory make);

/// While one exists, something is waited for.
class Progress {
 public:
  explicit Progress(const std::string& what, const std::string& unit = "");
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many are done, which is `fraction` (0 to 1) of all.
  void update(std::size_t done, std::optional<double> fraction = std::nullopt);
  /// As update() where there are `all` of them.
  void update_of(std::size_t done, std::size_t all);

 private:
  std::unique_ptr<ProgressView> view_;
};

}  // namespace attn
