// Tests hostile and damaged files of torch.save: each is refused in one line, and none of their
// code runs.
#include <doctest/doctest.h>

#include "check_error.h"
#include "model/directory/torch_file.h"
#include "model/torch_bytes.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using namespace test;
using namespace std::string_literals;

struct BadTorchFile {
  std::string name;
  std::string bytes;
  std::string message;
};

void refuse_all(const std::vector<BadTorchFile>& files) {
  for (const BadTorchFile& bad : files) {
    CAPTURE(bad.name);
    check_error([&] { read_torch_table(bad.bytes, "m.bin"); }, ExitCode::input, bad.message);
    check_error([&] { read_torch_table(bad.bytes, "m.bin"); }, ExitCode::input, "m.bin");
  }
}

std::string rebuilt(const std::string& arguments) {
  return table(text("w") + call(global("torch._utils", "_rebuild_tensor_v2"), arguments));
}

TEST_CASE("hostile pickles: nothing is executed") {
  const TemporaryDirectory scene;
  const std::string command = "touch " + scene.file("was-here");
  const std::string made = "collections.OrderedDict";
  refuse_all({
      {"os.system", torch_bytes(pickle(call(global("os", "system"), text(command)))),
       "it asks for os.system, which torch.save does not write for tensors; nothing was executed"},
      {"posix.system", torch_bytes(pickle(call(global("posix", "system"), text(command)))),
       "it asks for posix.system"},
      {"eval by names on the stack",
       torch_bytes(pickle(text("builtins") + text("eval") + "\x93" + tuple(text("1")) + "R")),
       "it asks for builtins.eval"},
      {"os.system as a value", torch_bytes(table(text("w") + global("os", "system"))),
       "it asks for os.system"},
      {"a class by INST", torch_bytes(pickle("(ios\nsystem\n")), "opcode 0x69"},
      {"a class by OBJ", torch_bytes(pickle("(" + global("torch", "FloatStorage") + "o")),
       "opcode 0x6f"},
      {"a class by NEWOBJ", torch_bytes(pickle(global("torch", "FloatStorage") + ")\x81")),
       "opcode 0x81"},
      {"an extension by its number", torch_bytes(pickle("\x82\x01")), "opcode 0x82"},
      {"a storage called", torch_bytes(pickle(call(global("torch", "FloatStorage"), integer(1)))),
       "a call of torch.FloatStorage, which torch.save does not write"},
      {"a text called", torch_bytes(pickle(text("exit") + ")R")), "a call of something that is no"},
      {"arguments that are a list",
       torch_bytes(pickle(global("torch._utils", "_rebuild_tensor_v2") + "]R")),
       "without arguments"},
      {"a filled OrderedDict",
       torch_bytes(pickle(global("collections", "OrderedDict") + tuple("]") + "R")),
       made + " with arguments"},
      {"attributes of a tensor", torch_bytes(pickle(TorchTensor{}.bytes() + "}b")),
       "attributes set on torch._utils._rebuild_tensor_v2; nothing was executed"},
      {"attributes of a function",
       torch_bytes(pickle(global("torch._utils", "_rebuild_parameter") + "}b")),
       "attributes set on torch._utils._rebuild_parameter"},
      {"attributes that are no table", torch_bytes(pickle("}Nb")), "attributes set on a plain"},
  });
  CHECK(scene.entries() == 0);
}

TEST_CASE("hostile pickles: lengths, places and values that are not there") {
  refuse_all({
      {"an empty pickle", torch_bytes(""s), "1 byte requested beyond its end"},
      {"no end", torch_bytes("\x80\x02N"s), "1 byte requested beyond its end"},
      {"protocol 0 opcodes", torch_bytes("I1\n."s), "opcode 0x49"},
      {"protocol 5", torch_bytes("\x80\x05N."s), "protocol 5, expected 2 to 4"},
      {"a text beyond the end",
       torch_bytes(pickle("X\xff\xff\xff\x7f"
                          "a")),
       "2147483647 bytes requested beyond its end"},
      {"a text of 2^64 bytes", torch_bytes(pickle("\x8d" + std::string(8, '\xff') + "a")),
       "18446744073709551615 bytes requested beyond its end"},
      {"a text that is no UTF-8", torch_bytes(pickle(text("\xff"))), "a text that is no UTF-8"},
      {"an integer of 255 bytes", torch_bytes(pickle("\x8a\xff" + std::string(255, 'x'))),
       "an integer of 255 bytes, expected at most 8"},
      {"a name without an end",
       torch_bytes("\x80\x02"
                   "cos"s),
       "a name without an end"},
      {"an unknown place of the memo", torch_bytes(pickle("h\7")), "place 7 of its memo"},
      {"the memo of nothing", torch_bytes(pickle("q\1")), "a value is missing"},
      {"a tuple of nothing", torch_bytes(pickle("\x87")), "a value is missing"},
      {"values below a mark", torch_bytes(pickle("N(\x85")), "a value is missing"},
      {"no mark", torch_bytes(pickle("t")), "a mark is missing"},
      {"a mark left", torch_bytes(pickle("(N")),
       "1 value and 1 mark at its end, expected one value"},
      {"two values", torch_bytes(pickle("NN")), "2 values, expected one"},
      {"bytes behind the end", torch_bytes(pickle("N") + "N"), "1 byte after its end"},
      {"a key without a value", torch_bytes(pickle("}(Nu")), "a key without a value"},
      {"parts of a tuple", torch_bytes(pickle(")Na")),
       "parts for a value that is no container of this kind"},
      {"a million marks and lists", torch_bytes(pickle(std::string(1 << 20, '(') + "]")),
       "1 value and 1048576 marks at its end, expected one value"},
      {"five million lists", torch_bytes(pickle(std::string(5'000'000, ']'))),
       "more than 4000000 values"},
  });
}

