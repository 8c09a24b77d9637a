// Tests sentences that join and leave between the decoder's steps: each has the same bits as
// alone.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "base/at.h"
#include "model/incremental_decoder.h"
#include "model/row_allocator.h"
#include "model/transformer.h"
#include "small_training.h"

using namespace attn;
using namespace attn::test;

namespace {

/// A sentence with its hypotheses' tokens, and the order in which they fork.
struct Guest {
  std::vector<int> source;
  SlotSize size;
  std::vector<std::vector<int>> tokens;     ///< tokens of each step, one per hypothesis
  std::vector<std::vector<Index>> parents;  ///< parents by index within the sentence
};

Guest random_guest(std::mt19937& random, Index hypotheses, Index steps) {
  const auto pick = [&](Index below) { return to_index(random() % to_size(below)); };
  Guest guest{{}, {hypotheses, steps}, {}, {}};
  for (Index i = 0; i < 2 + pick(5); ++i) guest.source.push_back(to_int(1 + pick(28)));
  guest.source.push_back(0);
  for (Index step = 0; step < steps; ++step) {
    guest.tokens.emplace_back();
    guest.parents.emplace_back();
    for (Index h = 0; h < hypotheses; ++h) {
      guest.tokens.back().push_back(to_int(1 + pick(28)));
      guest.parents.back().push_back(pick(hypotheses));
    }
  }
  return guest;
}

/// The sentences in the decoder, and the results of each so far.
struct House {
  struct Inside {
    const Guest* guest;
    Index slot;
    Index step = 0;
    Index first = 0;  ///< first of its rows in the previous step
    Index leaves;     ///< leaves after this many steps
  };

  explicit House(const Transformer& model) : model_(model), decoder_(model) {}

  void let_in(const std::vector<const Guest*>& guests) {
    PackedTokens source;
    std::vector<SlotSize> sizes;
    for (const Guest* guest : guests) {
      source.add(guest->source);
      sizes.push_back(guest->size);
    }
    const std::vector<Index> slots = decoder_.add_sentences(model_.encode(source), sizes);
    for (std::size_t i = 0; i < guests.size(); ++i) {
      inside_.push_back({guests[i], slots[i], 0, 0, guests[i]->size.steps});
    }
  }

  void step() {
    std::vector<int> tokens;
    std::vector<Index> parents, slots;
    for (Inside& one : inside_) {
      const Index first = std::ssize(tokens);
      for (Index h = 0; h < one.guest->size.hypotheses; ++h) {
        tokens.push_back(at(at(one.guest->tokens, one.step), h));
        parents.push_back(one.first + at(at(one.guest->parents, one.step), h));
        slots.push_back(one.slot);
      }
      one.first = first;
    }
    const Matrix logits = decoder_.step(tokens, parents, slots);
    for (Inside& one : inside_) {
      Matrix& got = seen_[one.guest];
      const Index rows = one.guest->size.hypotheses;
      got.conservativeResize(got.rows() + rows, logits.cols());
      got.bottomRows(rows) = logits.middleRows(one.first, rows);
      ++one.step;
    }
    std::erase_if(inside_, [&](const Inside& one) {
      if (one.step < one.leaves) return false;
      decoder_.remove_sentence(one.slot);
      return true;
    });
  }

  bool empty() const { return inside_.empty(); }
  Inside& youngest() { return inside_.back(); }
  const Matrix& seen(const Guest& guest) { return seen_[&guest]; }

 private:
  const Transformer& model_;
  IncrementalDecoder decoder_;
  std::vector<Inside> inside_;
  std::map<const Guest*, Matrix> seen_;
};

Matrix alone(const Transformer& model, const Guest& guest) {
  House house(model);
  house.let_in({&guest});
  while (!house.empty()) house.step();
  return house.seen(guest);
}

ModelConfig config_of(PatternType type) {
  ModelConfig c = small_pre_norm_config();
  c.max_positions = 200;
  AttentionPattern& p = c.decoder_attention;
  p.type = type;
  p.windows = {8, 4};
  p.stride = 8;
  p.summary = 2;
  return c;
}

void check_company(const ModelConfig& config) {
  const Transformer model = random_model(config, 3, default_backend());
  std::mt19937 random(11);
  std::vector<Guest> guests;
  for (const Index steps : {30, 9, 14, 60, 5, 21, 1, 33}) {
    guests.push_back(random_guest(random, 1 + to_index(random() % 4), steps));
  }
  House house(model);
  house.let_in({guests.data(), &guests[1]});
  for (int i = 0; i < 4; ++i) house.step();
  house.let_in({&guests[2]});
  house.youngest().leaves = 3;  // its answer is no longer needed
  for (int i = 0; i < 7; ++i) house.step();
  house.let_in(
      {&guests[3], &guests[4], &guests[5]});  // take the rows of the second and third, and more
  for (int i = 0; i < 6; ++i) house.step();
  house.let_in({&guests[6], &guests[7]});
  while (!house.empty()) house.step();
  for (const Guest& guest : guests) {
    CAPTURE(&guest - guests.data());
    const Matrix& seen = house.seen(guest);
    CHECK(seen == alone(model, guest).topRows(seen.rows()));
    const Index steps = &guest == &guests[2] ? 3 : guest.size.steps;
    CHECK(seen.rows() == guest.size.hypotheses * steps);
  }
}

}  // namespace

