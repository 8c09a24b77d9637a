// Tests ensembles: against PyTorch, against one model used twice, and models that cannot be
// combined.
#include "translate/ensemble.h"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>

#include "check_error.h"
#include "golden_model.h"
#include "model/transformer.h"
#include "translate/search/search.h"

using namespace attn;
using namespace attn::test;

namespace {

DecodeConfig decode_of(const Json& c, const DecodeOptions& options) {
  DecodeConfig decode = resolve_decode_options(options, std::nullopt, "golden");
  decode.num_beams = decode.num_return_sequences = c["num_beams"];
  decode.length_penalty = c["length_penalty"];
  decode.max_new_tokens = c["max_length"].get<int>() - 1;
  const Json& early = c["early_stopping"];
  decode.early_stopping = early == "never" ? EarlyStopping::never
                          : early == true  ? EarlyStopping::yes
                                           : EarlyStopping::no;
  return decode;
}

/// The models of a golden case, which live as long as this object.
struct Loaded {
  explicit Loaded(const Json& names) {
    for (const Json& name : names) {
      models.push_back(
          load_model(golden_root() + "/" + name.get<std::string>(), default_backend()));
    }
  }
  Ensemble ensemble() const {
    std::vector<const Transformer*> pointers;
    for (const LoadedModel& model : models) pointers.push_back(&model.transformer);
    return Ensemble(std::move(pointers));
  }
  std::deque<LoadedModel> models;
};

bool equal(const SearchResults& a, const SearchResults& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return std::ranges::equal(left, right,
                              [](const SearchHypothesis& x, const SearchHypothesis& y) {
                                return x.ids == y.ids && x.score == y.score;
                              });
  });
}

ModelConfig small_config(int d_model, int layers) {
  ModelConfig c;
  c.d_model = d_model;
  c.encoder_layers = c.decoder_layers = layers;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 2 * d_model;
  c.vocab_size = c.decoder_vocab_size = 50;
  c.max_positions = 30;
  c.pad_token_id = c.decoder_start_token_id = c.vocab_size - 1;
  return c;
}

const std::vector<std::vector<int>> kSources = {{3, 4, 9, 0}, {5, 0}, {7, 8, 7, 1, 30, 11, 2, 0}};

}  // namespace

TEST_CASE("ensembles find what generate finds with PyTorch's mean of log-softmax") {
  const Json golden = read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/ensemble.json");
  REQUIRE(golden.size() == 24);
  for (const Json& c : golden) {
    CAPTURE(c["models"].dump());
    CAPTURE(c["source_ids"].dump());
    CAPTURE(c["num_beams"].dump());
    const Loaded loaded(c["models"]);
    const DecodeConfig decode = decode_of(c, loaded.models.front().decode);
    const auto found = search(loaded.ensemble(), pack({ids_of(c["source_ids"])}), decode);
    const Json& expected = c["hypotheses"];
    REQUIRE(found[0].size() == expected.size());
    const double tolerance = std::max(1e-4, 3 * c["error"].get<double>());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(found[0][i].ids == ids_of(expected[i]["ids"]));
      const double score = expected[i]["score"];
      CHECK(std::abs(static_cast<double>(found[0][i].score) - score) <= tolerance);
    }
  }
}

TEST_CASE("the same model twice finds exactly what it finds alone, greedily and by beam") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Transformer model = random_model(small_config(12, 2), seed, default_backend());
    for (const int beams : {1, 4}) {
      for (const bool renormalise : {false, true}) {
        DecodeConfig decode;
        decode.num_beams = decode.num_return_sequences = beams;
        decode.bad_words_ids = {{49}, {3, 3}};
        decode.forced_eos_token_id = 0;
        decode.renormalize_logits = renormalise;
        decode.max_new_tokens = 12;
        const SearchResults alone = search(model, pack(kSources), decode);
        CHECK(equal(search(Ensemble({&model, &model}), pack(kSources), decode), alone));
      }
    }
  }
}

TEST_CASE("an ensemble finds the same bits alone and in a batch, on any number of threads") {
  const Transformer a = random_model(small_config(12, 2), 1, default_backend());
  const Transformer b = random_model(small_config(20, 1), 2, default_backend());
  const Ensemble both({&a, &b});
  const int before = threads();
  for (const int beams : {1, 3}) {
    DecodeConfig decode;
    decode.num_beams = decode.num_return_sequences = beams;
    decode.max_new_tokens = 12;
    set_threads(1);
    const SearchResults batch = search(both, pack(kSources), decode);
    CHECK_FALSE(equal(batch, search(a, pack(kSources), decode)));
    CHECK_FALSE(equal(batch, search(b, pack(kSources), decode)));
    for (std::size_t i = 0; i < kSources.size(); ++i) {
      CHECK(equal(search(both, pack({kSources[i]}), decode), {batch[i]}));
    }
    set_threads(3);
    CHECK(equal(search(both, pack(kSources), decode), batch));
  }
  set_threads(before);
}

TEST_CASE("the fewest positions limit a translation") {
  ModelConfig narrow = small_config(12, 1);
  narrow.max_positions = 7;
  const Transformer a = random_model(small_config(12, 2), 1, default_backend());
  const Transformer b = random_model(narrow, 2, default_backend());
  CHECK(Ensemble({&a, &b}).max_positions() == 7);
  CHECK(max_generated_tokens(DecodeConfig(), Ensemble({&a, &b}), 5) == 7);
  CHECK(max_generated_tokens(DecodeConfig(), a, 5) == 20);
}

TEST_CASE("models of different vocabularies do not translate together") {
  const auto refuse = [](const ModelConfig& other, const std::string& words) {
    Transformer a = random_model(small_config(12, 1), 1, default_backend());
    Transformer b = random_model(other, 2, default_backend());
    a.set_name("one");
    b.set_name("two");
    check_error(
        [&] {
          Ensemble({&a, &b});
        },
        ExitCode::input,
        "one has " + words + "; models that translate together share one vocabulary");
  };
  ModelConfig c = small_config(12, 1);
  c.vocab_size = c.decoder_vocab_size = 51;
  refuse(c, "vocab_size 50, and two has 51");
  c = small_config(12, 1);
  c.eos_token_id = 3;
  refuse(c, "eos_token_id 0, and two has 3");
  c = small_config(12, 1);
  c.decoder_start_token_id = 0;
  refuse(c, "decoder_start_token_id 49, and two has 0");
}

TEST_CASE("all models' caches count against the memory") {
  const Transformer model = random_model(small_config(120, 1), 1, default_backend());
  DecodeConfig decode;
  decode.num_beams = 1000;
  PackedTokens source;
  for (int i = 0; i < 100'000; ++i) source.add(std::vector<int>{3, 0});
  // "the cache … takes about 1.3 TB of memory, and …": terabytes, more than any test machine has.
  const auto taken = [&](const Ensemble& models) {
    try {
      search(models, source, decode);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::memory);
      const std::string words = error.what();
      CHECK(words.starts_with("the KV cache for 100000 sentences at a time"));
      return words.substr(0, words.find(" of memory"));
    }
    return std::string("no error");
  };
  CHECK(taken(model) != taken(Ensemble({&model, &model})));
}
