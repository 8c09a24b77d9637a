// Tests the data besides weights in records of linformer, performer and lsh: the forward pass's
// own numbers, and the results of the formulas for its queries and keys in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "model/small_training.h"
#include "model/transformer.h"
#include "record/attention_maps.h"
#include "translate/recorder.h"

using namespace attn;
using attn::test::small_pre_norm_config;

namespace {

struct RecordedKind {
  Transformer model;
  AttentionMaps maps;
  AttentionVectors vectors;
  EncodedSource encoded;
  int tokens;
};

RecordedKind record_kind(PatternType type, int tokens) {
  ModelConfig c = small_pre_norm_config();
  c.max_positions = 1200;
  AttentionPattern& p = c.encoder_attention;
  p.type = type;
  p.rank = 6;
  p.block_size = 8;
  p.rounds = 3;
  p.buckets = 6;
  Transformer model = random_model(c, 3, default_backend());
  std::vector<int> ids(to_size(tokens));
  for (std::size_t t = 0; t < ids.size(); ++t) ids[t] = to_int((t * 7 + t / 9) % 30 + 1);
  PackedTokens source;
  source.add(ids);
  VectorRecorder recorder(true);
  EncodedSource encoded = model.encode(source, &recorder);
  CHECK(encoded.rows == model.encode(source).rows);  // recording does not change any bit
  AttentionMaps maps = recorder.take(AttentionSite::encoder_self, 0);
  REQUIRE(maps.approximation.has_value());
  return {std::move(model), std::move(maps), recorder.take_vectors(AttentionSite::encoder_self),
          std::move(encoded), tokens};
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

/// Returns the scores of a query with all keys, in double precision.
std::vector<double> scores_of(const RecordedKind& kind, int layer, int head, int query) {
  std::vector<double> scores;
  for (int key = 0; key < kind.vectors.key.rows; ++key) {
    scores.push_back(
        dot(kind.vectors.query.row(layer, head, query), kind.vectors.key.row(layer, head, key)) *
        static_cast<double>(kind.vectors.scale));
  }
  return scores;
}

std::vector<double> softmax_of(std::vector<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
  return scores;
}

double farthest(std::span<const float> found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(found[i]) - expected[i]));
  }
  return std::isnan(most) ? INFINITY : most;
}

}  // namespace

TEST_CASE("linformer's record: weights of mixtures, and the model's own rows of E and F") {
  const RecordedKind kind = record_kind(PatternType::linformer, 20);
  const AttentionMaps& maps = kind.maps;
  CHECK(maps.has_projected_keys());
  CHECK(maps.queries == 20);
  CHECK(maps.keys == 6);
  CHECK(kind.vectors.key.rows == 6);
  for (int layer = 0; layer < maps.layers; ++layer) {
    const ExtraAttentionParameters& own =
        at(kind.model.parameters().encoder_layers, layer).self_attention.extras;
    for (int token = 0; token < 20; ++token) {
      for (int c = 0; c < 6; ++c) {
        const auto i = to_size(token * 6 + c);
        CHECK(maps.projection(layer, false)[i] == own.key_projection.at(token, c));
        CHECK(maps.projection(layer, true)[i] == own.value_projection.at(token, c));
      }
    }
    for (int head = 0; head < maps.heads; ++head) {
      for (int query = 0; query < 20; ++query) {
        const auto row = maps.map(layer, head).subspan(to_size(query) * 6, 6);
        CHECK(farthest(row, softmax_of(scores_of(kind, layer, head, query))) < 1e-6);
      }
    }
  }
}

TEST_CASE("performer's record: the exact weights of the same queries and keys beside the others") {
  const RecordedKind kind = record_kind(PatternType::performer, 20);
  const AttentionMaps& maps = kind.maps;
  CHECK(maps.approximation->type == ApproximationType::performer);
  double apart = 0;
  for (int layer = 0; layer < maps.layers; ++layer) {
    for (int head = 0; head < maps.heads; ++head) {
      const std::span<const float> exact = maps.exact(layer, head);
      for (int query = 0; query < 20; ++query) {
        const auto row = exact.subspan(to_size(query) * 20, 20);
        CHECK(farthest(row, softmax_of(scores_of(kind, layer, head, query))) < 1e-6);
      }
      for (std::size_t i = 0; i < exact.size(); ++i) {
        apart = std::max(apart, static_cast<double>(std::abs(exact[i] - maps.map(layer, head)[i])));
      }
    }
  }
  CHECK(apart > 1e-3);  // the weights are those implied by the features
  // For large maps, exact weights would double the size.
  CHECK(record_kind(PatternType::performer, 1025).maps.approximation->exact.empty());
}

