// Tests experiments: disabled heads and forced weights, in whole sentences and step by step in a
// search; the search tree; and the importance of heads.
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "golden_model.h"
#include "translate/head_importance.h"
#include "translate/intervention.h"
#include "translate/recorder.h"
#include "translate/search/search.h"
#include "translate/search/search_tree.h"

using namespace attn;
using namespace attn::test;

namespace {

const std::vector<int> kSource{5, 6, 7, 8, 0};

DecodeConfig beams(int count) {
  DecodeConfig decode;
  decode.num_beams = count;
  decode.num_return_sequences = count;
  decode.max_new_tokens = 12;
  return decode;
}

struct Pass {
  Matrix hidden;
  AttentionMaps maps[3];
};

struct Changed {
  std::vector<AblatedHead> without;
  std::vector<ForcedWeight> forced;
};

Pass forward(const Transformer& model, const Changed& changed, const std::vector<int>& input) {
  AttentionRecorder recorder;
  Intervention intervention(changed.without, changed.forced, &recorder);
  const EncodedSource encoded = model.encode(pack({kSource}), &intervention);
  Pass pass;
  pass.hidden = model.decode(pack({input}), encoded, &intervention);
  for (int kind = 0; kind < 3; ++kind) {
    pass.maps[kind] = recorder.take(at(attention_sites, kind), 0);
  }
  return pass;
}

std::vector<int> input_of(const Transformer& model, const std::vector<int>& ids) {
  std::vector<int> input{model.config().decoder_start_token_id};
  input.insert(input.end(), ids.begin(), ids.end() - 1);
  return input;
}

}  // namespace

TEST_CASE("an intervention that changes nothing changes no bit") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    const std::vector<int> input{model.config().decoder_start_token_id, 9, 10};
    const EncodedSource plain = model.encode(pack({kSource}));
    CHECK(model.decode(pack({input}), plain) == forward(model, {}, input).hidden);
    Intervention nothing({}, {});
    for (const int count : {1, 3}) {
      const SearchResults expected = search(model, pack({kSource}), beams(count));
      const SearchResults found = search(model, pack({kSource}), beams(count), {nullptr, &nothing});
      REQUIRE(found[0].size() == expected[0].size());
      for (std::size_t i = 0; i < found[0].size(); ++i) {
        CHECK(found[0][i].ids == expected[0][i].ids);
        CHECK(found[0][i].score == expected[0][i].score);
      }
    }
  }
}

TEST_CASE("a head that is off hands over nothing, and the others work on") {
  const GoldenModel golden("marian-2-heads-toy");
  const Transformer& model = golden.model.transformer;
  const std::vector<int> input{model.config().decoder_start_token_id, 9, 10};
  const Pass before = forward(model, {}, input);
  for (int kind = 0; kind < 3; ++kind) {
    const Pass after = forward(model, {{{at(attention_sites, kind), 0, 1}}, {}}, input);
    for (const float weight : after.maps[kind].map(0, 1)) CHECK(weight == 0);
    // The other head of the same layer reads the same input, so it does not change.
    const auto other = after.maps[kind].map(0, 0), was = before.maps[kind].map(0, 0);
    CHECK(std::equal(other.begin(), other.end(), was.begin(), was.end()));
    CHECK(after.hidden != before.hidden);
  }
  const Pass layer = forward(model, {{{AttentionSite::cross, 1, std::nullopt}}, {}}, input);
  for (int head = 0; head < layer.maps[2].heads; ++head) {
    for (const float weight : layer.maps[2].map(1, head)) CHECK(weight == 0);
  }
}

