#include "model/directory/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "base/at.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "compute/threads.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "model/directory/foreign_model.h"
#include "model/directory/safetensors.h"
#include "model/directory/torch_file.h"
#include "model/layers.h"

namespace attn {
namespace {

constexpr std::array kForms = {"model.safetensors", "model.safetensors.index.json",
                               "pytorch_model.bin", "pytorch_model.bin.index.json"};
constexpr std::size_t kMostShards = 1000;
constexpr std::size_t kIndexBytes = std::size_t{64} << 20;

bool is_index(const std::string& path) {
  return path.ends_with(".json");
}

/// Refuses the name of a shard that is not directly beside its index.
void check_shard_name(const Json& name, const std::string& tensor, const std::string& where) {
  const bool plain = name.is_string() && !name.get_ref<const std::string&>().empty() &&
                     !name.get_ref<const std::string&>().starts_with('.') &&
                     name.get_ref<const std::string&>().find_first_of(
                         std::string_view("/\\\0", 3)) == std::string::npos;
  if (plain) return;
  throw InputError("{}: weight_map puts tensor {} into {}; expected a file of the same directory",
                   where, excerpt(tensor), excerpt(name.dump()));
}

/// Reads an index: tensor name to file name.
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
    refuse_foreign_model(directory);
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

namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Returns the index of the first NaN or infinity among `count` numbers whose exponent has these
/// bits, or −1. Tests the bits as integers, because float comparisons can miss a NaN.
template <typename Bits>
Index first_not_finite(const std::byte* data, Index count, Bits exponent) {
  constexpr Index kBlock = 4096;
  const auto is_bad = [&](Index i) {
    Bits bits = 0;
    std::memcpy(&bits, data + i * to_index(sizeof bits), sizeof bits);
    return (bits & exponent) == exponent;
  };
  for (Index i = 0; i < count; i += kBlock) {
    const Index end = std::min(i + kBlock, count);
    Bits bad = 0;
    for (Index j = i; j < end; ++j) bad |= static_cast<Bits>(is_bad(j));
    if (bad == 0) continue;
    for (Index j = i; j < end; ++j) {
      if (is_bad(j)) return j;
    }
  }
  return -1;
}

/// Same for a parameter's numbers, in whatever type they are stored.
Index first_not_finite(const Parameter& row, Index count) {
  if (row.data != nullptr) {
    return first_not_finite(reinterpret_cast<const std::byte*>(row.data), count,
                            std::uint32_t{0x7F800000});
  }
  const bool f16 = row.format == half::Format::f16;
  return first_not_finite(row.narrow, count, static_cast<std::uint16_t>(f16 ? 0x7C00 : 0x7F80));
}

/// True if the tensor stays in 16 bits. Matmul weights are packed and embedding rows read directly
/// from 16 bits; parameters that layers read as they are (biases, norms, positions) are small and
/// get widened.
bool stays_half(const ParameterInfo& info, const TensorInfo& tensor) {
  return tensor.strides.empty() && (tensor.dtype == DType::f16 || tensor.dtype == DType::bf16) &&
         (info.role == ParameterRole::weight || info.role == ParameterRole::embedding);
}

}  // namespace

TensorBinder::TensorBinder(const ModelConfig& config, std::shared_ptr<const Weights> weights)
    : config_(config), weights_(std::move(weights)) {
  storage_.push_back(weights_);
  const ModelFamily& family = family_of(config_);
  prefix_ = family.tensor_prefix;
  prefix_missing_ = !family.uses_marian_keys &&
                    std::ranges::none_of(weights_->tensors(), [&](const TensorInfo* tensor) {
                      return tensor->name.starts_with(prefix_);
                    });
}

void TensorBinder::bind(const ParameterInfo& info, Parameter& parameter) {
  const TensorInfo* tensor = find(info.name);
  if (tensor != nullptr) {
    used_.insert(tensor->name);
    check_shape(info, *tensor);
  }
  if (!info.tied_to.empty()) {
    parameter = bound_.at(info.tied_to);
    return;
  }
  if (tensor == nullptr) tensor = find_tied_copy(info);
  const bool drawn = info.role == ParameterRole::features || info.role == ParameterRole::rotations;
  if (tensor == nullptr && info.buffer && !drawn) {
    parameter = make_default(info);
  } else if (tensor == nullptr) {
    throw InputError("{}: tensor {} is missing; the nearest present is {}", weights_->path(),
                     info.name, nearest_word(info.name, names()));
  } else {
    parameter = take(info, *tensor);
  }
  bound_[info.name] = parameter;
}

void TensorBinder::check_finite() const {
  std::vector<Index> bad(bound_tensors_.size(), -1);
  parallel_for(std::ssize(bound_tensors_), Index{1} << 20, [&](Index i) {
    const auto& [tensor, row] = at(bound_tensors_, i);
    at(bad, i) = first_not_finite(row, to_index(tensor->elements));
  });
  for (std::size_t i = 0; i < bad.size(); ++i) {
    if (bad[i] < 0) continue;
    throw InputError("{}: tensor {} holds {} at element {}; weights must be finite",
                     weights_->path(), bound_tensors_[i].first->name,
                     bound_tensors_[i].second.at(0, bad[i]), bad[i]);
  }
}

std::vector<std::string> TensorBinder::unused() const {
  std::vector<std::string> rest;
  for (const TensorInfo* tensor : weights_->tensors()) {
    // A tensor without elements, such as Pegasus-X's table of zero global tokens, is never unused.
    if (!used_.contains(tensor->name) && tensor->elements > 0) rest.push_back(tensor->name);
  }
  return rest;
}

std::vector<std::string> TensorBinder::names() const {
  std::vector<std::string> all;
  for (const TensorInfo* tensor : weights_->tensors()) all.push_back(printable(tensor->name));
  return all;
}

void TensorBinder::check_shape(const ParameterInfo& info, const TensorInfo& tensor) const {
  if (tensor.shape == info.shape) return;
  throw InputError("{}: tensor {} has shape {}; config.json asks for {}", weights_->path(),
                   info.name, shape_text(tensor.shape), shape_text(info.shape));
}

/// If a shared memory's main name is absent, any of the names tied to it will do.
const TensorInfo* TensorBinder::find_tied_copy(const ParameterInfo& info) const {
  const std::string shared = prefix_ + "shared.weight";
  const std::string encoder = prefix_ + "encoder.embed_tokens.weight";
  const std::string decoder = prefix_ + "decoder.embed_tokens.weight";
  std::vector<std::string> copies;
  if (info.name == shared) copies = {encoder, decoder};
  if (info.name == encoder || info.name == decoder) copies = {shared};
  if (info.role == ParameterRole::embedding && config_.tie_word_embeddings &&
      info.name != encoder) {
    copies.emplace_back("lm_head.weight");
  }
  for (const std::string& name : copies) {
    const TensorInfo* tensor = find(name);
    if (tensor == nullptr) continue;
    check_shape(info, *tensor);
    return tensor;
  }
  return nullptr;
}

float* TensorBinder::allocate(std::uint64_t elements) {
  // A view may repeat numbers, so it can be larger than its file.
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;
  if (elements > kLarge) require_memory(elements * sizeof(float), "copying a tensor");
  auto memory = std::make_shared<AlignedFloats>(to_size(elements));
  storage_.push_back(memory);
  return memory->data();
}

Parameter TensorBinder::take(const ParameterInfo& info, const TensorInfo& tensor) {
  std::byte* bytes = tensor.data;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % 4 == 0;
  Parameter found = parameter_at(info, nullptr);
  if (tensor.dtype == DType::i8 && info.role == ParameterRole::weight &&
      config_.model_type == "attn-demo") {
    found.narrow = bytes;
    found.scales = read_scales(info, tensor);
    found.scales_of_rows = false;  // rows of the file are columns of the model
    return found;
  }
  if (tensor.dtype == DType::f32 && aligned && tensor.strides.empty()) {
    found.data = reinterpret_cast<float*>(bytes);
  } else if (stays_half(info, tensor)) {
    found.narrow = bytes;
    found.format = tensor.dtype == DType::f16 ? half::Format::f16 : half::Format::bf16;
  } else {
    found.data = allocate(tensor.elements);
    weights_->read(tensor, found.data);
  }
  Parameter in_a_row = found;
  in_a_row.row_stride = 0;
  in_a_row.column_stride = 1;
  bound_tensors_.emplace_back(&tensor, in_a_row);
  return found;
}

/// Returns the scales of a weight's rows in the file, [out].
const float* TensorBinder::read_scales(const ParameterInfo& info, const TensorInfo& tensor) {
  const std::byte* bytes = tensor.data;
  for (std::uint64_t i = 0; i < tensor.elements; ++i) {
    if (bytes[i] != std::byte{0x80}) continue;
    throw InputError("{}: tensor {} holds -128 at element {}; expected -127 to 127",
                     weights_->path(), tensor.name, i);
  }
  ParameterInfo scales = info;
  scales.name += "_scale";
  scales.shape = {info.shape.front()};
  scales.role = ParameterRole::bias;
  scales.transposed = false;
  const TensorInfo* found = find(scales.name);
  if (found == nullptr) {
    throw InputError("{}: tensor {} is missing; the int8 weights of {} need a scale for each row",
                     weights_->path(), scales.name, info.name);
  }
  used_.insert(found->name);
  check_shape(scales, *found);
  const Parameter values = take(scales, *found);
  for (Index i = 0; i < values.columns; ++i) {
    if (values.at(0, i) >= 0 || std::isnan(values.at(0, i))) continue;
    throw InputError("{}: tensor {} holds {} at element {}; scales are not negative",
                     weights_->path(), scales.name, values.at(0, i), i);
  }
  return values.data;
}

Parameter TensorBinder::make_default(const ParameterInfo& info) {
  float* data = allocate(info.elements());
  if (info.role == ParameterRole::positions) {
    const auto rows = to_index(info.shape[0]);
    const auto columns = to_index(info.shape[1]);
    Eigen::Map<Matrix>(data, rows, columns) = position_sinusoids(config_, rows);
  } else {
    std::fill_n(data, info.elements(), 0.0F);
  }
  return parameter_at(info, data);
}

/// Finds the tensor of this name. Files of the bare model (BartModel) lack the prefix that all
/// names of the full class have.
const TensorInfo* TensorBinder::find(const std::string& name) const {
  const TensorInfo* tensor = weights_->find(name);
  if (tensor != nullptr || !prefix_missing_ || !name.starts_with(prefix_)) return tensor;
  return weights_->find(name.substr(prefix_.size()));
}

}  // namespace attn
