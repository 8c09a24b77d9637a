#include "metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "metrics/ngrams.h"
#include "metrics/unicode_text.h"

namespace attn {
namespace {

// Tercom's limits, and sacreBLEU's limit on the shifts tried per sentence.
constexpr std::size_t kLongestShift = 10, kFarthestShift = 50;
constexpr int kMostTried = 1000;

/// Which words of both sides are edited, and the hypothesis word after which each reference word is
/// aligned.
struct Alignment {
  std::vector<int> place;  ///< for each reference word: −1 before the first hypothesis word
  std::vector<bool> reference_wrong, hypothesis_wrong;
};

Alignment alignment_of(const EditPath& path) {
  Alignment alignment;
  int place = -1;
  for (const Edit edit : path.steps) {
    const bool wrong = edit != Edit::keep;
    if (edit != Edit::insert) {
      ++place;
      alignment.hypothesis_wrong.push_back(wrong);
    }
    if (edit != Edit::remove) {
      alignment.place.push_back(place);
      alignment.reference_wrong.push_back(wrong);
    }
  }
  return alignment;
}

bool any_wrong(const std::vector<bool>& wrong, std::size_t first, std::size_t length) {
  const auto begin = wrong.begin() + static_cast<std::ptrdiff_t>(first);
  return std::find(begin, begin + static_cast<std::ptrdiff_t>(length), true) !=
         begin + static_cast<std::ptrdiff_t>(length);
}

/// Moves `length` words from `start` to before the word at `target`.
WordIds shifted(const WordIds& words, std::size_t start, std::size_t length, std::size_t target) {
  WordIds result = words;
  const auto at = [&](std::size_t i) {
    return result.begin() + static_cast<std::ptrdiff_t>(std::min(i, result.size()));
  };
  if (target < start) {
    std::rotate(at(target), at(start), at(start + length));
  } else if (target > start + length) {
    std::rotate(at(start), at(start + length), at(target));
  } else {  // into the moved words: sacreBLEU counts the target without them
    std::rotate(at(start), at(start + length), at(length + target));
  }
  return result;
}

/// A run of words that are equal on both sides.
struct Match {
  std::size_t hypothesis, reference, length;
};

struct Shift {
  int gain = 0;
  Match match{};
  std::size_t target = 0;
  WordIds words;

  /// Tercom's ranking: the highest gain, then the longest, then the first shift, then the first
  /// target.
  bool operator<(const Shift& other) const {
    return std::tuple(gain, match.length, other.match.hypothesis, other.target) <
           std::tuple(other.gain, other.match.length, match.hypothesis, target);
  }
};

/// Searches for the shift in one sentence that saves the most edits.
class ShiftSearch {
 public:
  ShiftSearch(const WordIds& hypothesis, const WordIds& reference, int tried)
      : hypothesis_(hypothesis),
        reference_(reference),
        path_(edit_path(hypothesis, reference)),
        alignment_(alignment_of(path_)),
        tried_(tried) {}

  /// Returns the best shift; its gain is 0 or less if no shift helps.
  const Shift& run() {
    for (std::size_t h = 0; h < hypothesis_.size(); ++h) {
      for (std::size_t r = 0; r < reference_.size(); ++r) {
        if ((r > h ? r - h : h - r) > kFarthestShift) continue;
        if (!try_matches(h, r)) return best_;
      }
    }
    return best_;
  }

  int tried() const { return tried_; }
  int edits() const { return path_.edits; }

 private:
  /// Tries all matches that begin here; returns false when the limit of shifts is reached.
  bool try_matches(std::size_t h, std::size_t r) {
    for (std::size_t length = 1; length <= kLongestShift; ++length) {
      const std::size_t last_h = h + length - 1, last_r = r + length - 1;
      if (last_h >= hypothesis_.size() || last_r >= reference_.size()) return true;
      if (hypothesis_[last_h] != reference_[last_r]) return true;
      if (worth_trying({h, r, length})) {
        try_places({h, r, length});
        if (tried_ >= kMostTried) return false;
      }
    }
    return true;
  }

  /// True if both sides contain edits and the words are not already where they belong.
  bool worth_trying(const Match& m) const {
    if (!any_wrong(alignment_.hypothesis_wrong, m.hypothesis, m.length)) return false;
    if (!any_wrong(alignment_.reference_wrong, m.reference, m.length)) return false;
    const int place = alignment_.place[m.reference];
    const int first = static_cast<int>(m.hypothesis);
    return place < first || place >= first + static_cast<int>(m.length);
  }

  /// Tries the positions before and after every word that the reference words are aligned with.
  void try_places(const Match& m) {
    int before = -1;
    for (std::size_t i = m.reference; i <= m.reference + m.length; ++i) {
      const int target = i == 0 ? 0 : alignment_.place[i - 1] + 1;
      if (target == before) continue;
      before = target;
      try_shift(m, static_cast<std::size_t>(target));
    }
  }

  void try_shift(const Match& m, std::size_t target) {
    Shift shift{0, m, target, shifted(hypothesis_, m.hypothesis, m.length, target)};
    shift.gain = path_.edits - edit_path(shift.words, reference_).edits;
    ++tried_;
    if (!found_ || best_ < shift) best_ = std::move(shift);
    found_ = true;
  }

