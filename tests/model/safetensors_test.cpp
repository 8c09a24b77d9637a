#include "model/safetensors.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check_error.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using test::check_error;
using test::TemporaryDirectory;
using namespace std::string_literals;

const std::string kGolden = ATTN_SOURCE_DIR "/tests/golden/safetensors/reference.safetensors";

std::vector<float> values(const SafetensorsFile& file, const std::string& name) {
  const TensorInfo* tensor = file.find(name);
  REQUIRE_MESSAGE(tensor != nullptr, name);
  std::vector<float> out(tensor->elements + 1, NAN);  // poisoned, and one beyond
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
    for (int i = 0; i < 15; ++i) CHECK(ramp[i] == static_cast<float>(i - 5) / 8);
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

/// A file from a header and data, the length field right.
std::string build(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

std::string with_length(std::uint64_t length, std::string bytes) {
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

/// One tensor "w" in a file with `data_bytes` bytes of data.
std::string one(const std::string& description, std::size_t data_bytes) {
  return build("{\"w\":" + description + "}", data_bytes);
}

const std::string kGood = entry("F32", "[2,3]", "[0,24]");

struct BadFile {
  std::string name;
  std::string bytes;
  std::string message;
};

const std::vector<BadFile> kBad = {
    {"empty file", "", "found 0 bytes, expected at least 8"},
    {"seven bytes", "1234567", "found 7 bytes, expected at least 8"},
    {"length alone", with_length(0, "12345678"), "the header begins with nothing, expected '{'"},
    {"length beyond the file", with_length(100, one(kGood, 0)),
     "header length 100, expected at most"},
    {"length one beyond", with_length(3, build("{}", 0)), "expected at most the 2 bytes after it"},
    {"length beyond 100 MB", with_length(100'000'001, one(kGood, 24)),
     "expected at most 100000000"},
    {"length that wraps", with_length(UINT64_MAX - 7, one(kGood, 24)),
     "header length 18446744073709551608"},
    {"length too short", with_length(20, one(kGood, 24)),
     "(header):1:21: found the end of the text"},
    {"a pickle", "PK\3\4" + std::string(100, 'x'), "is this a safetensors file?"},
    {"header is an array", build("[]", 0), "the header begins with '[', expected '{'"},
    {"header begins with a blank", build(" {}", 0), "the header begins with ' ', expected '{'"},
    {"header begins with a byte-order mark", build("\xef\xbb\xbf{}", 0), "expected '{'"},
    {"header begins with a control character", build("\x1b{}", 0), "begins with '\\u{1b}'"},
    {"header padded with line breaks", build("{}\n", 0),
     "ends with byte 0x0a, expected '}' and bl"},
    {"header padded with zeros", build("{}\0\0"s, 0), "(header):1:3: found a zero byte"},
    {"text after the header", build("{}{}", 0), "(header):1:3: found '{', expected nothing after"},
    {"header cut short", build("{\"w\":", 0), "found the end of the text"},
    {"header not UTF-8", build("{\"\xff\":" + kGood + "}", 24), "found the byte 0xff"},
    {"nesting", one(entry("F32", "[[2],3]", "[0,24]"), 24), "nested deeper than 3 levels"},
    {"nesting without end", build("{\"w\":" + std::string(100000, '['), 0), "nested deeper than 3"},
    {"duplicate name", build("{\"w\":" + kGood + ",\"w\":" + kGood + "}", 24),
     "found the key 'w' a second time"},
    {"duplicate key", one(R"({"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]})", 4),
     "found the key 'dtype' a second time"},
    {"duplicate metadata", build("{\"__metadata__\":{}, \"__metadata__\":{}}", 0),
     "found the key '__metadata__' a second time"},
    {"duplicate key in metadata", build(R"({"__metadata__":{"a":"","a":""}})", 0),
     "the key 'a' a sec"},
    {"metadata is a list", build("{\"__metadata__\":[]}", 0),
     "__metadata__ is [], expected an object of strings"},
    {"metadata holds a number", build("{\"__metadata__\":{\"a\":1}}", 0),
     "__metadata__ key 'a' is 1, expected a string"},
    {"metadata holds an object", build("{\"__metadata__\":{\"a\":{}}}", 0), "key 'a' is {}"},
    {"tensor is a number", one("3", 0), "tensor 'w': is 3, expected an object with dtype"},
    {"tensor is null", one("null", 0), "tensor 'w': is null, expected an object"},
    {"unknown key", one(R"({"dtype":"F32","shape":[],"data_offsets":[0,4],"stride":[1]})", 4),
     "tensor 'w': has the key 'stride', expected dtype, shape and data_offsets only"},
    {"no dtype", one(R"({"shape":[],"data_offsets":[0,4]})", 4), "tensor 'w': has no dtype"},
    {"no shape", one(R"({"dtype":"F32","data_offsets":[0,4]})", 4), "tensor 'w': has no shape"},
    {"no offsets", one(R"({"dtype":"F32","shape":[]})", 4), "tensor 'w': has no data_offsets"},
    {"unknown type", one(entry("F31", "[6]", "[0,24]"), 24),
     "tensor 'w': dtype is 'F31', expected one of BOOL, U8, I8, F8_E5M2, F8_E4M3, I16, U16, F16,"},
    {"type in small letters", one(entry("f32", "[6]", "[0,24]"), 24),
     "dtype is 'f32', expected one"},
    {"type is a number", one(R"({"dtype":32,"shape":[6],"data_offsets":[0,24]})", 24),
     "dtype is 32, expected a string"},
    {"terminal escape as type", one(entry("\\u001b[31m", "[6]", "[0,24]"), 24), "is '\\u{1b}[31m'"},
    {"shape is a number", one(entry("F32", "6", "[0,24]"), 24), "shape is 6, expected an array"},
    {"shape is an object", one(entry("F32", "{}", "[0,24]"), 24), "shape is {}, expected an array"},
    {"negative dimension", one(entry("F32", "[-6]", "[0,24]"), 24),
     "shape holds -6, expected whole"},
    {"fractional dimension", one(entry("F32", "[6.0]", "[0,24]"), 24), "shape holds 6.0, expected"},
    {"dimension with an exponent", one(entry("F32", "[6e0]", "[0,24]"), 24), "shape holds 6.0"},
    {"dimension as text", one(entry("F32", "[\"6\"]", "[0,24]"), 24),
     "shape holds \"6\", expected"},
    {"dimension beyond 64 bits", one(entry("F32", "[18446744073709551616]", "[0,24]"), 24),
     "shape holds 1.8446744073709552e+19, expected whole numbers"},
    {"nine dimensions", one(entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4),
     "shape has 9 dimensions, expected at most 8"},
    {"shape product that wraps to 0", one(entry("F32", "[4294967296,4294967296]", "[0,0]"), 0),
     "tensor 'w': shape [4294967296,4294967296] exceeds 64 bits of elements"},
    {"shape product that wraps to 6", one(entry("U8", "[3,6148914691236517207]", "[0,6]"), 6),
     "exceeds 64 bits of elements"},
    {"bytes that wrap", one(entry("F32", "[4611686018427387904]", "[0,0]"), 0),
     "exceeds 64 bits of bytes"},
    {"absurd shape", one(entry("F32", "[1099511627776]", "[0,24]"), 24),
     "data_offsets hold 24 bytes, expected 4398046511104 for F32 of shape [1099511627776]"},
    {"offsets are a number", one(entry("F32", "[6]", "24"), 24),
     "data_offsets is 24, expected [beg"},
    {"one offset", one(entry("F32", "[6]", "[24]"), 24),
     "data_offsets is [24], expected [begin, end]"},
    {"three offsets", one(entry("F32", "[6]", "[0,24,48]"), 24),
     "data_offsets is [0,24,48], expec"},
    {"negative offset", one(entry("F32", "[6]", "[-1,23]"), 24),
     "data_offsets hold -1, expected wh"},
    {"minus zero as offset", one(entry("F32", "[6]", "[-0,24]"), 24),
     "data_offsets hold 0, expected"},
    {"fractional offset", one(entry("F32", "[6]", "[0,24.5]"), 24),
     "data_offsets hold 24.5, expect"},
    {"offset with an exponent", one(entry("F32", "[250]", "[0,1e3]"), 1000),
     "data_offsets hold 1000.0, expected whole"},
    {"offset as text", one(entry("F32", "[6]", "[0,\"24\"]"), 24),
     "data_offsets hold \"24\", expec"},
    {"offsets backwards", one(entry("F32", "[6]", "[24,0]"), 24),
     "begin at 24 and end before it at 0"},
    {"offset beyond the file", one(entry("F32", "[7]", "[0,28]"), 24),
     "data_offsets end at 28, expected at most the file's 24 data bytes; is the file complete?"},
    {"offset of 64 bits",
     one(entry("F32", "[6]", "[18446744073709551592,18446744073709551615]"), 24),
     "data_offsets end at 18446744073709551615"},
    {"fewer bytes than the shape", one(entry("F32", "[2,3]", "[0,20]"), 24),
     "data_offsets hold 20 bytes, expected 24 for F32 of shape [2,3]"},
    {"more bytes than the shape", one(entry("F16", "[2,3]", "[0,24]"), 24),
     "data_offsets hold 24 bytes, expected 12 for F16"},
    {"bytes for no elements", one(entry("F32", "[0,3]", "[0,4]"), 4), "hold 4 bytes, expected 0"},
    {"hole at the start", one(entry("F32", "[5]", "[4,24]"), 24),
     "tensor 'w': begins at data byte 4 and leaves a hole, expected 0"},
    {"hole between",
     build("{\"a\":" + entry("U8", "[4]", "[0,4]") + ",\"b\":" + entry("U8", "[4]", "[5,9]") + "}",
           9),
     "tensor 'b': begins at data byte 5 and leaves a hole, expected 4"},
    {"overlap",
     build("{\"a\":" + entry("U8", "[4]", "[0,4]") + ",\"b\":" + entry("U8", "[4]", "[3,7]") + "}",
           7),
     "tensor 'b': begins at data byte 3, inside the tensor before it, expected 4"},
    {"the same bytes twice", build("{\"a\":" + kGood + ",\"b\":" + kGood + "}", 24),
     "tensor 'b': begins at data byte 0, inside the tensor before it"},
    {"trailing byte", one(kGood, 25), "found 1 bytes after the last tensor's end, expected none"},
    {"data without tensors", build("{}", 8), "found 8 bytes after the last tensor's end"},
    {"terminal escape as name", build("{\"\\u001b[31m\\n\":3}", 0),
     "tensor '\\u{1b}[31m\\u{a}': is 3"},
    {"endless name", build("{\"" + std::string(100000, 'n') + "\":3}", 0), "nn…': is 3, expected"},
};

TEST_CASE("a file that breaks a rule of the format is refused by name of the rule") {
  const TemporaryDirectory directory;
  for (const BadFile& bad : kBad) {
    CAPTURE(bad.name);
    const std::string path = directory.write("bad.safetensors", bad.bytes);
    check_error([&] { SafetensorsFile file(path); }, ExitCode::input, bad.message);
    check_error([&] { SafetensorsFile file(path); }, ExitCode::input, path);
    try {
      SafetensorsFile file(path);
    } catch (const Error& error) {
      CHECK(std::strlen(error.what()) < 600);
      CHECK(std::string(error.what()).find('\x1b') == std::string::npos);
    }
  }
  check_error([&] { SafetensorsFile file(directory.file("none")); }, ExitCode::system,
              "none: cannot open: No such file or directory");
  check_error([&] { SafetensorsFile file(directory.path()); }, ExitCode::system, "is a directory");
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
  // Any order in the header; an empty tensor between two others; no alignment.
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
        if (static_cast<unsigned char>(c) < 0x20) FAIL(error.what());
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
  CHECK(refused < 4000);  // a flip in the metadata's text is no error
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
    for (int i = 0; i < 15; ++i) CHECK(ramp[i] == static_cast<float>(i - 5) / 8);
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
  check_error(
      [&] { write_safetensors(path, constant(65520), DType::f16); }, ExitCode::input,
      path + ": tensor 'big': element 1 is 65520, expected at most 65504 for F16; write F32");
  check_error([&] { write_safetensors(path, constant(-3.4e38f), DType::bf16); }, ExitCode::input,
              "tensor 'big': element 1 is -3.4e+38, expected at most 3.39e38 for BF16");
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
  write_safetensors(path, constant(-INFINITY), DType::f16);  // kept: no finite value was lost
  CHECK(values(SafetensorsFile(path), "big")[1] == -INFINITY);
}

/// The value of a binary16 by its definition.
double f16_value(unsigned bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31);
  const int mantissa = static_cast<int>(bits & 1023);
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST_CASE("every F16 and BF16 is widened exactly and narrowed back to itself") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float f16 = widen_f16(half);
    if ((bits & 0x7c00) == 0x7c00) {
      const bool nan = (bits & 0x3ff) != 0;
      if (nan ? !std::isnan(f16) : !std::isinf(f16)) FAIL("f16 ", bits);
    } else if (f16 != f16_value(bits)) {
      FAIL("f16 ", bits);
    }
    if (std::signbit(f16) != ((bits & 0x8000) != 0)) FAIL("f16 sign ", bits);
    if (std::isnan(f16) ? !std::isnan(widen_f16(narrow_f16(f16))) : narrow_f16(f16) != half) {
      FAIL("f16 back ", bits);
    }
    const float bf16 = widen_bf16(half);
    if (std::bit_cast<std::uint32_t>(bf16) != bits << 16) FAIL("bf16 ", bits);
    if (std::isnan(bf16) ? !std::isnan(widen_bf16(narrow_bf16(bf16))) : narrow_bf16(bf16) != half) {
      FAIL("bf16 back ", bits);
    }
  }
}

