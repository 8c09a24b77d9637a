#include "text/byte_level/byte_merges.h"

#include <algorithm>
#include <queue>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/lines.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

std::uint64_t key_of(int left, int right) {
  return std::uint64_t{to_size(left)} << 32 | to_size(right);
}

}  // namespace

BpeMerges::BpeMerges(std::string_view text, const Vocabulary& vocabulary,
                       const std::string& where) {
  if (!is_valid_utf8(text)) {
    throw InputError("{}: found bytes that are not UTF-8; expected a pair of pieces a line", where);
  }
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (line.starts_with("#version")) continue;
    const auto here = [&] { return where + ":" + std::to_string(number); };
    const std::size_t blank = line.find(' ');
    const bool two = blank != line.npos && blank > 0 && blank + 1 < line.size() &&
                     line.find(' ', blank + 1) == line.npos;
    if (!two) {
      throw InputError("{}: found \"{}\"; expected two pieces with one blank between them", here(),
                       excerpt(line));
    }
    add(line.substr(0, blank), line.substr(blank + 1), vocabulary, here);
  }
}

void BpeMerges::add(std::string_view left, std::string_view right, const Vocabulary& vocabulary,
                     const std::function<std::string()>& where) {
  const auto id_of = [&](const std::string& piece) {
    if (const auto id = vocabulary.find(piece)) return *id;
    throw InputError("{}: \"{}\" is no piece of the vocabulary; expected merges of its pieces",
                     where(), excerpt(piece));
  };
  const std::string first(left);
  const std::string second(right);
  const int left_id = id_of(first);
  const int right_id = id_of(second);
  const Merge merge{narrow_cast<std::uint32_t>(merges_.size()), id_of(first + second)};
  if (!merges_.emplace(key_of(left_id, right_id), merge).second) {
    throw InputError("{}: the pair \"{}\" stands here for the second time; expected it once",
                     where(), excerpt(first + " " + second));
  }
}

const BpeMerges::Merge* BpeMerges::find(int left, int right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

/// A word while its pieces are joined: a list of pieces in which a joined one's right half is gone.
class BpeMerges::Word {
 public:
  Word(const BpeMerges& merges, std::vector<int>& ids) : merges_(merges), ids_(ids) {
    const auto count = narrow_cast<std::uint32_t>(ids.size());
    next_.resize(count);
    before_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      next_[i] = i + 1;
      before_[i] = i - 1;  // of the first: kNone
    }
    for (std::uint32_t i = 0; i + 1 < count; ++i) offer(i);
  }

  void join_all() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (ids_[best.left] == kGone || next_[best.left] == ids_.size()) continue;
      const std::uint32_t right = next_[best.left];
      const Merge* merge = merges_.find(ids_[best.left], ids_[right]);
      // Its neighbours may have changed since; what they make now may still be the same piece.
      if (merge == nullptr || merge->joint != best.joint) continue;
      ids_[best.left] = best.joint;
      ids_[right] = kGone;
      next_[best.left] = next_[right];
      if (next_[right] < ids_.size()) before_[next_[right]] = best.left;
      if (before_[best.left] != kNone) offer(before_[best.left]);
      if (next_[best.left] < ids_.size()) offer(best.left);
    }
    std::erase(ids_, kGone);
  }

 private:
  static constexpr int kGone = -1;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct LowerPriority {
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
  };

  void offer(std::uint32_t left) {
    if (const Merge* merge = merges_.find(ids_[left], ids_[next_[left]])) {
      queue_.push({merge->rank, left, merge->joint});
    }
  }

  const BpeMerges& merges_;
  std::vector<int>& ids_;
  std::vector<std::uint32_t> next_;    ///< place of the right neighbour; the size: none
  std::vector<std::uint32_t> before_;  ///< place of the left neighbour
  std::priority_queue<Candidate, std::vector<Candidate>, LowerPriority> queue_;
};

void BpeMerges::join(std::vector<int>& ids) const {
  if (ids.size() > 1) Word(*this, ids).join_all();
}

}  // namespace attn
