// Tests that sentences that replace one another in a search get the same results as side by side.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/at.h"
#include "compute/threads.h"
#include "model/transformer.h"
#include "translate/search/search.h"

using namespace attn;

TEST_CASE("a search of a few sentences at a time finds the same, in the same order") {
  ModelConfig c;
  c.d_model = 16;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 32;
  c.vocab_size = c.decoder_vocab_size = 40;
  c.pad_token_id = c.decoder_start_token_id = 39;
  const Transformer model = random_model(c, 5, default_backend());
  PackedTokens source;
  for (int i = 0; i < 23; ++i) {
    std::vector<int> ids;
    for (int t = 0; t < 1 + 7 * i % 11; ++t) ids.push_back(1 + (i + 3 * t) % 38);
    ids.push_back(0);
    source.add(ids);
  }
  for (const int beams : {1, 3}) {
    DecodeConfig decode;
    decode.num_beams = decode.num_return_sequences = beams;
    const SearchResults whole = search(model, source, decode);
    REQUIRE(whole.size() == 23);
    CHECK(whole[0].front().ids != whole[1].front().ids);
    for (const int workers : {1, 2}) {
      set_threads(workers);
      for (const Index max_active : {1, 2, 3, 8, 22, 23, 100}) {
        CAPTURE(max_active);
        const SearchResults found = search(model, source, decode, {.max_active = max_active});
        REQUIRE(found.size() == whole.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
          CAPTURE(i);
          CHECK(std::ranges::equal(found[i], whole[i], [](const auto& a, const auto& b) {
            return a.ids == b.ids && a.score == b.score;
          }));
        }
      }
      set_threads(1);
    }
  }
}
