#include "model/directory/weights.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "model/directory/safetensors.h"
#include "model/directory/torch_file.h"

namespace attn {
namespace {

constexpr std::array kForms = {"model.safetensors", "model.safetensors.index.json",
                               "pytorch_model.bin", "pytorch_model.bin.index.json"};
constexpr std::size_t kMostShards = 1000;
constexpr std::size_t kIndexBytes = std::size_t{64} << 20;

bool is_index(const std::string& path) {
  return path.ends_with(".json");
}

/// A shard lies beside its index: a name that would lead elsewhere is refused.
void check_shard_name(const Json& name, const std::string& tensor, const std::string& where) {
  const bool plain = name.is_string() && !name.get_ref<const std::string&>().empty() &&
                     !name.get_ref<const std::string&>().starts_with('.') &&
                     name.get_ref<const std::string&>().find_first_of(
                         std::string_view("/\\\0", 3)) == std::string::npos;
  if (plain) return;
  throw InputError("{}: weight_map puts tensor {} into {}; expected a file of the same directory",
                   where, excerpt(tensor), excerpt(name.dump()));
}

/// Tensor to file, of an index.
std::map<std::string, std::string> read_index(const std::string& path) {
  const Json json = parse_json(read_file(path, kIndexBytes), path);
  const std::string where = printable(path);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object() ||
      json["weight_map"].empty()) {
    throw InputError("{}: found no weight_map; expected one that names the file of each tensor",
                     where);
  }
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    check_shard_name(file, tensor, where);
    files[tensor] = file.get<std::string>();
  }
  return files;
}

std::vector<std::string> shards_of(const std::string& index, const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& [tensor, file] : read_index(index)) names.push_back(file);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kMostShards) {
    throw InputError("{}: {} shards, expected at most {}", printable(index), names.size(),
                     kMostShards);
  }
  for (std::string& name : names) name = join_path(directory, name.c_str());
  return names;
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<std::string> weight_files(const std::string& directory) {
  for (const char* form : kForms) {
    const std::string path = join_path(directory, form);
    if (!file_exists(path)) continue;
    std::vector<std::string> files{path};
    if (is_index(path)) {
      const std::vector<std::string> shards = shards_of(path, directory);
      files.insert(files.end(), shards.begin(), shards.end());
    }
    return files;
  }
  return {};
}

Weights::Weights(const std::string& directory) {
  std::vector<std::string> paths = weight_files(directory);
  if (paths.empty()) {
    throw InputError(
        "{}: missing from the model directory; its weights are expected as model.safetensors or "
        "pytorch_model.bin, or as shards with their index",
        join_path(directory, kForms[0]));
  }
  path_ = paths.front();
  if (is_index(path_)) paths.erase(paths.begin());
  const bool torch = file_name(path_).starts_with("pytorch_model");
  for (const std::string& path : paths) {
    if (!file_exists(path)) {
      throw InputError("{}: missing from the model directory; {} names it", printable(path),
                       file_name(path_));
    }
    files_.emplace_back(path, torch ? read_torch_table : read_safetensors_table);
  }
  for (const TensorFile& file : files_) {
    for (const TensorInfo& tensor : file.tensors()) tensors_.push_back(&tensor);
  }
  if (is_index(path_)) check_shards(path_);
  by_name_ = tensors_;
  std::ranges::sort(by_name_, {},
                    [](const TensorInfo* t) -> const std::string& { return t->name; });
}

void Weights::check_shards(const std::string& index) const {
  std::map<std::string, std::string> expected = read_index(index);
  for (const TensorFile& file : files_) {
    const std::string name = file_name(file.path());
    for (const TensorInfo& tensor : file.tensors()) {
      const auto [entry, unlisted] = expected.emplace(tensor.name, name);
      if (unlisted || entry->second == name) continue;
      throw InputError("{}: tensor {} is in {}, and weight_map puts it into {}", printable(index),
                       excerpt(tensor.name), excerpt(name), excerpt(entry->second));
    }
  }
  for (const TensorFile& file : files_) {
    const std::string name = file_name(file.path());
    for (const auto& [tensor, shard] : expected) {
      if (shard != name || file.find(tensor) != nullptr) continue;
      throw InputError("{}: weight_map puts tensor {} into {}, which has no such tensor",
                       printable(index), excerpt(tensor), excerpt(shard));
    }
  }
}

const TensorInfo* Weights::find(std::string_view name) const {
  const auto name_of = [](const TensorInfo* t) -> std::string_view { return t->name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found == by_name_.end() || name_of(*found) != name ? nullptr : *found;
}

void Weights::release(std::span<const std::byte> bytes) const {
  for (const TensorFile& file : files_) file.release(bytes);
}

}  // namespace attn
