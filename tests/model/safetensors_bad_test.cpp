#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "check_error.h"
#include "model/directory/safetensors.h"
#include "model/safetensors_bytes.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using namespace test;
using namespace std::string_literals;

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
     "ends with byte 0x0a, expected '}' and whitespace"},
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
     "tensor 'w': shape [4294967296,4294967296] has more elements than 64 bits can count"},
    {"shape product that wraps to 6", one(entry("U8", "[3,6148914691236517207]", "[0,6]"), 6),
     "has more elements than 64 bits can count"},
    {"bytes that wrap", one(entry("F32", "[4611686018427387904]", "[0,0]"), 0),
     "needs more bytes than 64 bits can count"},
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
    {"trailing byte", one(kGood, 25), "found 1 byte after the last tensor's end, expected none"},
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

}  // namespace
}  // namespace attn
