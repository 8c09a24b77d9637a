#include "model/directory/safetensors.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "check_error.h"
#include "model/safetensors_bytes.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using test::build;
using test::check_error;
using test::entry;
using test::kGood;
using test::one;
using test::TemporaryDirectory;

const std::string kGolden = ATTN_SOURCE_DIR "/tests/golden/safetensors/reference.safetensors";

std::vector<float> values(const SafetensorsFile& file, const std::string& name) {
  const TensorInfo* tensor = file.find(name);
  REQUIRE_MESSAGE(tensor != nullptr, name);
  std::vector<float> out(tensor->elements + 1, NAN);  // poisoned, with one extra element
  file.read(*tensor, out.data());
  CHECK(std::isnan(out.back()));
  out.pop_back();
  return out;
}

TEST_CASE("the reference library's file is read") {
  const SafetensorsFile file(kGolden);
  CHECK(file.tensors().size() == 10);
  CHECK(file.metadata().at("note") == "made by the reference library");
  for (const char* name : {"ramp.f32", "ramp.f16", "ramp.bf16"}) {
    CHECK(file.find(name)->shape == std::vector<std::uint64_t>{3, 5});
    const std::vector<float> ramp = values(file, name);
    for (int i = 0; i < 15; ++i) CHECK(at(ramp, i) == static_cast<float>(i - 5) / 8);
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> f16 = values(file, "edges.f16");
  CHECK(f16 == std::vector<float>{0x1p-24f, 0x3ffp-24f, 65504, 1, 0, 0, -kInfinity, 0x1p-14f});
  CHECK(std::signbit(f16[5]));
  const std::vector<float> bf16 = values(file, "edges.bf16");
  CHECK(bf16 == std::vector<float>{0x1p-24f, 0x1p-14f, 65536, 1, 0, 0, -kInfinity, 0x1p-14f});
  CHECK(file.find("scalar")->shape.empty());
  CHECK(values(file, "scalar") == std::vector<float>{-2.5f});
  CHECK(values(file, "empty").empty());
  CHECK(values(file, "größe") == std::vector<float>{0.1f});
  CHECK(file.find("nothing") == nullptr);
  CHECK(file.find("ids")->dtype == DType::other);
  CHECK(file.find("ids")->dtype_name == "I64");
  float out = 0;
  check_error([&] { file.read(*file.find("ids"), &out); }, ExitCode::input,
              "tensor 'ids': dtype is I64, expected F32, F16 or BF16");
  for (std::size_t i = 1; i < file.tensors().size(); ++i) {
    CHECK(file.tensors()[i].begin == file.tensors()[i - 1].end);
  }
}

TEST_CASE("what the format allows is read") {
  const TemporaryDirectory directory;
  const auto open = [&](const std::string& bytes) {
    return SafetensorsFile(directory.write("good.safetensors", bytes));
  };
  CHECK(open(build("{}", 0)).tensors().empty());
  CHECK(open(build("{}     ", 0)).tensors().empty());
  CHECK(open(build("{\"__metadata__\":{}}", 0)).metadata().empty());
  CHECK(open(one(kGood, 24)).find("w")->elements == 6);
  // Any order in the header, an empty tensor between two others, and no alignment.
  const SafetensorsFile file = open(build("{\"c\":" + entry("F32", "[1]", "[1,5]") +
                                              ",\"b\":" + entry("F32", "[3,0]", "[1,1]") +
                                              ",\"a\":" + entry("BOOL", "[]", "[0,1]") + "}",
                                          5));
  CHECK(file.tensors()[0].name == "a");
  CHECK(file.tensors()[1].name == "b");
  CHECK(file.tensors()[2].name == "c");
  CHECK(values(file, "c") == std::vector<float>{std::bit_cast<float>(0x01010101u)});
  CHECK(values(file, "b").empty());
  CHECK(file.tensors()[2].end == read_file(file.path()).size());
}

TEST_CASE("a file cut anywhere or with wrong bytes is read or refused, never more") {
  const TemporaryDirectory directory;
  const std::string good = read_file(kGolden);
  const auto is_read = [&](const std::string& bytes) {
    try {
      const SafetensorsFile file(directory.write("damaged.safetensors", bytes));
      for (const TensorInfo& tensor : file.tensors()) {
        if (tensor.dtype != DType::other) values(file, tensor.name);
      }
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) FAIL(error.what());
      for (const char c : std::string(error.what())) {
        if (byte_value(c) < 0x20) FAIL(error.what());
      }
      return false;
    }
  };
  CHECK(is_read(good));
  for (std::size_t length = 0; length < good.size(); ++length) {
    if (is_read(good.substr(0, length))) FAIL("read though cut at ", length);
  }
  std::mt19937 random(5);
  int refused = 0;
  std::uint64_t header = 0;
  std::memcpy(&header, good.data(), 8);
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = good;
    for (int flips = i % 3; flips >= 0; --flips) {
      bytes[random() % (8 + header)] ^= static_cast<char>(1u << random() % 8);
    }
    if (!is_read(bytes)) ++refused;
  }
  CHECK(refused > 2000);
  CHECK(refused < 4000);  // a flipped bit in the metadata's text is not an error
}

