// Fuzzes pytorch_model.bin. Archives are used unchanged. Input that begins like a pickle becomes
// one in an archive with two storages, which the fuzzer would seldom guess.
#include "model/directory/torch_file.h"

#include <vector>

#include "../model/torch_bytes.h"
#include "base/at.h"
#include "fuzz.h"

using namespace attn;

namespace {

constexpr std::uint64_t kMostElements = 4096;

void read(std::string bytes) {
  fuzz::accepts([&] {
    for (TensorInfo& tensor : read_torch_table(bytes, "pytorch_model.bin").tensors) {
      fuzz::require(tensor.begin <= tensor.end && tensor.end <= bytes.size(), "tensors lie inside");
      tensor.data = reinterpret_cast<std::byte*>(bytes.data()) + tensor.begin;
      if (tensor.elements > kMostElements) continue;
      std::vector<float> numbers(to_size(tensor.elements));
      read_tensor(tensor, "pytorch_model.bin", numbers.data());
    }
  });
}

}  // namespace

FUZZ(bytes) {
  if (!bytes.starts_with('\x80')) return read(std::string(bytes));
  read(test::zip_bytes({{"m/data.pkl", std::string(bytes)},
                        {"m/data/0", std::string(24, '\1')},
                        {"m/data/1", std::string(7, '\2')}}));
}
