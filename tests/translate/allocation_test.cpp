// Tests that after the first step, decoding allocates nothing that grows with the model. Counted
// by replacing this test program's operator new and by asking malloc for the memory in use.
#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "golden_model.h"
#include "model/incremental_decoder.h"
#include "model/transformer.h"

namespace {
std::atomic<std::size_t> allocated_bytes{0};
}  // namespace

void* operator new(std::size_t size) {
  allocated_bytes += size;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocated_bytes += size;
  return std::malloc(size);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

using namespace attn;

namespace {

/// Returns the bytes requested from operator new, and the growth of malloc's memory, from the
/// second step on.
std::pair<std::size_t, std::size_t> bytes_after_first_step(int d_model) {
  ModelConfig c;
  c.d_model = d_model;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 4 * d_model;
  c.vocab_size = c.decoder_vocab_size = 10 * d_model;
  c.pad_token_id = c.decoder_start_token_id = c.vocab_size - 1;
  const Transformer model = random_model(c, 1, default_backend());
  const EncodedSource source = model.encode(test::pack({{3, 4, 0}, {5, 0}}));
  IncrementalDecoder decoder(model);
  const SlotSize sizes[] = {{2, 12}, {2, 12}};
  decoder.add_sentences(source, sizes);
  const std::vector<int> tokens{1, 2, 3, 4};
  const std::vector<Index> parents{0, 0, 3, 2};
  const std::vector<Index> sentences{0, 0, 1, 1};
  decoder.step(tokens, parents, sentences);
  const std::size_t before = allocated_bytes;
  const std::size_t used = mallinfo2().uordblks;
  for (int i = 0; i < 11; ++i) decoder.step(tokens, parents, sentences);
  return {allocated_bytes - before, mallinfo2().uordblks - used};
}

}  // namespace

TEST_CASE("steps after the first allocate nothing that grows with the model") {
  bytes_after_first_step(8);  // a first run also fills caches of the libraries
  const auto small = bytes_after_first_step(8);
  const auto large = bytes_after_first_step(128);
  CHECK(small.first == large.first);
  CHECK(large.first < 1024);
  CHECK(large.second < 1024);
}
