// What is asked of the memory before a model is made or prepared.
#include "model/memory.h"

#include <doctest/doctest.h>

#include <limits>

#include "config/model_config.h"

namespace attn::test {

TEST_CASE("a prepared model takes four bytes a number, or one in 8 bits") {
  ModelConfig c;
  c.vocab_size = c.decoder_vocab_size = 1000;
  c.pad_token_id = c.decoder_start_token_id = 999;
  const std::uint64_t wide = prepared_bytes(c, Backend::panels);
  const std::uint64_t narrow = prepared_bytes(c, Backend::int8);
  CHECK(wide == 4 * narrow);
  CHECK(prepared_bytes(c, Backend::plain) == wide);
  CHECK(model_bytes(c, Backend::panels) == 2 * wide);
  CHECK(model_bytes(c, Backend::int8) == wide + narrow);
  // As much as the panels of the products take, and no more than half as much again.
  const std::uint64_t parameters = count_parameters(c).value();
  CHECK(narrow >= parameters);
  CHECK(narrow < parameters + parameters / 2);
}

TEST_CASE("a model beyond all memory is asked for as such") {
  ModelConfig c;
  c.vocab_size = c.decoder_vocab_size = std::numeric_limits<int>::max();
  c.d_model = c.encoder_ffn_dim = std::numeric_limits<int>::max();
  for (const Backend backend : {Backend::panels, Backend::int8}) {
    CHECK(prepared_bytes(c, backend) > std::uint64_t{1} << 60);
    CHECK(model_bytes(c, backend) > std::uint64_t{1} << 60);
  }
}

}  // namespace attn::test
