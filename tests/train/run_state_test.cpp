#include "train/run/run_state.h"

#include <doctest/doctest.h>

#include "check_error.h"
#include "train/run/run_ownership.h"

namespace attn::test {
namespace {

RunState some_state() {
  RunState state;
  state.update = 1'000'000'000'000;
  state.epoch = 3;
  state.next_batch = 17;
  state.batches = 2001;
  state.since_log = {0.1 + 0.2, 1.0 / 3.0, 12345};
  state.in_epoch = {1e300, 5e-324, 0};
  state.best_score = -2.0 / 3.0;
  state.best_update = 4;
  state.validated_update = 5;
  state.without_improvement = 6;
  state.snapshots = 7;
  state.log_bytes = 8;
  state.probe_bytes = 9;
  return state;
}

/// Writes the state as text and reads it, as in a checkpoint's header.
RunState round_trip(const RunState& state) {
  return RunState::from_json(Json::parse(state.to_json().dump()), "where");
}

Json changed(const std::string& key, const Json& value) {
  Json json = some_state().to_json();
  json[key] = value;
  return json;
}

void refuse(const Json& json, const std::string& part) {
  check_error([&] { RunState::from_json(json, "file"); }, ExitCode::input, part);
}

}  // namespace

TEST_CASE("a run's state goes through JSON to the last bit") {
  const RunState state = some_state();
  const RunState again = round_trip(state);
  CHECK(again.update == state.update);
  CHECK(again.epoch == 3);
  CHECK(again.next_batch == 17);
  CHECK(again.batches == 2001);
  CHECK(again.since_log.loss == state.since_log.loss);
  CHECK(again.since_log.nll == state.since_log.nll);
  CHECK(again.since_log.tokens == 12345);
  CHECK(again.in_epoch.loss == 1e300);
  CHECK(again.in_epoch.nll == 5e-324);
  REQUIRE(again.best_score.has_value());
  CHECK(*again.best_score == *state.best_score);
  CHECK(again.best_update == 4);
  CHECK(again.validated_update == 5);
  CHECK(again.without_improvement == 6);
  CHECK(again.snapshots == 7);
  CHECK(again.log_bytes == 8);
  CHECK(again.probe_bytes == 9);
  CHECK_FALSE(round_trip(RunState()).best_score.has_value());
  CHECK(round_trip(RunState()).epoch == 1);
}

TEST_CASE("what is no run's state is refused by its key") {
  refuse(changed("update", -1), "file: update");
  refuse(changed("epoch", 1.5), "epoch");
  refuse(changed("snapshots", "3"), "snapshots");
  refuse(changed("best_score", "good"), "best_score");
  refuse(changed("since_log", 3), "since_log");
  refuse(changed("in_epoch", {{"loss", 1.0}, {"nll", 1.0}}), "in_epoch.tokens is missing");
  constexpr std::uint64_t kBeyond = std::uint64_t{1} << 63;  // too large for Index
  refuse(changed("in_epoch", {{"loss", 1.0}, {"nll", 1.0}, {"tokens", kBeyond}}),
         "in_epoch.tokens is 9223372036854775808: no run counts that far");
  refuse(changed("log_bytes", kBeyond), "log_bytes is 9223372036854775808");
  const Json whole = some_state().to_json();
  for (const auto& [key, value] : whole.items()) {
    Json json = some_state().to_json();
    json.erase(key);
    refuse(json, "is missing; the checkpoint is of another version");
  }
  refuse(Json::array(), "file");
}

TEST_CASE("the first difference of two identities is a clause") {
  const Json before = {{"train", {{"seed", 1}, {"rate", 0.5}}}, {"probe", "We went"}};
  CHECK(first_difference(before, before) == "");
  Json now = before;
  now["train"]["seed"] = 2;
  CHECK(first_difference(before, now) == "train.seed was 1 and is 2");
  now = before;
  now["probe"] = "";
  CHECK(first_difference(before, now) == "probe was \"We went\" and is \"\"");
  now = before;
  now["data"] = {{"dev", "x"}};
  CHECK(first_difference(before, now) == "data was null and is {\"dev\":\"x\"}");
  now = before;
  now["train"].erase("rate");
  CHECK(first_difference(before, now) == "train.rate was 0.5 and is null");
  CHECK(first_difference({{"a", 1}}, {{"a", 1.0}}) == "");
  CHECK(first_difference({{"a", {{"b", {{"c", 1}}}}}}, {{"a", {{"b", {{"c", 2}}}}}}) ==
        "a.b.c was 1 and is 2");
  CHECK(first_difference({{"x", 1}, {"y", 2}}, {{"y", 2}, {"x", 1}}) == "");
}

}  // namespace attn::test
