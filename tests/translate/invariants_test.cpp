// Tests invariants of any shape and any weights on random shapes and random models, alternately in
// float32 and int8.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/at.h"
#include "golden_model.h"
#include "model/incremental_decoder.h"
#include "model/transformer.h"
#include "translate/recorder.h"
#include "translate/search/search.h"

using namespace attn;
using namespace attn::test;

namespace {

ModelConfig random_shape(std::mt19937& generator) {
  const auto pick = [&](int low, int high) {
    return low + to_int(generator() % static_cast<unsigned>(high - low + 1));
  };
  ModelConfig c;
  c.encoder_heads = pick(1, 6);
  c.d_model = c.encoder_heads * pick(1, 9);
  do {
    c.decoder_heads = pick(1, 6);
  } while (c.d_model % c.decoder_heads != 0);
  c.encoder_layers = pick(1, 3);
  c.decoder_layers = pick(1, 3);
  c.encoder_ffn_dim = pick(1, 40);
  c.decoder_ffn_dim = pick(1, 40);
  c.activation = static_cast<Activation>(pick(0, 2));
  c.vocab_size = c.decoder_vocab_size = pick(5, 90);
  c.max_positions = 40;
  c.scale_embedding = pick(0, 1) != 0;
  c.static_positions = pick(0, 1) != 0;
  c.tie_word_embeddings = pick(0, 1) != 0;
  c.normalize_before = pick(0, 1) != 0;
  c.add_final_layer_norm = pick(0, 1) != 0;
  c.normalize_embedding = pick(0, 1) != 0;
  c.scale_attention = pick(0, 1) != 0;
  c.pad_token_id = c.decoder_start_token_id = c.vocab_size - 1;
  return c;
}

std::vector<int> random_sentence(std::mt19937& generator, const ModelConfig& c, int most) {
  std::vector<int> ids;
  const auto length = 1 + generator() % static_cast<unsigned>(most);
  for (unsigned i = 1; i < length; ++i) {
    ids.push_back(to_int(generator() % static_cast<unsigned>(c.vocab_size - 1)));
  }
  ids.push_back(c.eos_token_id);
  return ids;
}

Matrix logits_of(const Transformer& model, const PackedTokens& target, const EncodedSource& source,
                 AttentionObserver* observer = nullptr) {
  const Matrix hidden = model.decode(target, source, observer);
  Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
  model.logits(hidden, logits);
  return logits;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), to_size(a.size()) * sizeof(float)) == 0;
}

struct Trial {
  ModelConfig config;
  Transformer model;
  std::vector<std::vector<int>> sources;
  std::vector<std::vector<int>> targets;
};

Trial make_trial(unsigned seed) {
  std::mt19937 generator(seed);
  const ModelConfig config = random_shape(generator);
  const Backend backend = seed % 2 == 0 ? default_backend() : Backend::int8;
  Trial trial{config, random_model(config, seed, backend), {}, {}};
  for (int i = 0; i < 4; ++i) {
    trial.sources.push_back(random_sentence(generator, config, 12));
    trial.targets.push_back(random_sentence(generator, config, 12));
    trial.targets.back().insert(trial.targets.back().begin(), config.decoder_start_token_id);
  }
  return trial;
}

}  // namespace