TEST_CASE("hostile pickles: recursion and memo bombs") {
  // A list nested as deeply as possible, a thousand lists that each contain the previous one ten
  // times, and one long tuple called a hundred thousand times.
  std::string deep = "]q\1";
  for (int i = 0; i < 100'000; ++i) deep += "h\1a]h\1a";
  std::string bomb = "]q\1";
  for (int i = 0; i < 1000; ++i) bomb += "](h\1h\1h\1h\1h\1h\1h\1h\1h\1h\1eq\1";
  std::string calls = "(" + std::string(1 << 20, 'N') + "tq\1";
  calls += global("torch._utils", "_rebuild_parameter") + "q\2";
  for (int i = 0; i < 100'000; ++i) calls += "h\2h\1R";
  refuse_all({
      {"a list in itself", torch_bytes(pickle("]q\1h\1a")), "holds no table of tensors by name"},
      {"a table of itself", torch_bytes(pickle("}q\1h\1h\1s")), "a key that is not text"},
      {"a hundred thousand deep", torch_bytes(pickle(deep)), "values, expected one"},
      {"ten to the thousandth", torch_bytes(pickle(bomb)), "values, expected one"},
      {"a tuple called with often", torch_bytes(pickle(calls)), "values, expected one"},
      {"a parameter of itself",
       torch_bytes(table(text("w") + global("torch._utils", "_rebuild_parameter") + "(]q\1h\1atR")),
       "is a parameter without a tensor"},
  });
}

TEST_CASE("tensors that are none") {
  const auto bytes = [](TorchTensor tensor, std::size_t size = 24) {
    return torch_bytes(tensor, size);
  };
  const std::string storage = tuple(text("storage") + global("torch", "FloatStorage") + text("0") +
                                    text("cpu") + integer(6)) +
                              "Q";
  refuse_all({
      {"no table", torch_bytes(pickle("]")), "holds no table of tensors by name"},
      {"a name twice",
       torch_bytes(table(text("w") + TorchTensor{}.bytes() + text("w") + TorchTensor{}.bytes())),
       "tensor 'w' stands twice"},
      {"a key of a number", torch_bytes(table(integer(1) + "N")), "a key that is not text"},
      {"a storage shorter than it says", bytes({}, 23), "has a storage of 6 F32 in 23 bytes"},
      {"a storage of 2^62 elements", bytes({.elements = std::int64_t{1} << 62}),
       "has a storage of 4611686018427387904 F32 in 24 bytes"},
      {"a storage shorter than the shape", bytes({.elements = 5}), "exceeds its storage of 5"},
      {"an offset too far", bytes({.offset = 1}), "exceeds its storage of 6 elements"},
      {"an offset below 0", bytes({.offset = -1}), "exceeds its storage of 6 elements"},
      {"an offset of 2^63 - 1", bytes({.offset = INT64_MAX}), "exceeds its storage of 6"},
      {"strides too wide", bytes({.strides = integer(4) + integer(1)}), "exceeds its storage of 6"},
      {"strides that wrap", bytes({.strides = integer(INT64_MAX) + integer(INT64_MAX)}),
       "exceeds its storage of 6 elements"},
      {"a stride below 0", bytes({.strides = integer(-3) + integer(1)}),
       "strides that are not whole numbers from 0"},
      {"a shape below 0", bytes({.shape = integer(2) + integer(-3)}),
       "shape that are not whole numbers from 0"},
      {"a shape of texts", bytes({.shape = text("2") + text("3")}), "not whole numbers from 0"},
      {"a shape that wraps",
       bytes({.shape = integer(std::int64_t{1} << 40) + integer(std::int64_t{1} << 40),
              .strides = integer(0) + integer(0)}),
       "has more than 2^64 elements"},
      {"nine dimensions",
       bytes({.shape = integer(1) + integer(1) + integer(1) + integer(1) + integer(1) + integer(1) +
                       integer(1) + integer(1) + integer(1)}),
       "has 9 dimensions, expected at most 8"},
      {"more strides than dimensions", bytes({.strides = integer(1)}),
       "2 dimensions and 1 strides"},
      {"a missing entry", bytes({.entry = "1"}), "is in data/1, which is missing"},
      {"an entry elsewhere", bytes({.entry = "../version"}), "which is missing"},
      {"a type nobody knows", bytes({.type = "QInt8Storage"}), "asks for torch.QInt8Storage"},
      {"a function for a type",
       torch_bytes(rebuilt(tuple(text("storage") + global("torch._utils", "_rebuild_parameter") +
                                 text("0") + text("cpu") + integer(6)) +
                           "Q" + integer(0) + ")))")),
       "has torch._utils._rebuild_parameter for a storage"},
      {"a storage of another form", torch_bytes(rebuilt("NQ" + integer(0) + "))")),
       "has a storage of an unknown form"},
      {"too few arguments", torch_bytes(rebuilt(storage + integer(0))), "is not storage, offset"},
  });
}

TEST_CASE("archives that are none") {
  const ZipPart description{"m/data.pkl", table("")};
  const std::string good = zip_bytes({description});
  const std::string compressed_here = [&] {
    std::string bytes = good;
    bytes[8] = 8;
    return bytes;
  }();
  const auto with64 = [&](std::uint64_t place) {
    std::string bytes = good;
    const std::string end = bytes.substr(bytes.size() - 22);
    bytes.resize(bytes.size() - 22);
    return bytes + "PK\6\7" + bytes_of(std::uint32_t{0}) + bytes_of(place) +
           bytes_of(std::uint32_t{1}) + end;
  };
  refuse_all({
      {"an empty file", "", "found no end of a zip archive"},
      {"a safetensors file", "\x02\0\0\0\0\0\0\0{}"s, "found no end of a zip archive"},
      {"an end alone", "PK\5\6"s + std::string(18, '\0'), "an archive without data.pkl"},
      {"a byte behind the end", good + "x", "found no end of a zip archive"},
      {"a compressed entry", zip_bytes({{"m/data.pkl", "x", 8}}),
       "entry 'm/data.pkl' is compressed; expected uncompressed entries"},
      {"compressed where it stands", compressed_here,
       "is compressed or encrypted at its own place"},
      {"an encrypted entry", zip_bytes({{"m/data.pkl", "x", 0, 1}}), "is encrypted"},
      {"two entries of one name", zip_bytes({description, description}),
       "entry 'm/data.pkl' stands twice"},
      {"entries that overlap",
       zip_bytes({description, {.name = "m/data.pkl", .bytes = table(""), .moved = -46}}),
       "inside the entry before it"},
      {"an entry outside", zip_bytes({{.name = "m/data.pkl", .bytes = "x", .moved = 4000}}),
       "has no header at byte 4000"},
      {"an entry before the file", zip_bytes({{.name = "m/data.pkl", .bytes = "x", .moved = -1}}),
       "has no header at byte 4294967295"},
      {"an entry that leaves the file",
       zip_bytes({{.name = "m/data.pkl", .bytes = "x", .more = 1}}), "which exceed the file"},
      {"an entry called otherwise",
       zip_bytes({{.name = "m/data.pkl", .bytes = "x", .other_name = "m/data.pkx"}}),
       "has another name at its own place"},
      {"more entries than there are", zip_bytes({description}, {.more_entries = 1}),
       "2 entries in a list of"},
      {"fewer entries than there are", zip_bytes({description}, {.more_entries = -1}),
       "its list of entries is 0 bytes long"},
      {"a list elsewhere", zip_bytes({description}, {.moved = -1}), "is damaged at byte"},
      {"a list behind the end", zip_bytes({description}, {.moved = 1}), "exceeds the file"},
      {"several disks", zip_bytes({description}, {.disk = 1}), "an archive in several parts"},
      {"a zip64 end that is none", with64(0), "its zip64 end record is not at byte 0"},
      {"a zip64 end behind the file", with64(UINT64_MAX), "its zip64 end record is not at byte"},
      {"two descriptions", zip_bytes({description, {"n/data.pkl", table("")}}), "two descriptions"},
      {"no description", zip_bytes({{"m/version", "3\n"}}), "an archive without data.pkl"},
      {"big-endian numbers", zip_bytes({description, {"m/byteorder", "big"}}), "byte order"},
  });
}

}  // namespace
}  // namespace attn
