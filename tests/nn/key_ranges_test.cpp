// Tests the key ranges of every pattern against its definition, cell by cell.
#include "nn/attention/key_ranges.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include "nn/attention/attention.h"
#include "nn/attention/attention_mask.h"

using namespace attn;

namespace {

/// The definitions as documented in key_ranges.h.
using Sees = std::function<bool(Index i, Index j, Index n)>;

struct RangeCase {
  const char* name;
  AttentionPattern pattern;
  Sees sees;
  std::vector<Index> globals = {};
  Index layer = 0;
  bool may_be_causal = false;
  Index origin = 0;
};

bool among(const std::vector<Index>& globals, Index i) {
  return std::find(globals.begin(), globals.end(), i) != globals.end();
}

std::vector<RangeCase> cases() {
  std::vector<RangeCase> all;
  for (const int w : {2, 6, 64, 300}) {
    AttentionPattern p{PatternType::window, {w}};
    all.push_back({"window",
                   p,
                   [w](Index i, Index j, Index) { return std::abs(i - j) <= w / 2; },
                   {},
                   0,
                   true});
    p.type = PatternType::longformer;
    for (const std::vector<Index>& g : {std::vector<Index>{}, {0}, {0, 5, 6, 130}}) {
      all.push_back({"longformer", p,
                     [w, g](Index i, Index j, Index) {
                       return std::abs(i - j) <= w / 2 || among(g, i) || among(g, j);
                     },
                     g});
    }
  }
  for (const Index l : {1, 3, 17, 100}) {
    AttentionPattern p{PatternType::sparse_strided};
    p.stride = static_cast<int>(l);
    all.push_back(
        {"sparse_strided",
         p,
         [l](Index i, Index j, Index) { return std::abs(i - j) <= l || (i - j) % l == 0; },
         {},
         0,
         true});
    p.type = PatternType::sparse_fixed;
    for (const Index c : {Index{1}, (l + 1) / 2, l}) {
      p.summary = static_cast<int>(c);
      all.push_back({"sparse_fixed",
                     p,
                     [l, c](Index i, Index j, Index) { return i / l == j / l || j % l >= l - c; },
                     {},
                     0,
                     true});
    }
  }
  for (const Index b : {1, 4, 50, 400}) {
    for (const Index layer : {0, 1}) {
      AttentionPattern p{PatternType::chunks};
      p.block_size = static_cast<int>(b);
      p.shift = b % 2 == 0;
      const Index shift = p.shift && layer == 1 ? b / 2 : 0;
      for (const std::vector<Index>& g : {std::vector<Index>{}, {0}, {2, 3, 77}}) {
        all.push_back({"chunks", p,
                       [b, g, shift](Index i, Index j, Index) {
                         return (i + shift) / b == (j + shift) / b || among(g, i) || among(g, j);
                       },
                       g, layer});
      }
      const std::vector<Index> first{0, 1, 2};
      all.push_back({"chunks after three rows", p,
                     [b, shift](Index i, Index j, Index) {
                       return i < 3 || j < 3 || (i - 3 + shift) / b == (j - 3 + shift) / b;
                     },
                     first, layer, false, 3});
    }
  }
  for (const int b : {1, 8, 16}) {
    for (const int r : {0, 2}) {
      AttentionPattern p{PatternType::bigbird};
      p.block_size = b;
      p.random_blocks = r;
      p.random_is_seeded = false;
      all.push_back({"bigbird", p, [b, r](Index i, Index j, Index n) {
                       const Index last = (n - 1) / b, own = i / b, other = j / b;
                       return n <= (5 + 2 * r) * b || own == 0 || own == last || other == 0 ||
                              other == last || std::abs(own - other) <= 1;
                     }});
    }
  }
  return all;
}

AttentionShape shape_of(const RangeCase& c) {
  return {AttentionSite::encoder_self, c.layer, 1, 4, 1.0F, &c.pattern};
}

AttentionGroup group_of(const RangeCase& c, Index queries, Index keys, bool causal) {
  return {0, 0, queries, 0, keys, nullptr, {causal, {}}, c.globals, c.origin};
}

}  // namespace

