#include "train/run/run_state.h"

#include <fmt/format.h>

#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

Json loss_json(const LossSum& sum) {
  return Json{{"loss", sum.loss}, {"nll", sum.nll}, {"tokens", to_size(sum.tokens)}};
}

class Reader {
 public:
  Reader(const Json& json, const std::string& where, const std::string& prefix)
      : keys_(json, where, prefix) {}

  std::uint64_t whole(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) keys_.fail_type(key, value, "a whole number");
    const auto n = value.get<std::uint64_t>();
    if (!std::in_range<Index>(n)) keys_.fail(key, fmt::format("is {}: no run counts that far", n));
    return n;
  }
  double number(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_number()) keys_.fail_type(key, value, "a number");
    return value.get<double>();
  }
  const Json& at(const std::string& key) {
    const Json* value = keys_.find(key);
    if (value == nullptr) keys_.fail(key, "is missing; the checkpoint is of another version");
    return *value;
  }
  const std::string& where() const { return keys_.where(); }

 private:
  KeyReader keys_;
};

LossSum loss_from(Reader& reader, const std::string& key) {
  Reader sum(reader.at(key), reader.where(), key + ".");
  return {sum.number("loss"), sum.number("nll"), to_index(sum.whole("tokens"))};
}

/// Calls a function for each integer of the state, with its name in JSON.
template <typename State, typename F>
void for_each_count(State& s, F&& f) {
  f("update", s.update);
  f("epoch", s.epoch);
  f("next_batch", s.next_batch);
  f("batches", s.batches);
  f("best_update", s.best_update);
  f("validated_update", s.validated_update);
  f("without_improvement", s.without_improvement);
  f("snapshots", s.snapshots);
  f("log_bytes", s.log_bytes);
  f("probe_bytes", s.probe_bytes);
}

}  // namespace

Json RunState::to_json() const {
  Json json = Json::object();
  for_each_count(*this, [&](const char* key, std::uint64_t value) { json[key] = value; });
  json["since_log"] = loss_json(since_log);
  json["in_epoch"] = loss_json(in_epoch);
  json["best_score"] = best_score ? Json(*best_score) : Json(nullptr);
  return json;
}

RunState RunState::from_json(const Json& json, const std::string& where) {
  Reader reader(json, where, "");
  RunState state;
  for_each_count(state, [&](const char* key, std::uint64_t& value) { value = reader.whole(key); });
  state.since_log = loss_from(reader, "since_log");
  state.in_epoch = loss_from(reader, "in_epoch");
  if (!reader.at("best_score").is_null()) state.best_score = reader.number("best_score");
  return state;
}

double mean_of(double sum, Index tokens) {
  return tokens > 0 ? sum / static_cast<double>(tokens) : 0.0;
}

std::uint64_t epoch_of(const RunState& state) {
  return state.next_batch == 0 && state.epoch > 1 ? state.epoch - 1 : state.epoch;
}

}  // namespace attn
