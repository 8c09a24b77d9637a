// Tests pytorch_model.bin: the same bits as safetensors, and nothing else is trusted.
#include "model/directory/torch_file.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/at.h"
#include "check_error.h"
#include "model/directory/safetensors.h"
#include "model/torch_bytes.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using namespace test;

const std::string kTorchGoldens = ATTN_SOURCE_DIR "/tests/golden/torch/";

std::vector<float> numbers_of(const TensorFile& file, const TensorInfo& tensor) {
  std::vector<float> out(to_size(tensor.elements) + 1, NAN);  // poisoned, with one extra element
  file.read(tensor, out.data());
  CHECK(std::isnan(out.back()));
  out.pop_back();
  return out;
}

TEST_CASE("what torch.save writes has the bits of safetensors") {
  const TorchFile file(kTorchGoldens + "views.bin");
  const SafetensorsFile expected(kTorchGoldens + "views.safetensors");
  CHECK(file.tensors().size() == expected.tensors().size() + 3);
  for (const TensorInfo& tensor : expected.tensors()) {
    CAPTURE(tensor.name);
    const TensorInfo* found = file.find(tensor.name);
    REQUIRE(found != nullptr);
    CHECK(found->shape == tensor.shape);
    CHECK(found->dtype_name == tensor.dtype_name);
    CHECK(numbers_of(file, *found) == numbers_of(expected, tensor));
    if (!found->strides.empty() || tensor.elements == 0) continue;
    CHECK(std::memcmp(file.bytes(*found), expected.bytes(tensor), tensor.end - tensor.begin) == 0);
  }
}

TEST_CASE(
    "tensors that lie in order are used where they lie; types that are no weights are named") {
  const TorchFile file(kTorchGoldens + "views.bin");
  for (const char* name : {"transposed", "column", "from_an_offset", "every_second", "repeated",
                           "turned", "f16_transposed"}) {
    CHECK_MESSAGE(!file.find(name)->strides.empty(), name);
  }
  for (const char* name :
       {"whole", "parameter", "row", "one_row", "bf16_from_an_offset", "scalar"}) {
    CHECK_MESSAGE(file.find(name)->strides.empty(), name);
  }
  CHECK(file.bytes(*file.find("whole")) == file.bytes(*file.find("shared")));
  CHECK(file.bytes(*file.find("row")) == file.bytes(*file.find("whole")) + 12 * 4);
  CHECK(file.find("no_tensor") == nullptr);
  float out = 0;
  for (const auto& pair : {std::pair{"ids", "I64"}, {"flags", "BOOL"}, {"wide", "F64"}}) {
    const TensorInfo& tensor = *file.find(pair.first);
    CHECK(tensor.dtype == DType::other);
    check_error([&] { file.read(tensor, &out); }, ExitCode::input,
                std::string("dtype is ") + pair.second + ", expected F32, F16 or BF16");
  }
}

TEST_CASE(
    "pickles of a newer protocol are read, other files of torch are refused with the way out") {
  CHECK(TorchFile(kTorchGoldens + "newer_pickle.bin").find("w")->elements == 2);
  const auto refused = [](const char* name, const char* message) {
    check_error([&] { TorchFile file(kTorchGoldens + name); }, ExitCode::input, message);
  };
  refused("old.bin",
          "the format of PyTorch before 1.6; load it in transformers and save_pretrained()");
  refused("script.bin", "is compressed; expected uncompressed entries");
  refused("run.bin", "holds epoch and no tensors; expected the state_dict of a model");
}

TEST_CASE("what the format allows is read") {
  const auto read = [](const std::string& bytes) { return read_torch_table(bytes, "m.bin"); };
  CHECK(read(torch_bytes(TorchTensor{})).tensors.front().elements == 6);
  CHECK(read(torch_bytes(table(""))).tensors.empty());
  // A comment after the archive, a list that contains itself, and a tensor without elements.
  CHECK(read(zip_bytes({{"m/data.pkl", table("")}}, {.comment = "PK\5\6 no end"})).tensors.empty());
  CHECK(read(torch_bytes(table(text("a") + "]q\1h\1a" + text("w") + TorchTensor{}.bytes())))
            .tensors.size() == 1);
  const TorchTensor nothing{.shape = integer(0) + integer(4), .offset = 99};
  CHECK(read(torch_bytes(nothing)).tensors.front().elements == 0);
  // Larger than its file: one number is repeated.
  const TorchTensor repeated{.shape = integer(1 << 20) + integer(1 << 20),
                             .strides = integer(0) + integer(0)};
  CHECK(read(torch_bytes(repeated)).tensors.front().elements == std::uint64_t{1} << 40);
}

TEST_CASE("a file cut anywhere or with wrong bytes is read or refused, never more") {
  const MappedFile whole(kTorchGoldens + "views.bin");
  const std::string good(reinterpret_cast<const char*>(whole.data()), whole.size());
  const auto is_read = [&](const std::string& bytes) {
    try {
      for (const TensorInfo& tensor : read_torch_table(bytes, "m.bin").tensors) {
        if (tensor.begin > tensor.end || tensor.end > bytes.size()) FAIL(tensor.name);
      }
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) FAIL(error.what());
      return false;
    }
  };
  CHECK(is_read(good));
  for (std::size_t length = 0; length < good.size(); length += 3) {
    if (is_read(good.substr(0, length))) FAIL("read though cut at ", length);
  }
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = good;
    for (int j = 0; j < 3; ++j) bytes[random() % bytes.size()] = static_cast<char>(random());
    refused += is_read(bytes) ? 0 : 1;
  }
  CHECK(refused > 400);
}

}  // namespace
}  // namespace attn
