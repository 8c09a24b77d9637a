// Tests the memory checks before a model is made or prepared.
#include "model/transformer.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

#include "base/at.h"
#include "base/error.h"
#include "model/directory/model_directory.h"
#include "model/directory/safetensors.h"
#include "temporary_directory.h"

namespace attn::test {
namespace {

/// Limits the remaining address space to this number of bytes during its lifetime.
class AddressSpace {
 public:
  explicit AddressSpace(std::uint64_t left) {
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages = 0;
    REQUIRE(bool(file >> pages));
    rlimit now = before_;
    now.rlim_cur = pages * to_size(sysconf(_SC_PAGESIZE)) + left;
    REQUIRE(setrlimit(RLIMIT_AS, &now) == 0);
  }
  ~AddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

 private:
  rlimit before_{};
};

/// Returns a model of about 12.8 million numbers, nearly all in its embeddings.
ModelConfig many_words() {
  ModelConfig c;
  c.d_model = 64;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_layers = c.decoder_layers = 1;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 20;
  c.vocab_size = c.decoder_vocab_size = 200'000;
  c.max_positions = 40;
  c.pad_token_id = c.decoder_start_token_id = 29;
  return c;
}

constexpr std::uint64_t kMegabyte = 1'000'000;

/// Returns how many bytes of a mapped file are resident in this process, over all its mappings.
std::uint64_t resident_bytes_of(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  std::uint64_t kilobytes = 0;
  bool of_it = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("VmFlags") == std::string::npos && line.find(":  ") == std::string::npos) {
      of_it = line.ends_with(path);
    } else if (of_it && line.starts_with("Rss:")) {
      kilobytes += std::stoull(line.substr(4));
    }
  }
  return kilobytes << 10;
}

}  // namespace

TEST_CASE("a prepared model takes four bytes a number, or one in 8 bits") {
  const ModelConfig c = many_words();
  const std::uint64_t wide = prepared_bytes(c, Backend::panels);
  const std::uint64_t narrow = prepared_bytes(c, Backend::int8);
  CHECK(wide == 4 * narrow);
  CHECK(model_bytes(c, Backend::panels) == 2 * wide);
  CHECK(model_bytes(c, Backend::int8) == wide + narrow);
  // At least one byte per parameter, and at most half as much again.
  const std::uint64_t parameters = count_parameters(c).value();
  CHECK(narrow >= parameters);
  CHECK(narrow < parameters + parameters / 2 + 10'000);
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

TEST_CASE("a model's file does not stay in memory beside the weights that were packed from it") {
  const TemporaryDirectory scene;
  save_model(random_model(many_words(), 3, Backend::panels), {}, scene.path(), DType::f32);
  const std::string path = scene.file("model.safetensors");
  const SafetensorsFile mapped(path);
  CHECK(resident_bytes_of(path) > 50 * kMegabyte);  // pages read when opening the file
  const LoadedModel model = load_model(scene.path(), Backend::panels);
  CHECK(resident_bytes_of(path) <
        55 * kMegabyte);  // those of the first mapping, and little of the second
}

#ifndef ATTN_ASAN  // ASan reserves the whole address space
TEST_CASE("where 32 bits have no room, 8 have: models of a directory, and random ones") {
  const TemporaryDirectory scene;
  save_model(random_model(many_words(), 3, Backend::panels), {}, scene.path(), DType::f32);
  {
    // The file takes 51 MB of it. Weights prepared for multiplication take 77 MB, or 19 MB as
    // int8.
    const AddressSpace some(100 * kMegabyte);
    CHECK_THROWS_AS((void)load_model(scene.path(), Backend::panels), MemoryError);
    CHECK_NOTHROW((void)load_model(scene.path(), Backend::int8));
  }
  // 32-bit numbers take 77 MB here (including reserves), and prepared weights take the same as
  // before.
  const AddressSpace some(125 * kMegabyte);
  CHECK_THROWS_AS((void)random_model(many_words(), 3, Backend::panels), MemoryError);
  CHECK_NOTHROW((void)random_model(many_words(), 3, Backend::int8));
}
#endif

}  // namespace attn::test
