#include "translate/search/search_queue.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/at.h"
#include "compute/threads.h"
#include "translate/search/search_lane.h"

namespace attn {
namespace {

/// True if each step of a sentence takes long: 64 beams, or 4 beams with a source of 150 tokens.
bool is_heavy(Index hypotheses, Index source_length) {
  constexpr Index kTokensOfMatmuls = 8, kMost = 600;
  return hypotheses * (kTokensOfMatmuls + source_length) > kMost;
}

/// Per lane; the last sentence to join may exceed it.
constexpr std::uint64_t kMostQueueBytes = std::uint64_t{256} << 20;

std::unique_ptr<QueuedRequest> request_of(const Ensemble& models, const PackedTokens& source,
                                          const DecodeConfig& decode,
                                          const SearchContext& context) {
  auto request = std::make_unique<QueuedRequest>(models, decode);
  const SearchRules& rules = request->rules;
  for (Index i = 0; i < source.sentences(); ++i) {
    QueuedSentence& one = request->sentences.emplace_back();
    one.request = request.get();
    one.source = source.of(i);
    one.size = {rules.hypotheses(), max_generated_tokens(decode, models, source.length(i))};
    one.bytes = search_bytes(rules, models, source.length(i))
                    .value_or(std::numeric_limits<std::uint64_t>::max() / 2);
    one.heavy = is_heavy(one.size.hypotheses, source.length(i));
  }
  request->remaining = request->sentences.size();
  request->client = context.client;
  request->stop = context.stop;
  if (source.sentences() == 1) request->encoded = context.encoded;
  return request;
}

}  // namespace

class SearchQueue::State {
 public:
  State(const Ensemble& models, const Capacity& capacity);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void search(QueuedRequest& request);
  bool go_alone();  ///< true if the queue was empty, so that one batch now has all threads
  void end_alone();
  BatchHistogram sizes() const;

 private:
  struct Lane {
    explicit Lane(const Ensemble& models) : searches(models) {}
    SearchLane searches;
    bool driven = false;
    bool handed = false;  ///< handed to its keeper, which has not noticed yet
    std::thread keeper;   ///< drives it after the driver's own request, until it is empty
  };
  struct Client {
    std::uint64_t number = 0;
    std::deque<QueuedSentence*> waiting;
    Index rows = 0;     ///< rows of its running sentences
    int sentences = 0;  ///< running sentences
  };
  using Lock = std::unique_lock<std::mutex>;

  void add(QueuedRequest& request);
  Client& client_of(const QueuedRequest& request);
  Lane* free_lane();
  void remove_idle(const Client& client);
  void drive(Lock& lock, Lane& lane, const QueuedRequest* own);
  static void fail_all(Lane& lane, const std::vector<QueuedSentence*>& joining,
                       SearchLane::Step& step);
  void hand_over(Lock& lock, Lane& lane);
  void keep(Lane& lane);
  void give_up_stopped();
  bool may_join(const Client& client, const Lane& lane, const SearchLane::Load& load,
                int others) const;
  void choose(const Lane& lane, std::vector<QueuedSentence*>& joining);
  void settle(const SearchLane::Step& step);
  void end(QueuedSentence& sentence);
  void give_up(QueuedRequest& request);
  bool has_waiting() const;

  const Index rows_;
  mutable std::mutex mutex_;
  std::list<Client> clients_;  ///< the next one to have a turn is first
  std::deque<Lane> lanes_;
  std::list<QueuedRequest*> requests_;
  std::condition_variable handed_over_;
  bool closing_ = false;
  int driven_ = 0;
  bool runs_alone_ = false;  ///< one batch has all threads
  std::uint64_t next_client_ = std::uint64_t{1} << 63;
  BatchHistogram sizes_;
};

SearchQueue::State::State(const Ensemble& models, const Capacity& capacity) : rows_(capacity.rows) {
  const int lanes = capacity.lanes > 0 ? capacity.lanes : std::max(1, available_cores());
  for (int i = 0; i < lanes; ++i) lanes_.emplace_back(models);
}

SearchQueue::State::~State() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  handed_over_.notify_all();
  for (Lane& lane : lanes_) {
    if (lane.keeper.joinable()) lane.keeper.join();
  }
}

bool SearchQueue::State::go_alone() {
  const std::lock_guard lock(mutex_);
  if (runs_alone_ || !requests_.empty()) return false;
  return runs_alone_ = true;
}

void SearchQueue::State::end_alone() {
  const std::lock_guard lock(mutex_);
  runs_alone_ = false;
}

BatchHistogram SearchQueue::State::sizes() const {
  const std::lock_guard lock(mutex_);
  return sizes_;
}

SearchQueue::State::Client& SearchQueue::State::client_of(const QueuedRequest& request) {
  const auto found = std::ranges::find(clients_, request.client, &Client::number);
  if (found != clients_.end()) return *found;
  clients_.emplace_back().number = request.client;
  return clients_.back();
}