TEST_CASE("a pattern's ranges hold what its definition says, each key once") {
  for (const RangeCase& c : cases()) {
    for (const Index n : {1, 2, 5, 34, 129, 300}) {
      for (const bool causal : {false, true}) {
        if (causal && !c.may_be_causal) continue;
        CAPTURE(c.name);
        CAPTURE(n);
        CAPTURE(causal);
        const AttentionGroup group = group_of(c, n, n, causal);
        Eigen::MatrixXi seen = Eigen::MatrixXi::Zero(n, n);
        Eigen::VectorXi begun = Eigen::VectorXi::Zero(n), ended = begun;
        for (const QueryTile& tile : tiles_of_head(shape_of(c), group, 0)) {
          for (Index r = 0; r < tile.count; ++r) {
            const Index i = tile.first + r * tile.step;
            REQUIRE(i < n);
            REQUIRE(begun(i) == (tile.begins ? 0 : 1));
            begun(i) = 1;
            ended(i) += tile.ends ? 1 : 0;
            for_each_key(tile, r, c.globals, [&](Index j, const KeyRange&) {
              REQUIRE(j >= 0);
              REQUIRE(j < n);
              ++seen(i, j);
            });
          }
        }
        CHECK(begun.minCoeff() == 1);
        CHECK(ended.minCoeff() == 1);
        CHECK(ended.maxCoeff() == 1);
        Index wrong = 0;
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            const bool expected = c.sees(i, j, n) && (!causal || j <= i);
            wrong += seen(i, j) == (expected ? 1 : 0) ? 0 : 1;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a cached step sees what its row of the whole sentence sees, in the same order") {
  for (const RangeCase& c : cases()) {
    if (!c.may_be_causal) continue;
    CAPTURE(c.name);
    const Index n = 120;
    std::vector<std::vector<Index>> whole(n);
    for (const QueryTile& tile : tiles_of_head(shape_of(c), group_of(c, n, n, true), 0)) {
      for (Index r = 0; r < tile.count; ++r) {
        for_each_key(tile, r, {}, [&](Index j, const KeyRange&) {
          whole[static_cast<std::size_t>(tile.first + r * tile.step)].push_back(j);
        });
      }
    }
    for (Index i = 0; i < n; ++i) {
      std::vector<Index> step;
      for (const QueryTile& tile : tiles_of_head(shape_of(c), group_of(c, 1, i + 1, true), 0)) {
        CHECK(tile.count == 1);
        for_each_key(tile, 0, {}, [&](Index j, const KeyRange&) { step.push_back(j); });
      }
      CHECK(step == whole[static_cast<std::size_t>(i)]);
    }
  }
}

TEST_CASE("bigbird: as transformers in evaluation, block 0 counts once more for a random block") {
  AttentionPattern p{PatternType::bigbird};
  p.block_size = 8;
  p.random_blocks = 2;
  p.random_is_seeded = false;
  const RangeCase c{"", p, {}};
  const Index n = 8 * 10 + 3;
  const Matrix mask = mask_matrix(shape_of(c), group_of(c, n, n, false), 0);
  for (const Index i : {0, 7, 8, 40, 79, 80, 82}) {
    const bool counts_again = i >= 8 && i < 80;
    CHECK(mask(i, 0) == (counts_again ? std::log(3.0F) : 0.0F));
    CHECK(mask(i, 82) == 0.0F);
  }
  CHECK(mask(40, 56) == kMinusInfinity);
  // (5 + 2 · 2) blocks of 8 see all keys.
  CHECK(mask_matrix(shape_of(c), group_of(c, 72, 72, false), 0).isZero(0.0F));
}

TEST_CASE("bigbird: seeded blocks differ by head, layer and seed, and are never seen twice") {
  AttentionPattern p{PatternType::bigbird};
  p.block_size = 4;
  p.random_blocks = 3;
  const auto drawn = [&](Index layer, Index head) {
    std::set<std::pair<Index, Index>> cells;
    const Index n = 4 * 20;
    for (const QueryTile& tile : query_tiles(p, layer, head, {n, n})) {
      Index random = 0;
      for (const KeyRange& range : tile.ranges) {
        if (range.reason != PatternReason::random) continue;
        ++random;
        CHECK(range.first % 4 == 0);
        CHECK(range.end == range.first + 4);
        CHECK(range.first > 0);
        CHECK(range.end < n);
        CHECK((range.end < tile.first - 3 || range.first > tile.first + 7));
        CHECK(cells.insert({tile.first, range.first}).second);
      }
      CHECK(random == (tile.first == 0 || tile.first == n - 4 ? 0 : 3));
    }
    return cells;
  };
  const auto first = drawn(0, 0);
  CHECK(first == drawn(0, 0));
  CHECK(first != drawn(0, 1));
  CHECK(first != drawn(1, 0));
  p.seed = 2;
  CHECK(first != drawn(0, 0));
}

TEST_CASE("the seen cells of a head are those its mask lets through, in runs that rise") {
  for (const RangeCase& c : cases()) {
    for (const Index n : {1, 5, 34, 129}) {
      for (const bool causal : {false, true}) {
        if (causal && !c.may_be_causal) continue;
        CAPTURE(c.name);
        CAPTURE(n);
        const AttentionGroup group = group_of(c, n, n, causal);
        const Matrix mask = mask_matrix(shape_of(c), group, 0);
        const PatternCells seen = pattern_cells(shape_of(c), group, 0);
        REQUIRE(std::ssize(seen.rows) == n + 1);
        Index wrong = 0;
        for (Index i = 0; i < n; ++i) {
          Index j = 0;
          for (const CellRun& run : seen.row(static_cast<int>(i))) {
            REQUIRE(run.first >= j);
            REQUIRE(run.end > run.first);
            for (; j < run.first; ++j) wrong += mask(i, j) == kMinusInfinity ? 0 : 1;
            for (; j < run.end; ++j) wrong += mask(i, j) != kMinusInfinity ? 0 : 1;
          }
          for (; j < n; ++j) wrong += mask(i, j) == kMinusInfinity ? 0 : 1;
        }
        CHECK(wrong == 0);
        CHECK(static_cast<Index>(seen.count()) == visible_pairs(shape_of(c), group, 0));
      }
    }
  }
}

TEST_CASE("seen cells say why: near, global, drawn, a stride away, in one block") {
  const auto reasons = [](const AttentionPattern& p, const std::vector<Index>& globals, int row) {
    std::string text;
    const RangeCase c{"", p, {}, globals};
    const Index n = 12;
    const PatternCells seen = pattern_cells(shape_of(c), group_of(c, n, n, false), 0);
    for (const CellRun& run : seen.row(row)) {
      text += std::to_string(run.first) + "-" + std::to_string(run.end) + " " +
              std::string(reason_name(run.reason)) + ", ";
    }
    return text;
  };
  AttentionPattern p{PatternType::longformer, {2}};
  CHECK(reasons(p, {0}, 0) == "0-12 global, ");
  CHECK(reasons(p, {0}, 1) == "0-1 global, 1-3 window, ");
  CHECK(reasons(p, {0, 6}, 9) == "0-1 global, 6-7 global, 8-11 window, ");
  p.type = PatternType::sparse_strided;
  p.stride = 4;
  CHECK(reasons(p, {}, 1) == "0-6 window, 9-10 stride, ");
  p.type = PatternType::sparse_fixed;
  CHECK(reasons(p, {}, 5) == "3-4 stride, 4-8 block, 11-12 stride, ");
  p.type = PatternType::chunks;
  p.block_size = 4;
  CHECK(reasons(p, {}, 5) == "4-8 block, ");
  p.type = PatternType::bigbird;
  p.block_size = 1;
  p.random_blocks = 1;
  const std::string drawn = reasons(p, {}, 5);
  CHECK(drawn.find("0-1 global, ") == 0);
  CHECK(drawn.find("4-7 window, ") != std::string::npos);
  CHECK(drawn.find(" random, ") != std::string::npos);
  CHECK(drawn.find("11-12 global, ") != std::string::npos);
}

TEST_CASE("an observer of a cached step does not see what took the place of dropped keys") {
  struct Watch : AttentionObserver {
    Matrix key, value, scores;
    void weights_ready(AttentionHead& head) override {
      key = head.key;
      value = head.value;
      scores = head.scores;
    }
  } watch;
  const AttentionPattern pattern{PatternType::window, {2}};
  const AttentionShape shape{AttentionSite::decoder_self, 0, 1, 2, 1.0F, &pattern};
  const Matrix query = Matrix::Ones(1, 2), rows = Matrix::Constant(3, 4, 7.0F);
  const std::vector<std::int32_t> places{0, 1, 2, 0, 1};  // a cache of three rows, after five steps
  const std::vector<AttentionGroup> groups{{0, 0, 1, 0, 5, places.data(), {true, {}}}};
  Matrix output(1, 2);
  attend(shape, {query, keys_and_values(rows), groups}, output, &watch);
  CHECK(watch.key.topRows(3).isZero());
  CHECK(watch.value.topRows(3).isZero());
  CHECK(watch.scores.leftCols(3).isZero());
  CHECK((watch.key.bottomRows(2).array() == 7.0F).all());
  CHECK((watch.scores.rightCols(2).array() == 14.0F).all());
  CHECK((output.array() == 7.0F).all());
}