TEST_CASE("a forced weight is 1 at its key, in its row alone") {
  const GoldenModel golden("marian-2-heads-toy");
  const Transformer& model = golden.model.transformer;
  const std::vector<int> input{model.config().decoder_start_token_id, 9, 10};
  const Pass before = forward(model, {}, input);
  for (int kind = 0; kind < 3; ++kind) {
    const AttentionSite k = at(attention_sites, kind);
    const Pass after = forward(model, {{}, {{k, 0, 1, 2, 1}}}, input);
    const AttentionMaps& maps = after.maps[kind];
    for (int q = 0; q < maps.queries; ++q) {
      for (int j = 0; j < maps.keys; ++j) {
        const float expected = q == 2 ? (j == 1 ? 1.0F : 0.0F) : before.maps[kind].at(0, 1, q, j);
        CHECK(maps.at(0, 1, q, j) == expected);
      }
    }
  }
}

TEST_CASE("a search under a change agrees with scoring its result under the same change") {
  for (const char* name : {"marian-2-heads-toy", "pegasus-3-heads-untied", "marian-6-heads-gelu"}) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    const Changed changes[] = {{{{AttentionSite::cross, 0, 0}}, {}},
                               {{{AttentionSite::encoder_self, 0, 0}}, {}},
                               {{}, {{AttentionSite::cross, 0, 0, 2, 1}}},
                               {{}, {{AttentionSite::decoder_self, 0, 0, 3, 1}}},
                               {{}, {{AttentionSite::encoder_self, 0, 0, 1, 3}}}};
    for (const Changed& changed : changes) {
      for (const int count : {1, 4}) {
        Intervention intervention(changed.without, changed.forced);
        const SearchResults found =
            search(model, pack({kSource}), beams(count), {nullptr, &intervention});
        const SearchHypothesis& best = found[0][0];
        if (best.ids.size() == 12) continue;  // a forced end counts as 0 in the search's score
        const Pass pass = forward(model, changed, input_of(model, best.ids));
        Matrix logits(pass.hidden.rows(), model.config().decoder_vocab_size);
        model.logits(pass.hidden, logits);
        float sum = 0;
        for (const float value : log_probabilities(logits, best.ids)) sum += value;
        CHECK(best.score * static_cast<float>(best.ids.size()) ==
              doctest::Approx(sum).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("forced weights that never meet their query or key change nothing") {
  const GoldenModel golden("marian-2-heads-toy");
  const Transformer& model = golden.model.transformer;
  const auto encoded = [&](int query, int key) {
    Intervention intervention({}, {{AttentionSite::encoder_self, 0, 0, query, key}});
    return model.encode(pack({kSource}), &intervention).rows;
  };
  const Matrix plain = model.encode(pack({kSource})).rows;
  CHECK(encoded(99, 2) == plain);
  CHECK(encoded(1, 99) == plain);
  CHECK(encoded(1, 2) != encoded(1, 3));
}

TEST_CASE("the search's tree holds its results, and each node the maps of its step") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    const DecodeConfig decode = beams(3);
    SearchTreeTrace trace(decode);
    const SearchResults found = search(model, pack({kSource}), decode, {&trace, nullptr});
    const SearchTree tree = trace.take();
    CHECK(tree.beams == 3);
    // Every result is a path that ends, with its score.
    for (const SearchHypothesis& hypothesis : found[0]) {
      bool there = false;
      for (std::size_t n = 0; n < tree.nodes.size() && !there; ++n) {
        if (!tree.nodes[n].ended || tree.nodes[n].score != hypothesis.score) continue;
        std::vector<int> ids;
        for (int node = to_int(n); node >= 0; node = at(tree.nodes, node).parent) {
          ids.insert(ids.begin(), at(tree.nodes, node).id);
        }
        there = ids == hypothesis.ids;
      }
      CHECK(there);
    }
    int kept_of_step = 0, step = 0;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      const SearchNode& node = tree.nodes[n];
      CHECK(node.parent < to_int(n));
      if (node.step != step) {
        CHECK(kept_of_step <= 3);
        kept_of_step = 0;
        step = node.step;
      }
      kept_of_step += node.kept ? 1 : 0;
      CHECK(!(node.kept && node.ended));
      if (node.parent < 0) {
        CHECK(node.step == 0);
        continue;
      }
      const SearchNode& parent = at(tree.nodes, node.parent);
      CHECK(parent.kept);
      CHECK(parent.step == node.step - 1);
      CHECK(node.sum == doctest::Approx(parent.sum + node.log_prob));
    }
  }
}

TEST_CASE("vectors give back the weights they were recorded with") {
  for (const std::string& name : full_golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    VectorRecorder recorder(true);
    const EncodedSource encoded = model.encode(pack({kSource}), &recorder);
    model.decode(pack({{model.config().decoder_start_token_id, 9, 10}}), encoded, &recorder);
    for (int kind = 0; kind < 3; ++kind) {
      const AttentionMaps maps = recorder.take(at(attention_sites, kind), 0);
      const AttentionVectors v = recorder.take_vectors(at(attention_sites, kind));
      REQUIRE(v.query.rows == maps.queries);
      REQUIRE(v.key.rows == maps.keys);
      REQUIRE(v.value.rows == maps.keys);
      REQUIRE(v.query.values.size() ==
              to_size(maps.layers * maps.heads * maps.queries * v.query.columns));
      for (int l = 0; l < maps.layers; ++l) {
        for (int h = 0; h < maps.heads; ++h) {
          for (int q = 0; q < maps.queries; ++q) {
            std::vector<double> e;
            double total = 0;
            for (int k = 0; k < maps.keys; ++k) {
              double dot = 0;
              for (int c = 0; c < v.query.columns; ++c) {
                dot += static_cast<double>(at(v.query.row(l, h, q), c)) *
                       static_cast<double>(at(v.key.row(l, h, k), c));
              }
              double score = dot * static_cast<double>(v.scale);
              if (!v.relative_bias.values.empty()) {
                score +=
                    static_cast<double>(at(v.relative_bias.row(l, h, 0), k - q + maps.keys - 1));
              }
              e.push_back(kind == 1 && k > q ? 0 : std::exp(score));
              total += e.back();
            }
            for (int k = 0; k < maps.keys; ++k) {
              CHECK(at(e, k) / total ==
                    doctest::Approx(static_cast<double>(maps.at(l, h, q, k))).epsilon(1e-3));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("what a head is worth is what the references lose without it") {
  const GoldenModel golden("marian-2-heads-toy");
  const Transformer& model = golden.model.transformer;
  const std::vector<ReferencePair> pairs{{kSource, {9, 10, 0}}, {{6, 0}, {11, 12, 13, 0}}};
  std::size_t heard = 0;
  const HeadImportanceReport report =
      head_importance(model, pairs, [&](std::size_t done, std::size_t) { heard = done; });
  const ModelConfig& config = model.config();
  const auto heads = to_size(config.encoder_layers * config.encoder_heads +
                             2 * config.decoder_layers * config.decoder_heads);
  CHECK(report.heads.size() == heads);
  CHECK(heard == heads + 1);
  CHECK(report.tokens == 7);
  const auto mean = [&](const Changed& changed) {
    double sum = 0;
    for (const ReferencePair& pair : pairs) {
      Intervention intervention(changed.without, changed.forced);
      const EncodedSource encoded = model.encode(pack({pair.source}), &intervention);
      const Matrix hidden =
          model.decode(pack({input_of(model, pair.target)}), encoded, &intervention);
      Matrix logits(hidden.rows(), config.decoder_vocab_size);
      model.logits(hidden, logits);
      for (const float value : log_probabilities(logits, pair.target))
        sum += static_cast<double>(value);
    }
    return sum / 7;
  };
  CHECK(report.log_prob == doctest::Approx(mean({})));
  for (std::size_t i = 0; i < report.heads.size(); ++i) {
    const HeadImportance& h = report.heads[i];
    CHECK(h.log_prob == doctest::Approx(mean({{{h.site, h.layer, h.head}}, {}})));
    if (i > 0) CHECK(h.log_prob >= report.heads[i - 1].log_prob);
  }
}
