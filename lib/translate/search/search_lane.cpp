#include "translate/search/search_lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/at.h"
#include "base/memory.h"

namespace attn {
namespace {

/// Adds the time of its own lifetime to a counter.
class AddElapsed {
 public:
  explicit AddElapsed(std::chrono::nanoseconds& into) : into_(into) {}
  ~AddElapsed() { into_ += std::chrono::steady_clock::now() - begun_; }
  AddElapsed(const AddElapsed&) = delete;
  AddElapsed& operator=(const AddElapsed&) = delete;

 private:
  std::chrono::nanoseconds& into_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

void require_room(std::span<QueuedSentence* const> joining) {
  // Asking the system costs a few file reads, so small caches are not checked.
  constexpr std::uint64_t kSmall = std::uint64_t{256} << 20;
  std::optional<std::uint64_t> bytes = 0;
  for (const QueuedSentence* one : joining) bytes = bytes ? checked_add(*bytes, one->bytes) : bytes;
  const std::uint64_t needed = bytes.value_or(~std::uint64_t{0});
  if (needed > kSmall) {
    require_memory(needed, fmt::format("the KV cache for {} sentences at a time, "
                                       "{} beams and up to {} tokens each",
                                       joining.size(), joining.front()->size.hypotheses,
                                       joining.front()->size.steps));
  }
}

}  // namespace

bool SearchLane::exclusive() const {
  return std::ranges::any_of(groups_, [](const Group& group) {
    return std::ranges::any_of(group.sentences, &QueuedSentence::alone);
  });
}

void SearchLane::remove(Group& group, const QueuedSentence& sentence) {
  group.sentences.erase(std::ranges::find(group.sentences, &sentence));
  group.load.rows -= sentence.size.hypotheses;
  group.load.bytes -= sentence.bytes;
  if (group.sentences.empty())
    group.running.reset();  // frees memory that was sized for the longest sentences
}

void SearchLane::drop(Group& group, Step& step) {
  for (std::size_t i = group.sentences.size(); i-- > 0;) {
    QueuedSentence& one = *group.sentences[i];
    if (!one.request->cancelled) continue;
    group.running->leave(*one.search);
    step.finished.push_back(&one);
    remove(group, one);
  }
}

/// Fails the sentences. Those that failed together with others are searched again alone, which
/// shows whose error it is.
void SearchLane::fail(std::span<QueuedSentence* const> failed, bool company, Step& step) {
  for (QueuedSentence* one : failed) {
    one->search.reset();
    if (company) {
      one->alone = true;
      step.retry_alone.push_back(one);
    } else {
      one->error = std::current_exception();
      step.finished.push_back(one);
    }
  }
}

void SearchLane::join_some(Group& group, std::span<QueuedSentence* const> some, Step& step) {
  if (some.empty()) return;
  try {
    require_room(some);
    std::vector<SentenceSearch*> searches;
    for (QueuedSentence* one : some) {
      one->search = sentence_search(one->request->rules, one->source, one->size.steps);
      searches.push_back(one->search.get());
    }
    group.sentences.reserve(group.sentences.size() + some.size());
    if (!group.running) group.running.emplace(models_);
    group.running->join(searches, some.front()->request->encoded);
  } catch (...) {
    if (group.sentences.empty()) group.running.reset();
    return fail(some, some.size() > 1 || !empty(), step);
  }
  for (QueuedSentence* one : some) {
    group.sentences.push_back(one);
    group.load.rows += one->size.hypotheses;
    group.load.bytes += one->bytes;
  }
}

void SearchLane::join(Group& group, std::span<QueuedSentence* const> joining, Step& step) {
  const AddElapsed timed(group.spent);
  std::vector<QueuedSentence*> encoded_together;
  for (QueuedSentence* const& one : joining) {
    if (&groups_[one->heavy ? 1 : 0] != &group) continue;
    if (one->request->encoded == nullptr) {
      encoded_together.push_back(one);
    } else {
      join_some(group, {&one, 1}, step);
    }
  }
  join_some(group, encoded_together, step);
}

void SearchLane::advance(Group& group, Step& step) {
  const AddElapsed timed(group.spent);
  std::vector<ContinuousBatch::FinishedSearch> ended;
  try {
    ended = group.running->step();
  } catch (...) {
    const bool company = size() > 1;
    const std::vector<QueuedSentence*> failed = std::exchange(group.sentences, {});
    group.running.reset();
    group.load = {};
    return fail(failed, company, step);
  }
  for (const ContinuousBatch::FinishedSearch& one : ended) {
    QueuedSentence& sentence = **std::ranges::find(
        group.sentences, one.search, [](const QueuedSentence* s) { return s->search.get(); });
    sentence.error = one.error;
    step.finished.push_back(&sentence);
    remove(group, sentence);
  }
}

/// Returns the group to run next; null if the lane is empty.
SearchLane::Group* SearchLane::next_group() {
  constexpr int kLightShare =
      3;  // share of the time, as opposed to one part for the heavy sentences
  auto& [light, heavy] = groups_;
  if (light.sentences.empty() || heavy.sentences.empty()) {
    light.spent = heavy.spent = {};
    return !light.sentences.empty() ? &light : !heavy.sentences.empty() ? &heavy : nullptr;
  }
  return heavy.spent * kLightShare <= light.spent ? &heavy : &light;
}

void SearchLane::run(std::span<QueuedSentence* const> joining, Step& step) {
  step.finished.reserve(size() + joining.size());
  step.retry_alone.reserve(size() + joining.size());
  for (Group& group : groups_) drop(group, step);
  for (Group& group : groups_) join(group, joining, step);
  Group* group = next_group();
  if (group == nullptr) return;
  step.rows = group->load.rows;
  advance(*group, step);
}

void SearchLane::clear(Step& step) {
  for (Group& group : groups_) {
    step.finished.insert(step.finished.end(), group.sentences.begin(), group.sentences.end());
    group.sentences.clear();
    group.running.reset();
    group.load = {};
  }
}

}  // namespace attn