TEST_CASE("lsh's record: tokens in the order of their buckets, and who met the best key") {
  const RecordedKind kind = record_kind(PatternType::lsh, 45);
  const AttentionMaps& maps = kind.maps;
  int missed = 0;
  for (int place = 0; place < maps.layers * maps.heads; ++place) {
    const int layer = place / maps.heads, head = place % maps.heads;
    const RecordedLshHead& hashed = *maps.hashed(layer, head);
    const LshBuckets& order = hashed.order;
    CHECK(order.chunk == 8);
    REQUIRE(order.order.size() == 3);
    REQUIRE(order.buckets.size() == 3);
    std::vector<std::vector<bool>> met(45, std::vector<bool>(45));
    const auto chunks = [&](std::size_t round) {
      std::vector<std::vector<std::int32_t>> cut;
      for (std::size_t i = 0; i < 45; ++i) {
        if (i % 8 == 0) cut.emplace_back();
        cut.back().push_back(order.order[round][i]);
      }
      return cut;
    };
    for (std::size_t round = 0; round < 3; ++round) {
      std::vector<std::int32_t> sorted(45);
      for (std::size_t i = 0; i < 45; ++i) sorted[i] = to_int(i);
      std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
        return at(order.buckets[round], a) < at(order.buckets[round], b);
      });
      CHECK(order.order[round] == sorted);
      const auto cut = chunks(round);
      for (std::size_t c = 0; c < cut.size(); ++c) {
        const auto before = c > 0 ? cut[c - 1] : chunks((round + 2) % 3).back();
        for (const std::int32_t query : cut[c]) {
          for (const std::int32_t key : cut[c]) at(at(met, query), key) = true;
          for (const std::int32_t key : before) at(at(met, query), key) = true;
        }
      }
    }
    const LshRecall found = lsh_recall(maps, layer, head);
    int count = 0;
    for (int query = 0; query < 45; ++query) {
      std::vector<double> scores = scores_of(kind, layer, head, query);
      at(scores, query) = -INFINITY;
      const int best = at(hashed.best, query);
      const double largest = *std::max_element(scores.begin(), scores.end());
      CHECK(at(scores, best) > largest - 1e-5);
      CHECK((at(found.found, query) == 1) == at(at(met, query), best));
      count += at(at(met, query), best) ? 1 : 0;
      const std::vector<double> exact = softmax_of(scores);
      double mass = 0;
      for (int key = 0; key < 45; ++key) mass += at(at(met, query), key) ? at(exact, key) : 0;
      CHECK(static_cast<double>(at(hashed.mass, query)) == doctest::Approx(mass).epsilon(1e-5));
      // The recorded cells are those whose query and key were compared.
      std::size_t cells = 0;
      for (const CellRun& run : maps.pattern_cells_of(layer, head)->row(query)) {
        for (int key = run.first; key < run.end; ++key) CHECK(at(at(met, query), key));
        cells += to_size(run.end - run.first);
      }
      CHECK(cells == to_size(std::count(at(met, query).begin(), at(met, query).end(), true)));
    }
    CHECK(found.found_count() == count);
    CHECK(found.of == 45);
    missed += 45 - count;
  }
  CHECK(missed > 0);
}

TEST_CASE("lsh's record of a sentence of one chunk, and of one token") {
  const RecordedKind few = record_kind(PatternType::lsh, 5);
  const RecordedLshHead& hashed = *few.maps.hashed(0, 0);
  CHECK(hashed.order.buckets.empty());
  CHECK(hashed.order.chunk == 5);
  CHECK(hashed.order.order == std::vector<std::vector<std::int32_t>>{{0, 1, 2, 3, 4}});
  CHECK(lsh_recall(few.maps, 0, 0).share() == 1.0F);
  CHECK(lsh_recall(few.maps, 0, 0).mass == doctest::Approx(1));
  const RecordedKind one = record_kind(PatternType::lsh, 1);
  CHECK(one.maps.hashed(0, 0)->best == std::vector<int>{-1});
  CHECK(one.maps.hashed(0, 0)->mass == std::vector<float>{1});
  CHECK_FALSE(lsh_recall(one.maps, 0, 0).share().has_value());
}