void SearchQueue::State::add(QueuedRequest& request) {
  if (request.client == 0) request.client = next_client_++;
  requests_.push_back(&request);
  try {
    Client& client = client_of(request);
    for (QueuedSentence& one : request.sentences) client.waiting.push_back(&one);
  } catch (...) {
    give_up(request);
    requests_.pop_back();
    throw;
  }
}

/// Adds the request, drives a free lane if there is one, and returns when the request is done.
void SearchQueue::State::search(QueuedRequest& request) {
  Lock lock(mutex_);
  add(request);
  if (Lane* lane = free_lane()) drive(lock, *lane, &request);
  request.changed.wait(lock, [&] { return request.remaining == 0; });
  std::erase(requests_, &request);
}

bool SearchQueue::State::has_waiting() const {
  return std::ranges::any_of(clients_, [](const Client& c) { return !c.waiting.empty(); });
}

/// Returns a lane that had no driver and marks it as driven; null if all have one.
SearchQueue::State::Lane* SearchQueue::State::free_lane() {
  const auto free = std::ranges::find(lanes_, false, &Lane::driven);
  if (free == lanes_.end()) return nullptr;
  free->driven = true;
  ++driven_;
  return &*free;
}

/// Drives a lane until the sentences of `own` are done or, if `own` is null, until the lane is
/// empty. Returns earlier if nothing can run here; sentences that still wait then do so for others
/// of the same client in another lane.
void SearchQueue::State::drive(Lock& lock, Lane& lane, const QueuedRequest* own) {
  std::vector<QueuedSentence*> joining;
  while (own == nullptr || own->remaining > 0) {
    SearchLane::Step step;
    try {
      joining.clear();
      give_up_stopped();
      choose(lane, joining);
      if (joining.empty() && lane.searches.empty()) break;
      std::optional<SerialScope> beside;
      if (driven_ > 1) beside.emplace();
      lock.unlock();
      lane.searches.run(joining, step);
      lock.lock();
    } catch (...) {  // out of memory outside the searches
      if (!lock.owns_lock()) lock.lock();
      fail_all(lane, joining, step);
    }
    settle(step);
  }
  lane.driven = false;
  --driven_;
  if (own != nullptr && own->remaining == 0) hand_over(lock, lane);
}

/// Fails every sentence of a lane's step; called in the handler of the exception that ended it.
void SearchQueue::State::fail_all(Lane& lane, const std::vector<QueuedSentence*>& joining,
                                  SearchLane::Step& step) {
  lane.searches.clear(step);
  std::vector<QueuedSentence*>& finished = step.finished;
  finished.insert(finished.end(), step.retry_alone.begin(), step.retry_alone.end());
  finished.insert(finished.end(), joining.begin(), joining.end());
  std::ranges::sort(finished);
  finished.erase(std::unique(finished.begin(), finished.end()), finished.end());
  for (QueuedSentence* one : finished) one->error = std::current_exception();
  step.retry_alone.clear();
}

/// Hands a lane with remaining sentences to its keeper, which has no request of its own to return.
/// If each driver woke the next one, the lane would be idle meanwhile (long on a busy machine).
void SearchQueue::State::hand_over(Lock& lock, Lane& lane) {
  if (lane.searches.empty() && !has_waiting()) return;
  lane.driven = true;
  ++driven_;
  try {
    if (!lane.keeper.joinable()) lane.keeper = std::thread([this, &lane] { keep(lane); });
  } catch (...) {  // the system has no more threads
    return drive(lock, lane, nullptr);
  }
  lane.handed = true;
  handed_over_.notify_all();
}

void SearchQueue::State::keep(Lane& lane) {
  Lock lock(mutex_);
  for (;;) {
    handed_over_.wait(lock, [&] { return lane.handed || closing_; });
    if (!lane.handed) return;
    lane.handed = false;
    drive(lock, lane, nullptr);
  }
}

void SearchQueue::State::give_up_stopped() {
  for (QueuedRequest* one : requests_) {
    if (one->stop != nullptr && *one->stop && !one->cancelled) give_up(*one);
  }
}

/// Removes a request: its waiting sentences now, its running ones at their lanes' next steps.
void SearchQueue::State::give_up(QueuedRequest& request) {
  request.cancelled = true;
  const auto client = std::ranges::find(clients_, request.client, &Client::number);
  if (client != clients_.end()) {
    request.remaining -= std::erase_if(
        client->waiting, [&](const QueuedSentence* one) { return one->request == &request; });
    remove_idle(*client);
  }
  if (request.remaining == 0) request.changed.notify_one();
}

