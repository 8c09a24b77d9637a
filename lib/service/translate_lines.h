// Lines of text in, their translations out: prepared, cut into sentences, searched, put together
// again and clean.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "translate/line_parts.h"
#include "translate/translate_all.h"

namespace attn {

struct LineSettings {
  Splitting split = Splitting::automatic;
  std::size_t batch = 32;  ///< sentences that are translated together
  /// Batches that a search is given at once: as soon as one of its sentences has ended, the next
  /// takes its place, so that short ones do not wait for the longest of their batch.
  std::size_t window = 1;
  /// Sentences of like length together, which takes less time, and of each the best alone; else in
  /// their order.
  bool by_length = false;
};

/// Who follows, where set.
struct LineHooks {
  /// Each line in its order, before any is searched.
  std::function<void(const PreparedLine&)> prepared = nullptr;
  /// After each batch; what it throws ends the whole.
  std::function<void(const TranslationProgress&)> searched = nullptr;
};

/// The translations of each line, best first. Never throws for any bytes. Their texts are valid
/// UTF-8 without control characters, whatever a model's pieces hold.
std::vector<std::vector<LineTranslation>> translate_lines(const Translator& translator,
                                                          const std::vector<std::string>& lines,
                                                          const LineSettings& settings,
                                                          const LineHooks& hooks = {});

}  // namespace attn
