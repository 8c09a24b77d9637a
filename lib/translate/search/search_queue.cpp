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

/// Whether each of a sentence's steps takes long: 64 beams, or four of a source of 150 tokens.
bool is_heavy(Index hypotheses, Index source_length) {
  constexpr Index kTokensOfProducts = 8, kMost = 600;
  return hypotheses * (kTokensOfProducts + source_length) > kMost;
}

/// Of a lane; the last to join may have more.
constexpr std::uint64_t kMostQueueBytes = std::uint64_t{256} << 20;

std::unique_ptr<QueuedRequest> request_of(const Ensemble& models, const PackedTokens& source,
                                          const DecodeConfig& decode,
                                          const RequestContext& context) {
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
  State(const Ensemble& models, const Capacity& room);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void search(QueuedRequest& request);
  bool go_alone();
  void end_alone();
  BatchHistogram sizes() const;

 private:
  struct Lane {
    explicit Lane(const Ensemble& models) : searches(models) {}
    SearchLane searches;
    bool driven = false;
    bool handed = false;  ///< to its keeper, who has not seen it yet
    std::thread keeper;   ///< drives it from when who asked has what it wanted until all have
  };
  struct Client {
    std::uint64_t number = 0;
    std::deque<QueuedSentence*> waiting;
    Index rows = 0;     ///< of its sentences that run
    int sentences = 0;  ///< that run
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
  void stop_those_asked();
  bool may_join(const Client& client, const Lane& lane, const SearchLane::Load& load,
                int others) const;
  void choose(const Lane& lane, std::vector<QueuedSentence*>& joining);
  void settle(const SearchLane::Step& step);
  void end(QueuedSentence& sentence);
  void give_up(QueuedRequest& request);
  bool somebody_waits() const;

  const Index rows_;
  mutable std::mutex mutex_;
  std::list<Client> clients_;  ///< whose turn is next comes first
  std::deque<Lane> lanes_;
  std::list<QueuedRequest*> requests_;
  std::condition_variable handed_over_;
  bool closing_ = false;
  int driven_ = 0;
  bool runs_alone_ = false;  ///< somebody has all threads for sentences of their own
  std::uint64_t next_client_ = std::uint64_t{1} << 63;
  BatchHistogram sizes_;
};

SearchQueue::State::State(const Ensemble& models, const Capacity& room) : rows_(room.rows) {
  const int lanes = room.lanes > 0 ? room.lanes : std::max(1, available_cores());
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

/// Whether nobody is here, so that a batch may have all threads to itself.
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

/// Asks, and drives a lane where nobody does; returns when nothing of the request is here any more.
void SearchQueue::State::search(QueuedRequest& request) {
  Lock lock(mutex_);
  add(request);
  if (Lane* lane = free_lane()) drive(lock, *lane, &request);
  request.changed.wait(lock, [&] { return request.remaining == 0; });
  std::erase(requests_, &request);
}

bool SearchQueue::State::somebody_waits() const {
  return std::ranges::any_of(clients_, [](const Client& c) { return !c.waiting.empty(); });
}

/// One that nobody drives, now driven; null: there is none.
SearchQueue::State::Lane* SearchQueue::State::free_lane() {
  const auto free = std::ranges::find(lanes_, false, &Lane::driven);
  if (free == lanes_.end()) return nullptr;
  free->driven = true;
  ++driven_;
  return &*free;
}

/// Until the sentences of `own` are done, or where that is null until nobody is here; never longer
/// than something is to be done. Who waits then waits for one of the same client in another lane.
void SearchQueue::State::drive(Lock& lock, Lane& lane, const QueuedRequest* own) {
  std::vector<QueuedSentence*> joining;
  while (own == nullptr || own->remaining > 0) {
    SearchLane::Step step;
    try {
      joining.clear();
      stop_those_asked();
      choose(lane, joining);
      if (joining.empty() && lane.searches.empty()) break;
      std::optional<SerialScope> beside;
      if (driven_ > 1) beside.emplace();
      lock.unlock();
      lane.searches.run(joining, step);
      lock.lock();
    } catch (...) {  // no memory even for what keeps the books
      if (!lock.owns_lock()) lock.lock();
      fail_all(lane, joining, step);
    }
    settle(step);
  }
  lane.driven = false;
  --driven_;
  if (own != nullptr && own->remaining == 0) hand_over(lock, lane);
}

/// Called while handling what ended a lane's step: with it ends whatever had part in it.
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

/// Its keeper drives on, who does not stop for an answer of its own: a thread that has to be woken
/// for each would leave the lane to itself meanwhile, long where others want the cores.
void SearchQueue::State::hand_over(Lock& lock, Lane& lane) {
  if (lane.searches.empty() && !somebody_waits()) return;
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

void SearchQueue::State::stop_those_asked() {
  for (QueuedRequest* one : requests_) {
    if (one->stop != nullptr && *one->stop && !one->cancelled) give_up(*one);
  }
}

/// What of it runs leaves at its lane's next step, what waits now.
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

/// Those that join a lane now: a sentence of each client in turn, while there is room.
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

SearchQueue::SearchQueue(Ensemble models, Capacity room)
    : models_(std::move(models)),
      room_(room),
      state_(new State(models_, room)),
      process_(getpid()) {}

SearchQueue::~SearchQueue() {
  // The parent's threads are not here to leave a state that a child has inherited.
  if (process_ == getpid()) delete state_.load();
}

/// What the parent's threads were at stays as it is, and as long as the child.
SearchQueue::State& SearchQueue::state() {
  static std::mutex after_fork;
  if (process_ != getpid()) {
    const std::lock_guard lock(after_fork);
    if (process_ != getpid()) {
      state_ = new State(models_, room_);
      process_ = getpid();
    }
  }
  return *state_;
}

BatchHistogram SearchQueue::sizes() const {
  return state_.load()->sizes();
}

SearchResults SearchQueue::search(const PackedTokens& source, const DecodeConfig& decode,
                                  const RequestContext& context) {
  if (source.sentences() == 0) return {};
  State& state = this->state();
  // A batch that nobody shares has the threads' own way, on which each has its own sentences.
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
