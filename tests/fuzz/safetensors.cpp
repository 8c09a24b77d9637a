// Fuzzes the header of safetensors files. Input that begins with a length is used unchanged.
// Otherwise the input is the header's text and gets its length, which the fuzzer would seldom
// guess.
#include "model/directory/safetensors.h"

#include <cstring>
#include <string>

#include "fuzz.h"

using namespace attn;

namespace {

void read(std::string_view bytes) {
  fuzz::accepts([&] {
    const TensorTable table = read_safetensors_table(bytes, "model.safetensors");
    std::size_t at = table.tensors.empty() ? bytes.size() : table.tensors.front().begin;
    for (const TensorInfo& tensor : table.tensors) {
      fuzz::require(tensor.begin == at && tensor.end >= at, "tensors follow one another");
      at = tensor.end;
    }
    fuzz::require(at == bytes.size(), "tensors fill the file");
  });
}

}  // namespace

FUZZ(bytes) {
  if (bytes.size() > 8 && bytes[7] == '\0')
    return read(bytes);  // a length, because text contains no zero
  // The input is the header up to the first 0xFF, then the tensors' bytes.
  std::string_view data = bytes;
  const std::string_view header = fuzz::take_part(data);
  const std::uint64_t length = header.size();
  std::string whole(sizeof length, '\0');
  std::memcpy(whole.data(), &length, sizeof length);
  read(whole.append(header).append(data));
}