std::vector<TensorToWrite> sample_tensors() {
  const auto ramp = [](std::size_t count) {
    return [count](float* out) {
      for (std::size_t i = 0; i < count; ++i) out[i] = (static_cast<float>(i) - 5) / 8;
    };
  };
  return {{"z.weight", {3, 5}, ramp(15)},
          {"scalar", {}, ramp(1)},
          {"empty", {4, 0}, ramp(0)},
          {"größe \"x\"", {7}, ramp(7)}};
}

TEST_CASE("what is written is read back, in the order given") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out.safetensors");
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    write_safetensors(path, sample_tensors(), dtype);
    const SafetensorsFile file(path);
    CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
    CHECK(file.tensors().front().name == "z.weight");
    CHECK(file.tensors().front().begin % 8 == 0);
    CHECK(file.tensors().front().dtype == dtype);
    CHECK(file.find("empty")->shape == std::vector<std::uint64_t>{4, 0});
    CHECK(values(file, "scalar") == std::vector<float>{-0.625f});
    const std::vector<float> ramp = values(file, "z.weight");
    for (int i = 0; i < 15; ++i) CHECK(at(ramp, i) == static_cast<float>(i - 5) / 8);
    CHECK(values(file, "größe \"x\"").size() == 7);
  }
  CHECK(directory.entries() == 1);
}

TEST_CASE("no tensors make a file, too") {
  const TemporaryDirectory directory;
  write_safetensors(directory.file("a"), {}, DType::f32);
  CHECK(SafetensorsFile(directory.file("a")).tensors().empty());
}

TEST_CASE("what cannot be written leaves nothing") {
  const TemporaryDirectory directory;
  const auto constant = [](float value) {
    return std::vector<TensorToWrite>{{"fine", {1}, [](float* out) { *out = 1; }},
                                      {"big", {2}, [value](float* out) {
                                         out[0] = 0;
                                         out[1] = value;
                                       }}};
  };
  const std::string path = directory.file("a");
  check_error([&] { write_safetensors(path, constant(65520), DType::f16); }, ExitCode::input,
              "tensor 'big': element 1 is 65520, expected at most 65504 for F16; write F32");
  check_error([&] { write_safetensors(path, constant(-3.4e38f), DType::bf16); }, ExitCode::input,
              "tensor 'big': element 1 is -3.4e+38, expected at most 3.39e38 for BF16");
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
    check_error(
        [&] { write_safetensors(path, constant(std::numeric_limits<float>::infinity()), dtype); },
        ExitCode::input, "tensor 'big': element 1 is inf, expected a finite number");
  }
  check_error([&] { write_safetensors(directory.file("no/a"), {}, DType::f32); }, ExitCode::system,
              "No such file or directory");
  check_error([] { write_safetensors("/dev/full", {}, DType::f32); }, ExitCode::system,
              "/dev/full: cannot write: No space left on device");
  const std::vector<TensorToWrite> absurd = {{"huge", {1ull << 40, 1ull << 40}, [](float*) {}}};
  check_error([&] { write_safetensors(path, absurd, DType::f32); }, ExitCode::input,
              "tensor 'huge'");
  CHECK(directory.entries() == 0);
  write_safetensors(path, constant(65519), DType::f16);  // rounds to 65504
  CHECK(values(SafetensorsFile(path), "big")[1] == 65504);
}

}  // namespace
}  // namespace attn