  const WordIds& hypothesis_;
  const WordIds& reference_;
  EditPath path_;
  Alignment alignment_;
  int tried_;
  Shift best_;
  bool found_ = false;
};

/// Applies shifts as long as they help, and returns their number plus the remaining edits.
int edits_of(WordIds hypothesis, const WordIds& reference) {
  if (reference.empty()) return static_cast<int>(hypothesis.size());
  int shifts = 0, tried = 0;
  for (;;) {
    ShiftSearch search(hypothesis, reference, tried);
    Shift best = search.run();
    tried = search.tried();
    if (tried >= kMostTried || best.gain <= 0) return shifts + search.edits();
    hypothesis = std::move(best.words);
    ++shifts;
  }
}

/// Numbers the words of a sentence and its references.
class WordIdMap {
 public:
  WordIds of(const std::string& sentence) {
    const std::string text = lowercase(strip_right(sentence));
    WordIds words;
    for (const std::string_view word : split_at_spaces(text)) {
      words.push_back(
          numbers_.try_emplace(std::string(word), static_cast<int>(numbers_.size())).first->second);
    }
    return words;
  }

 private:
  std::unordered_map<std::string, int> numbers_;
};

template <typename Number>
double ter_score(std::span<const double> sums) {
  const auto edits = static_cast<Number>(sums[0]), length = static_cast<Number>(sums[1]);
  if (length > 0) return static_cast<double>(100 * (edits / length));
  return edits > 0 ? 100.0 : 0.0;
}

}  // namespace

SentenceStatistics ter_counts(std::span<const std::string> hypotheses, References references) {
  check_same_size(hypotheses, references);
  SentenceStatistics counts{2, {}};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    WordIdMap numbers;
    const WordIds hypothesis = numbers.of(hypotheses[i]);
    int fewest = 0;
    double length = 0;
    for (std::size_t r = 0; r < references.size(); ++r) {
      const WordIds reference = numbers.of(references[r][i]);
      const int edits = edits_of(hypothesis, reference);
      fewest = r == 0 ? edits : std::min(fewest, edits);
      length += static_cast<double>(reference.size());
    }
    counts.numbers.push_back(fewest);
    counts.numbers.push_back(length / static_cast<double>(references.size()));
  }
  return counts;
}

TerScore ter_from_counts(std::span<const double> sums) {
  return {ter_score<double>(sums), sums[0], sums[1]};
}

SampleScore ter_from_sample(std::span<const double> sums) {
  return {ter_score<float>(sums), sums[1] > 0};
}

TerScore corpus_ter(std::span<const std::string> hypotheses, References references) {
  return ter_from_counts(ter_counts(hypotheses, references).sums());
}

std::string ter_signature(const SignatureOptions& facts) {
  return signature(facts, "case:lc|tok:tercom|norm:no|punct:yes|asian:no");
}

namespace {

constexpr int kBand = 25;
constexpr int kFar = 1 << 30;  ///< cost of a cell outside the band

struct Cell {
  int cost = kFar;
  Edit edit = Edit::none;
};

/// The columns [first, last) of a row that are computed.
struct Band {
  int first = 0, last = 0;
};

Band band_of(int row, int rows, int columns, double ratio) {
  const double half = ratio / 2;
  const int width = kBand < half ? static_cast<int>(std::ceil(half + kBand)) : kBand;
  const int middle = static_cast<int>(std::floor(row * ratio));
  return {std::max(0, middle - width),
          row == rows ? columns + 1 : std::min(columns + 1, middle + width)};
}

/// Traces the path back from the last cell.
std::vector<Edit> steps_of(const std::vector<Cell>& cells, std::size_t rows, std::size_t columns) {
  std::vector<Edit> steps;
  for (std::size_t i = rows, j = columns; i > 0 || j > 0;) {
    const Edit edit = cells[i * (columns + 1) + j].edit;
    steps.push_back(edit);
    if (edit != Edit::insert) --i;
    if (edit != Edit::remove) --j;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

EditPath edit_path(const WordIds& hypothesis, const WordIds& reference) {
  const std::size_t rows = hypothesis.size(), columns = reference.size();
  const std::size_t width = columns + 1;
  std::vector<Cell> cells((rows + 1) * width);
  for (std::size_t j = 0; j <= columns; ++j) cells[j] = {static_cast<int>(j), Edit::insert};
  const double ratio = rows == 0 ? 1.0 : static_cast<double>(columns) / static_cast<double>(rows);
  for (std::size_t i = 1; i <= rows; ++i) {
    const Band band =
        band_of(static_cast<int>(i), static_cast<int>(rows), static_cast<int>(columns), ratio);
    Cell* row = &cells[i * width];
    const Cell* before = row - width;
    for (auto j = static_cast<std::size_t>(band.first); j < static_cast<std::size_t>(band.last);
         ++j) {
      if (j == 0) {
        row[0] = {before[0].cost + 1, Edit::remove};
        continue;
      }
      const bool same = hypothesis[i - 1] == reference[j - 1];
      Cell best;
      const auto offer = [&best](int cost, Edit edit) {
        if (cost < best.cost) best = {cost, edit};
      };
      offer(before[j - 1].cost + (same ? 0 : 1), same ? Edit::keep : Edit::substitute);
      offer(before[j].cost + 1, Edit::remove);
      offer(row[j - 1].cost + 1, Edit::insert);
      row[j] = best;
    }
  }
  return {cells.back().cost, steps_of(cells, rows, columns)};
}

}  // namespace attn