TEST_CASE("rows sum to 1, masked cells are 0, and recording changes no bit") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Trial t = make_trial(seed);
    AttentionRecorder recorder;
    const EncodedSource plain = t.model.encode(pack(t.sources));
    const EncodedSource seen = t.model.encode(pack(t.sources), &recorder);
    CHECK(same_bits(plain.rows, seen.rows));
    CHECK(same_bits(logits_of(t.model, pack(t.targets), plain),
                    logits_of(t.model, pack(t.targets), seen, &recorder)));
    for (const AttentionSite kind :
         {AttentionSite::encoder_self, AttentionSite::decoder_self, AttentionSite::cross}) {
      for (Index s = 0; s < 4; ++s) {
        const AttentionMaps maps = recorder.take(kind, s);
        for (int l = 0; l < maps.layers; ++l) {
          for (int h = 0; h < maps.heads; ++h) {
            for (int q = 0; q < maps.queries; ++q) {
              double sum = 0;
              for (int k = 0; k < maps.keys; ++k) {
                const float w = maps.at(l, h, q, k);
                sum += w;
                if (kind == AttentionSite::decoder_self && k > q) CHECK(w == 0.0F);
              }
              CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a later target word leaves earlier rows as they were") {
  for (unsigned seed = 100; seed < 130; ++seed) {
    CAPTURE(seed);
    Trial t = make_trial(seed);
    const EncodedSource source = t.model.encode(pack({t.sources[0]}));
    std::vector<int> target = t.targets[0];
    target.resize(6, 1);
    const Matrix before = logits_of(t.model, pack({target}), source);
    for (std::size_t changed = 1; changed < target.size(); ++changed) {
      std::vector<int> other = target;
      other[changed] = (other[changed] + 1) % (t.config.vocab_size - 1);
      const Matrix after = logits_of(t.model, pack({other}), source);
      const auto rows = to_index(changed);
      CHECK(same_bits(before.topRows(rows), after.topRows(rows)));
    }
  }
}

TEST_CASE("a sentence alone equals itself in a batch, bit by bit, on one thread and on two") {
  for (unsigned seed = 200; seed < 230; ++seed) {
    CAPTURE(seed);
    const Trial t = make_trial(seed);
    set_threads(2);
    const EncodedSource batch = t.model.encode(pack(t.sources));
    const Matrix logits = logits_of(t.model, pack(t.targets), batch);
    set_threads(1);
    Index row = 0;
    for (std::size_t i = 0; i < t.sources.size(); ++i) {
      const EncodedSource alone = t.model.encode(pack({t.sources[i]}));
      const Matrix own = logits_of(t.model, pack({t.targets[i]}), alone);
      CHECK(same_bits(own, logits.middleRows(row, own.rows())));
      row += own.rows();
    }
  }
}

TEST_CASE("a padded batch gives what the packed one gives") {
  for (unsigned seed = 300; seed < 330; ++seed) {
    CAPTURE(seed);
    const Trial t = make_trial(seed);
    PackedTokens padded_source;
    PackedTokens padded_target;
    for (std::size_t i = 0; i < t.sources.size(); ++i) {
      for (auto [from, to] :
           {std::pair{&t.sources[i], &padded_source}, std::pair{&t.targets[i], &padded_target}}) {
        std::vector<int> ids = *from;
        std::vector<std::uint8_t> hidden(ids.size(), 0);
        ids.resize(16, t.config.pad_token_id);
        hidden.resize(16, 1);
        to->add(ids);
        to->key_padding_mask.insert(to->key_padding_mask.end(), hidden.begin(), hidden.end());
      }
    }
    const EncodedSource packed = t.model.encode(pack(t.sources));
    const EncodedSource padded = t.model.encode(padded_source);
    const Matrix a = logits_of(t.model, pack(t.targets), packed);
    const Matrix b = logits_of(t.model, padded_target, padded);
    Index row = 0;
    for (std::size_t i = 0; i < t.targets.size(); ++i) {
      const auto n = std::ssize(t.targets[i]);
      CHECK(same_bits(a.middleRows(row, n), b.middleRows(to_index(i) * 16, n)));
      row += n;
    }
  }
}

TEST_CASE("decoding step by step equals decoding the whole, also after beams crossed") {
  for (unsigned seed = 400; seed < 430; ++seed) {
    CAPTURE(seed);
    const Trial t = make_trial(seed);
    const EncodedSource source = t.model.encode(pack({t.sources[0], t.sources[1]}));
    IncrementalDecoder decoder(t.model);
    decoder.add_sentences(source, std::vector<SlotSize>{{3, 5}, {3, 5}});
    std::mt19937 generator(seed);
    // Six hypotheses, three per sentence, that fork at random within their sentence.
    std::vector<std::vector<int>> pasts(6);
    const std::vector<Index> sentences{0, 0, 0, 1, 1, 1};
    for (int step = 0; step < 5; ++step) {
      std::vector<int> tokens;
      std::vector<Index> parents;
      std::vector<std::vector<int>> next;
      for (std::size_t r = 0; r < 6; ++r) {
        parents.push_back(3 * sentences[r] + to_index(generator() % 3));
        tokens.push_back(step == 0 ? t.config.decoder_start_token_id : to_int(generator() % 4));
        next.push_back(at(pasts, parents.back()));
        next.back().push_back(tokens.back());
      }
      pasts = next;
      const Matrix logits = decoder.step(tokens, parents, sentences);
      for (std::size_t r = 0; r < 6; ++r) {
        const EncodedSource own = t.model.encode(pack({at(t.sources, sentences[r])}));
        const Matrix whole = logits_of(t.model, pack({pasts[r]}), own);
        CHECK(same_bits(whole.bottomRows(1), logits.row(to_index(r))));
      }
    }
  }
}

TEST_CASE("a batch searched in parts by two threads equals its sentences searched alone") {
  for (unsigned seed = 500; seed < 515; ++seed) {
    CAPTURE(seed);
    const Trial t = make_trial(seed);
    for (const int beams : {1, 3}) {
      DecodeConfig decode;
      decode.num_beams = decode.num_return_sequences = beams;
      set_threads(2);
      const auto batch = search(t.model, pack(t.sources), decode);
      set_threads(1);
      for (std::size_t i = 0; i < t.sources.size(); ++i) {
        const auto alone = search(t.model, pack({t.sources[i]}), decode);
        REQUIRE(alone[0].size() == batch[i].size());
        for (std::size_t h = 0; h < alone[0].size(); ++h) {
          CHECK(alone[0][h].ids == batch[i][h].ids);
          CHECK(alone[0][h].score == batch[i][h].score);
        }
      }
    }
  }
}
