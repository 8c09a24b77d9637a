#include "service/progress.h"

#include <atomic>

namespace attn {
namespace {

std::atomic<ProgressFactory> make_view{nullptr};

}  // namespace

void set_progress_factory(ProgressFactory make) {
  make_view = make;
}

Progress::Progress(const std::string& what, const std::string& unit) {
  if (const ProgressFactory make = make_view) view_ = make(what, unit);
}

void Progress::update(std::size_t done, std::optional<double> fraction) {
  if (view_) view_->update(done, fraction);
}

void Progress::update_of(std::size_t done, std::size_t all) {
  if (all > 0) update(done, static_cast<double>(done) / static_cast<double>(all));
}

}  // namespace attn