TEST_CASE("slots: a sentence that joins others between steps has the bits that it has alone") {
  using enum PatternType;
  for (const PatternType type : {full, window, sparse_strided, sparse_fixed, performer}) {
    CAPTURE(pattern_name(type));
    check_company(config_of(type));
  }
}

TEST_CASE("slots: biases of distances grow with the longest sentence that has joined") {
  ModelConfig config = small_pre_norm_config();
  config.relative.buckets = 8;
  config.relative.max_distance = 20;
  check_company(config);
}

TEST_CASE("slots: who asks for more than was reserved has made a mistake") {
  const Transformer model = random_model(small_pre_norm_config(), 3, default_backend());
  PackedTokens source;
  source.add(std::vector<int>{4, 9, 0});
  IncrementalDecoder decoder(model);
  const std::vector<Index> slots =
      decoder.add_sentences(model.encode(source), std::vector<SlotSize>{{1, 2}});
  REQUIRE(slots == std::vector<Index>{0});
  const std::vector<int> token{3};
  const std::vector<Index> row{0};
  decoder.step(token, row, slots);
  CHECK_THROWS_AS(
      decoder.step(std::vector<int>{3, 4}, std::vector<Index>{0, 0}, std::vector<Index>{0, 0}),
      std::logic_error);
  decoder.step(token, row, slots);
  CHECK_THROWS_AS(decoder.step(token, row, slots), std::logic_error);
  decoder.remove_sentence(0);
  CHECK_THROWS_AS(decoder.step(token, row, slots), std::logic_error);
}

TEST_CASE("rows: gaps are taken from the first on, and join when their rows come back") {
  RowAllocator rows;
  CHECK(rows.allocate(10) == 0);
  CHECK(rows.allocate(5) == 10);
  CHECK(rows.allocate(7) == 15);
  CHECK(rows.rows() == 22);
  rows.release(10, 5);
  CHECK(rows.allocate(6) == 22);  // the gap is too small
  CHECK(rows.allocate(2) == 10);
  CHECK(rows.allocate(0) <= rows.rows());
  rows.release(0, 10);
  rows.release(10, 2);
  CHECK(rows.allocate(15) == 0);  // three adjacent pieces
  rows.release(22, 6);
  CHECK(rows.allocate(9) == 22);  // the last gap grows
  CHECK(rows.rows() == 31);
  rows.release(22, 9);
  rows.release(0, 8);
  rows.release(15, 7);
  rows.release(8, 7);
  CHECK(rows.allocate(31) == 0);
  CHECK(rows.rows() == 31);
}

TEST_CASE("rows: nobody gets what somebody has, whoever comes and goes") {
  RowAllocator rows;
  std::mt19937 random(5);
  std::map<Index, Index> taken;
  std::vector<int> owner;
  for (int i = 0; i < 4000; ++i) {
    if (!taken.empty() && random() % 2 == 0) {
      const auto one = std::next(taken.begin(), to_index(random() % taken.size()));
      for (Index r = 0; r < one->second; ++r) at(owner, one->first + r) = 0;
      rows.release(one->first, one->second);
      taken.erase(one);
      continue;
    }
    const auto count = to_index(1 + random() % 40);
    const Index first = rows.allocate(count);
    owner.resize(to_size(rows.rows()), 0);
    for (Index r = 0; r < count; ++r) REQUIRE(at(owner, first + r)++ == 0);
    taken.emplace(first, count);
  }
  for (const auto& one : taken) rows.release(one.first, one.second);
  CHECK(rows.allocate(rows.rows()) == 0);
}
