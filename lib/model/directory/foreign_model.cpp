#include "model/directory/foreign_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCTranslate2 =
    "a CTranslate2 model, which cannot be converted back; use the Hugging Face model that it was "
    "made from";
constexpr const char* kMarianNpz =
    "a checkpoint of Marian's own (.npz); convert its directory with python -m "
    "transformers.models.marian.convert_marian_to_pytorch";
constexpr const char* kMarianBin =
    "a model in Marian's binary form (.bin), which cannot be converted back; convert the .npz file "
    "that it was made from, with python -m "
    "transformers.models.marian.convert_marian_to_pytorch";
constexpr const char* kArgos =
    "an Argos Translate package, which holds a CTranslate2 model; use a Hugging Face model for the "
    "same languages, such as Helsinki-NLP/opus-mt-en-de";
constexpr const char* kGguf =
    "a GGUF file (llama.cpp), which cannot be converted back; use the Hugging Face model that it "
    "was made from";
constexpr const char* kFairseq =
    "a checkpoint of fairseq or OpenNMT (.pt); use the model's conversion to transformers, if its "
    "authors publish one";
constexpr const char* kBergamot =
    "a quantized model of Bergamot (Firefox Translations), which cannot be converted back; convert "
    "the .npz file that it was made from, with python -m "
    "transformers.models.marian.convert_marian_to_pytorch";
constexpr const char* kAdapter =
    "an adapter (LoRA) without its model; merge it into the model with peft's merge_and_unload and "
    "save_pretrained";
constexpr const char* kWebPage =
    "a web page in the place of a model's file; download the file itself, for example with hf "
    "download";
constexpr const char* kOnnx =
    "an ONNX model; use the PyTorch or safetensors model that it was exported from";

std::string other_framework(std::string_view name, std::string_view argument) {
  return fmt::format(
      "a {} checkpoint; convert its directory with transformers 4: python -c \"from transformers "
      "import AutoModelForSeq2SeqLM as M; M.from_pretrained('DIR', "
      "{}=True).save_pretrained('DIR')\"",
      name, argument);
}

/// Returns up to this many first bytes of a file; nothing if it cannot be read.
std::string first_bytes(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::array<char, 4096> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(file.gcount())};
}

/// True for CTranslate2's model.bin: a version, and the length and name of its specification.
bool is_ctranslate2(std::string_view bytes) {
  constexpr std::size_t kNameBegin = 6, kNames = 64;
  if (bytes.size() < kNameBegin) return false;
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data(), sizeof version);
  constexpr std::uint32_t kNewest = 100;
  return version >= 1 && version <= kNewest &&
         bytes.substr(kNameBegin, kNames).find("Spec") != bytes.npos;
}

/// True for what a browser shows; a download without access returns a page.
bool is_web_page(std::string_view bytes) {
  const std::string start = ascii_lower(bytes.substr(0, 15));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

/// True for marian-conv's files: version 1 in eight bytes, then the number of tensors.
bool is_marian_binary(std::string_view bytes) {
  constexpr std::size_t kHeader = 16;
  if (bytes.size() < kHeader) return false;
  std::array<std::uint64_t, 2> header{};
  std::memcpy(header.data(), bytes.data(), kHeader);
  constexpr std::uint64_t kMostTensors = 100'000;
  return header[0] == 1 && header[1] > 0 && header[1] < kMostTensors;
}

std::optional<std::string> describe_file(const fs::path& path) {
  const std::string bytes = first_bytes(path);
  const std::string name = path.filename().string();
  const std::string extension = ascii_lower(path.extension().string());
  using namespace std::string_view_literals;
  if (bytes.starts_with("GGUF"sv) || bytes.starts_with("lmgg"sv)) return kGguf;
  if (bytes.starts_with("\x89HDF\r\n\x1a\n"sv)) return other_framework("TensorFlow", "from_tf");
  if (extension == ".msgpack") return other_framework("Flax", "from_flax");
  if (extension == ".argosmodel") return kArgos;
  if (extension == ".onnx") return kOnnx;
  if (name == "saved_model.pb")
    return "a TensorFlow SavedModel; use the checkpoint it was made from";
  if (std::string_view(bytes)
          .substr(std::min<std::size_t>(4, bytes.size()))
          .starts_with("TFL3"sv)) {
    return "a TensorFlow Lite model; use the checkpoint it was made from";
  }
  if (bytes.starts_with("PK"sv) && extension == ".npz") return kMarianNpz;
  if (name.find(".intgemm") != name.npos) return kBergamot;
  if (name == "params.best") return "a model of Sockeye; its format is read by Sockeye alone";
  const bool of_trainer =
      name == "optimizer.pt" || name == "scheduler.pt" || name.starts_with("rng_state");
  if ((extension == ".pt" || extension == ".pth") && !of_trainer) return kFairseq;
  if (name.find(".ckpt") != name.npos && extension == ".index") {
    return "a checkpoint of TensorFlow 1; use the model's conversion to transformers";
  }
  if (name == "openvino_model.xml" || name == "openvino_encoder_model.xml") {
    return "an OpenVINO model; use the model that it was exported from";
  }
  if (name == "adapter_config.json") return kAdapter;
  if (extension == ".gz" || extension == ".tgz" || extension == ".zip" || extension == ".tar") {
    return "an archive; unpack it and name the directory that holds config.json";
  }
  if (is_web_page(bytes) && extension != ".html") return kWebPage;
  if (extension == ".bin" && is_ctranslate2(bytes)) return kCTranslate2;
  if (extension == ".bin" && is_marian_binary(bytes)) return kMarianBin;
  return std::nullopt;
}

/// Returns a directory's files in alphabetical order.
std::vector<fs::path> files_of(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  constexpr std::size_t kMost = 10'000;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (files.size() < kMost) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::optional<std::string> describe_foreign_model(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return describe_file(path);
  const auto has = [&](const char* name) { return fs::exists(fs::path(path) / name, error); };
  if (has("metadata.json") && has("model/model.bin")) return kArgos;
  for (const fs::path& file : files_of(path)) {
    if (const auto found = describe_file(file)) {
      return fmt::format("{} is {}", printable(file.filename().string()), *found);
    }
  }
  // transformers calls its weights pytorch_model.bin.
  if (has("model.bin")) return fmt::format("model.bin is {}", kCTranslate2);
  if (has("model/model.bin")) return kArgos;
  // Exports keep their parts in a folder.
  for (const fs::path& file : files_of(fs::path(path) / "onnx")) {
    if (file.extension() == ".onnx") return kOnnx;
  }
  return std::nullopt;
}

void refuse_foreign_model(const std::string& path) {
  if (const auto found = describe_foreign_model(path)) {
    throw InputError("{}: {}", printable(path), *found);
  }
}

}  // namespace attn