/// Checks that `narrowed` is the neighbour of `value` that rounding to nearest even picks, in the
/// order of bits, where adding 1 gives the next larger magnitude.
template <typename Widen>
bool is_nearest_even(float value, unsigned narrowed, Widen widen) {
  const auto distance = [&](unsigned bits) {
    return std::fabs(static_cast<double>(widen(static_cast<std::uint16_t>(bits))) - value);
  };
  const double here = distance(narrowed);
  const bool at_zero = (narrowed & 0x7fff) == 0;
  for (const unsigned other : {narrowed + 1, at_zero ? narrowed : narrowed - 1}) {
    if (distance(other) < here) return false;
    if (other != narrowed && distance(other) == here && (narrowed & 1) != 0) return false;
  }
  return true;
}

TEST_CASE("narrowing rounds to nearest even") {
  CHECK(narrow_f16(1.00048828125f) == 0x3c00);  // ties: down to even
  CHECK(narrow_f16(1.00146484375f) == 0x3c02);  // and up to even
  CHECK(narrow_f16(0x1p-25f) == 0);             // half the smallest subnormal
  CHECK(narrow_f16(std::nextafterf(0x1p-25f, 1)) == 1);
  CHECK(narrow_f16(-0x1.8p-24f) == 0x8002);
  CHECK(narrow_f16(std::nextafterf(0x1p-14f, 0)) == 0x0400);
  CHECK(narrow_f16(65519.99f) == 0x7bff);
  CHECK(narrow_f16(65520) == 0x7c00);
  CHECK(narrow_f16(1e-45f) == 0);
  CHECK(narrow_f16(-0.0f) == 0x8000);
  CHECK(narrow_bf16(0x1.01p0f) == 0x3f80);
  CHECK(narrow_bf16(0x1.03p0f) == 0x3f82);
  CHECK(narrow_bf16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(std::isnan(widen_bf16(narrow_bf16(std::bit_cast<float>(0x7f800001u)))));
  CHECK(std::isnan(widen_f16(narrow_f16(std::bit_cast<float>(0xff800001u)))));
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    // In F16's range: the exponent folded into −26 … 15.
    int exponent = 0;
    const float small = std::ldexp(std::frexp(value, &exponent), (exponent + 1000) % 42 - 26);
    if (std::fabs(small) < 65504 && !is_nearest_even(small, narrow_f16(small), widen_f16)) {
      FAIL("f16 of ", small);
    }
    if (std::fabs(value) < 3e38f && !is_nearest_even(value, narrow_bf16(value), widen_bf16)) {
      FAIL("bf16 of ", value);
    }
  }
}

}  // namespace
}  // namespace attn