bool SearchQueue::State::may_join(const Client& client, const Lane& lane,
                                  const SearchLane::Load& load, int others) const {
  constexpr Index kAmongOthers = 4, kByItself = 2;
  const QueuedSentence& one = *client.waiting.front();
  if (one.alone) return lane.searches.empty() && load.rows == 0;
  if (load.rows >= rows_ || load.bytes >= kMostQueueBytes) return false;
  const Index all = rows_ * std::ssize(lanes_);
  const Index share = all / (others > 0 ? kAmongOthers : kByItself);
  return client.sentences == 0 || client.rows + one.size.hypotheses <= share;
}

/// Chooses the sentences that join a lane now: one of each client in turn, while there is room.
void SearchQueue::State::choose(const Lane& lane, std::vector<QueuedSentence*>& joining) {
  if (lane.searches.exclusive()) return;
  std::array<SearchLane::Load, 2> loads{lane.searches.load(false), lane.searches.load(true)};
  auto waiting =
      std::ranges::count_if(clients_, [](const Client& c) { return !c.waiting.empty(); });
  std::size_t passed = 0;
  while (waiting > 0 && passed < clients_.size()) {
    Client& client = clients_.front();
    clients_.splice(clients_.end(), clients_, clients_.begin());
    ++passed;
    if (client.waiting.empty()) continue;
    QueuedSentence& one = *client.waiting.front();
    SearchLane::Load& load = loads[one.heavy ? 1 : 0];
    const bool first = joining.empty();
    if (one.alone && !(first && lane.searches.empty())) break;  // until the lane is empty
    if (!may_join(client, lane, load, to_int(waiting) - 1)) continue;
    joining.push_back(&one);
    client.waiting.pop_front();
    client.rows += one.size.hypotheses;
    ++client.sentences;
    load.rows += one.size.hypotheses;
    load.bytes += one.bytes;
    if (client.waiting.empty()) --waiting;
    if (one.alone) break;
    passed = 0;
  }
}

void SearchQueue::State::settle(const SearchLane::Step& step) {
  if (step.rows > 0) {
    const auto* const bound = std::ranges::lower_bound(BatchHistogram::bounds, step.rows);
    ++sizes_.counts[to_size(bound - BatchHistogram::bounds.begin())];
    sizes_.rows += static_cast<std::uint64_t>(step.rows);
  }
  for (QueuedSentence* one : step.retry_alone) {
    try {
      client_of(*one->request).waiting.push_front(one);
    } catch (...) {
      one->error = std::current_exception();
      end(*one);
      continue;
    }
    Client& client = client_of(*one->request);
    client.rows -= one->size.hypotheses;
    --client.sentences;
    if (one->request->cancelled) give_up(*one->request);
  }
  for (QueuedSentence* one : step.finished) end(*one);
}

void SearchQueue::State::end(QueuedSentence& sentence) {
  QueuedRequest& request = *sentence.request;
  Client& client = client_of(request);
  client.rows -= sentence.size.hypotheses;
  --client.sentences;
  --request.remaining;
  if (sentence.error) {
    if (!request.error) request.error = sentence.error;
    return give_up(request);
  }
  remove_idle(client);
  if (request.remaining == 0) request.changed.notify_one();
}

void SearchQueue::State::remove_idle(const Client& client) {
  if (!client.waiting.empty() || client.sentences > 0) return;
  clients_.remove_if([&](const Client& one) { return &one == &client; });
}

SearchQueue::SearchQueue(Ensemble models, Capacity capacity)
    : models_(std::move(models)),
      capacity_(capacity),
      state_(new State(models_, capacity)),
      process_(getpid()) {}

SearchQueue::~SearchQueue() {
  // A child of fork() must not destroy the state: its threads are the parent's.
  if (process_ == getpid()) delete state_.load();
}

/// Returns the state of this process. After fork(), the child leaves the inherited one as it is.
SearchQueue::State& SearchQueue::state() {
  static std::mutex after_fork;
  if (process_ != getpid()) {
    const std::lock_guard lock(after_fork);
    if (process_ != getpid()) {
      state_ = new State(models_, capacity_);
      process_ = getpid();
    }
  }
  return *state_;
}

BatchHistogram SearchQueue::sizes() const {
  return state_.load()->sizes();
}

SearchResults SearchQueue::search(const PackedTokens& source, const DecodeConfig& decode,
                                  const SearchContext& context) {
  if (source.sentences() == 0) return {};
  State& state = this->state();
  // While the queue is empty, a batch uses all threads, each of which has its own sentences.
  if (source.sentences() > 1 && context.stop == nullptr && may_use_threads() && state.go_alone()) {
    struct End {
      State& state;
      ~End() { state.end_alone(); }
    } const end{state};
    return attn::search(models_, source, decode, {.max_active = context.max_active});
  }
  const std::unique_ptr<QueuedRequest> request = request_of(models_, source, decode, context);
  state.search(*request);
  if (request->error) std::rethrow_exception(request->error);
  if (request->cancelled) throw SearchStopped();
  SearchResults results;
  for (const QueuedSentence& one : request->sentences) results.push_back(one.search->results());
  return results;
}

}  // namespace attn
