#include "model/model_directory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/at.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "compute/int8_kernels.h"
#include "config/experiment.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "model/memory.h"
#include "model/safetensors_write.h"
#include "nn/embedding.h"

namespace attn {
namespace {

std::string in_directory(const std::string& directory, const char* file) {
  return directory + (directory.empty() || directory.back() == '/' ? "" : "/") + file;
}

std::string require_file(const std::string& directory, const char* file) {
  std::string path = in_directory(directory, file);
  if (!file_exists(path)) {
    const bool torch = file_exists(in_directory(directory, "pytorch_model.bin"));
    throw InputError("{}: missing from the model directory{}", path,
                     torch
                         ? "; it holds pytorch_model.bin: load it in transformers and "
                           "save_pretrained() it as safetensors"
                         : "; a model directory holds config.json, model.safetensors, source.spm, "
                           "target.spm and vocab.json");
  }
  return path;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Index of the first NaN or infinity among `count` numbers whose exponent has these bits, or −1.
/// Integer tests: no float compare can hide a NaN.
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

/// The same of a tensor where it lies in its file.
Index first_not_finite(const TensorInfo& tensor, const std::byte* bytes) {
  const Index count = to_index(tensor.elements);
  switch (tensor.dtype) {
    case DType::f16:
      return first_not_finite(bytes, count, std::uint16_t{0x7C00});
    case DType::bf16:
      return first_not_finite(bytes, count, std::uint16_t{0x7F80});
    default:
      return first_not_finite(bytes, count, std::uint32_t{0x7F800000});
  }
}

/// Matrices are packed for their products, and rows of embeddings read, from 16 bits; what layers
/// read as it is (biases, norms, positions) is small.
bool stays_narrow(const ParameterInfo& info, const TensorInfo& tensor) {
  return (tensor.dtype == DType::f16 || tensor.dtype == DType::bf16) &&
         (info.role == ParameterRole::weight || info.role == ParameterRole::embedding);
}

/// Binds the parameters of a model to the tensors of a file.
class Binder {
 public:
  Binder(const ModelConfig& config, std::shared_ptr<SafetensorsFile> file)
      : config_(config), file_(std::move(file)) {
    storage_.push_back(file_);
    const Family* family = family_of(config_.model_type);
    base_ = family == nullptr ? "model." : family->base;
    bare_ =
        family != nullptr && std::ranges::none_of(file_->tensors(), [&](const TensorInfo& tensor) {
          return tensor.name.starts_with(base_);
        });
  }

  void bind(const ParameterInfo& info, Parameter& parameter) {
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
    const bool drawn =
        info.role == ParameterRole::features || info.role == ParameterRole::rotations;
    if (tensor == nullptr && info.buffer && !drawn) {
      parameter = make_default(info);
    } else if (tensor == nullptr) {
      throw InputError("{}: tensor {} is missing; the nearest present is {}", file_->path(),
                       info.name, nearest(info.name, names()));
    } else {
      parameter = take(info, *tensor);
    }
    bound_[info.name] = parameter;
  }

  /// Finite everywhere, on all threads; the first offender by order of the file is named.
  void check_finite() const {
    std::vector<Index> bad(bound_tensors_.size(), -1);
    parallel_for(std::ssize(bound_tensors_), Index{1} << 20, [&](Index i) {
      const TensorInfo& tensor = *at(bound_tensors_, i).first;
      at(bad, i) = first_not_finite(tensor, file_->bytes(tensor));
    });
    for (std::size_t i = 0; i < bad.size(); ++i) {
      if (bad[i] < 0) continue;
      throw InputError("{}: tensor {} holds {} at element {}; weights must be finite",
                       file_->path(), bound_tensors_[i].first->name,
                       bound_tensors_[i].second.at(0, bad[i]), bad[i]);
    }
  }

  std::vector<std::string> unused() const {
    std::vector<std::string> rest;
    for (const TensorInfo& tensor : file_->tensors()) {
      if (!used_.contains(tensor.name)) rest.push_back(tensor.name);
    }
    return rest;
  }

  Transformer::Storage take_storage() { return std::move(storage_); }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const TensorInfo& tensor : file_->tensors()) all.push_back(printable(tensor.name));
    return all;
  }

  void check_shape(const ParameterInfo& info, const TensorInfo& tensor) const {
    if (tensor.shape == info.shape) return;
    throw InputError("{}: tensor {} has shape {}; config.json asks for {}", file_->path(),
                     info.name, shape_text(tensor.shape), shape_text(info.shape));
  }

  /// Where the main name of a shared memory is absent, any of its tied names will do.
  const TensorInfo* find_tied_copy(const ParameterInfo& info) {
    const std::string shared = base_ + "shared.weight";
    const std::string encoder = base_ + "encoder.embed_tokens.weight";
    const std::string decoder = base_ + "decoder.embed_tokens.weight";
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

  float* allocate(std::uint64_t elements) {
    auto memory = std::make_shared<AlignedFloats>(to_size(elements));
    storage_.push_back(memory);
    return memory->data();
  }

  Parameter take(const ParameterInfo& info, const TensorInfo& tensor) {
    std::byte* bytes = file_->bytes(tensor);
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % 4 == 0;
    Parameter found = parameter_at(info, nullptr);
    if (tensor.dtype == DType::i8 && info.role == ParameterRole::weight &&
        config_.model_type == "attn-demo") {
      found.narrow = bytes;
      found.scales = take_scales(info, tensor);
      found.scales_of_rows = false;  // of the file's rows, which the model sees as columns
      return found;
    }
    if (tensor.dtype == DType::f32 && aligned) {
      found.data = reinterpret_cast<float*>(bytes);
    } else if (stays_narrow(info, tensor)) {
      found.narrow = bytes;
      found.format = tensor.dtype == DType::f16 ? half::Format::f16 : half::Format::bf16;
    } else {
      found.data = allocate(tensor.elements);
      file_->read(tensor, found.data);
    }
    Parameter in_a_row = found;
    in_a_row.row_stride = 0;
    in_a_row.column_stride = 1;
    bound_tensors_.emplace_back(&tensor, in_a_row);
    return found;
  }

  /// The scales of a weight's rows in the file, [out].
  const float* take_scales(const ParameterInfo& info, const TensorInfo& tensor) {
    const std::byte* bytes = file_->bytes(tensor);
    for (std::uint64_t i = 0; i < tensor.elements; ++i) {
      if (bytes[i] != std::byte{0x80}) continue;
      throw InputError("{}: tensor {} holds -128 at element {}; expected -127 to 127",
                       file_->path(), tensor.name, i);
    }
    ParameterInfo scales = info;
    scales.name += "_scale";
    scales.shape = {info.shape.front()};
    scales.role = ParameterRole::bias;
    scales.transposed = false;
    const TensorInfo* found = find(scales.name);
    if (found == nullptr) {
      throw InputError("{}: tensor {} is missing; the 8 bits of {} need a scale for each row",
                       file_->path(), scales.name, info.name);
    }
    used_.insert(found->name);
    check_shape(scales, *found);
    const Parameter values = take(scales, *found);
    for (Index i = 0; i < values.columns; ++i) {
      if (values.at(0, i) >= 0 || std::isnan(values.at(0, i))) continue;
      throw InputError("{}: tensor {} holds {} at element {}; scales are not negative",
                       file_->path(), scales.name, values.at(0, i), i);
    }
    return values.data;
  }

  Parameter make_default(const ParameterInfo& info) {
    float* data = allocate(info.elements());
    if (info.role == ParameterRole::positions) {
      const auto rows = to_index(info.shape[0]);
      const auto columns = to_index(info.shape[1]);
      Eigen::Map<Matrix>(data, rows, columns) = sinusoids(rows, columns, sinusoids_of(config_));
    } else {
      std::fill_n(data, info.elements(), 0.0F);
    }
    return parameter_at(info, data);
  }

  /// The tensor of this name, or, in a file of the bare model (BartModel), without what all of a
  /// class's names begin with.
  const TensorInfo* find(const std::string& name) const {
    const TensorInfo* tensor = file_->find(name);
    if (tensor != nullptr || !bare_ || !name.starts_with(base_)) return tensor;
    return file_->find(name.substr(base_.size()));
  }

  const ModelConfig& config_;
  std::shared_ptr<SafetensorsFile> file_;
  std::string base_;
  bool bare_ = false;
  Transformer::Storage storage_;
  std::map<std::string, Parameter> bound_;
  std::set<std::string> used_;
  std::vector<std::pair<const TensorInfo*, Parameter>> bound_tensors_;  ///< as one row
};

/// The token ids of one key of generation_config.json: one, a list, or none.
std::vector<int> ids_of(const Json& generation, const char* key, int vocabulary,
                        const std::string& where) {
  const auto found = generation.find(key);
  if (found == generation.end() || found->is_null()) return {};
  std::vector<int> ids;
  for (const Json& value : found->is_array() ? *found : Json::array({*found})) {
    const std::optional<int> id = as_int(value);
    if (!value.is_number_integer()) {
      throw InputError("{}: {} is {}; expected a token id, or a list of them", where, key,
                       describe(*found));
    }
    if (!id || *id < 0 || *id >= vocabulary) {
      throw InputError("{}: {} {} is outside the vocabulary of {}", where, key, describe(value),
                       vocabulary);
    }
    ids.push_back(*id);
  }
  return ids;
}

/// `generate` takes start and end from generation_config.json alone; bos_token_id stands in for a
/// missing start.
void take_ids(const Json& generation, DirectoryConfig& config, const std::string& where) {
  const int vocabulary = config.model.decoder_vocab_size;
  config.decode.eos_token_ids = ids_of(generation, "eos_token_id", vocabulary, where);
  std::vector<int> start = ids_of(generation, "decoder_start_token_id", vocabulary, where);
  if (start.empty()) start = ids_of(generation, "bos_token_id", vocabulary, where);
  if (start.size() != 1) {
    throw InputError(
        "{}: decoder_start_token_id is {}; expected one token id, with which each translation "
        "begins",
        where, start.empty() ? "missing" : "a list of several");
  }
  config.model.decoder_start_token_id = start.front();
}

}  // namespace

DirectoryConfig read_directory_config(const std::string& directory) {
  if (!directory_exists(directory)) {
    if (file_exists(directory)) {
      throw SystemError("{}: a file; expected the model directory that holds it", directory);
    }
    throw SystemError("{}: no such model directory; check the path", directory);
  }
  DirectoryConfig result;
  const std::string path = require_file(directory, "config.json");
  const Json json = read_json_file(path);
  result.model = model_config_from_directory(json, path, result.unknown_keys, result.notes);
  const std::string generation = in_directory(directory, "generation_config.json");
  if (file_exists(generation) || directory_exists(generation)) {
    const Json options = read_json_file(generation);
    result.decode = decode_options_from_directory(options, generation, result.notes);
    take_ids(options, result, generation);
  } else {
    result.decode = decode_options_from_directory(json, path, result.notes);
  }
  return result;
}

LoadedModel load_model(const std::string& directory, Backend backend) {
  DirectoryConfig config = read_directory_config(directory);
  auto file = std::make_shared<SafetensorsFile>(require_file(directory, "model.safetensors"));
  Binder binder(config.model, file);
  // The layers' sizes come from the config: before a billion of them are made, the file must be
  // able to hold them.
  const std::uint64_t fewest =
      to_size(config.model.encoder_layers) + to_size(config.model.decoder_layers);
  if (fewest > file->tensors().size()) {
    throw InputError("{}: {} tensors cannot hold the {} layers of config.json", file->path(),
                     file->tensors().size(), fewest);
  }
  ModelParameters parameters = bind_parameters(
      config.model, [&](const ParameterInfo& info, Parameter& p) { binder.bind(info, p); });
  binder.check_finite();
  const std::vector<std::string> unused = binder.unused();
  if (!unused.empty()) {
    config.notes.push_back(
        fmt::format("{}: {} tensors are not part of this config and are ignored, "
                    "{} for one",
                    file->path(), unused.size(), excerpt(unused.front())));
  }
  require_memory(prepared_bytes(config.model, backend), "preparing this model");
  Transformer transformer(config.model, std::move(parameters), binder.take_storage(), backend);
  transformer.set_name(directory);
  return {std::move(transformer), std::move(config.decode), std::move(config.unknown_keys),
          std::move(config.notes)};
}

namespace {

Json generation_config(const ModelConfig& model, const DecodeConfig& decode) {
  Json json = Json::object();
  json["bad_words_ids"] = decode.bad_words_ids;
  json["decoder_start_token_id"] = model.decoder_start_token_id;
  json["early_stopping"] = decode.early_stopping == EarlyStopping::never
                               ? Json("never")
                               : Json(decode.early_stopping == EarlyStopping::yes);
  json["eos_token_id"] = model.eos_token_id;
  if (decode.forced_bos_token_id) json["forced_bos_token_id"] = *decode.forced_bos_token_id;
  if (decode.eos_token_ids) {
    const std::vector<int>& ends = *decode.eos_token_ids;
    json["eos_token_id"] = ends.size() == 1 ? Json(ends.front()) : Json(ends);
  }
  json["forced_eos_token_id"] =
      decode.forced_eos_token_id ? Json(*decode.forced_eos_token_id) : Json(nullptr);
  // The shortest decimal of the float: 0.6, not the 0.6000000238418579 of its double.
  json["length_penalty"] = Json::parse(fmt::format("{}", decode.length_penalty));
  if (decode.longest_source > 0) json["longest_source"] = decode.longest_source;
  if (decode.max_new_tokens > 0) json["max_length"] = decode.max_new_tokens + 1;
  json["num_beams"] = decode.num_beams;
  json["pad_token_id"] = model.pad_token_id;
  json["renormalize_logits"] = decode.renormalize_logits;
  return json;
}

}  // namespace

namespace {

/// Whether no number changes when it is written in 16 bits.
bool fits_f16(const Parameter& p) {
  for (Index i = 0; i < p.rows; ++i) {
    for (Index j = 0; j < p.columns; ++j) {
      const float value = p.at(i, j);
      if (half::widen_f16(half::narrow_f16(value)) != value) return false;
    }
  }
  return true;
}

/// A weight [in, out] as two tensors: its columns in 8 bits and their scales.
void add_in_8_bits(const ParameterInfo& info, const Parameter& p,
                   std::vector<TensorToWrite>& tensors) {
  const auto numbers = std::make_shared<std::vector<std::int8_t>>(to_size(p.size()));
  const auto scales = std::make_shared<std::vector<float>>(to_size(p.columns));
  std::vector<float> column(to_size(p.rows));
  for (Index j = 0; j < p.columns; ++j) {
    p.copy_column(j, column.data());
    at(*scales, j) = int8_kernels().quantize(column.data(), p.rows, numbers->data() + j * p.rows);
  }
  tensors.push_back({info.name, info.shape,
                     [numbers](float* out) { std::copy(numbers->begin(), numbers->end(), out); },
                     DType::i8});
  tensors.push_back({info.name + "_scale",
                     {info.shape.front()},
                     [scales](float* out) { std::copy(scales->begin(), scales->end(), out); },
                     DType::f32});
}

/// What its config.json says.
Json directory_json(const ModelConfig& config, DType dtype, const std::string& name) {
  if (dtype != DType::i8) return to_directory_json(config);
  if (family_of(config.model_type) != nullptr) {
    throw InputError(
        "{}: a model of type {} cannot be stored in 8 bits, which are for models with the layers "
        "of marian, pegasus and attn-demo; store it in 16, and translate it with 8",
        name, config.model_type);
  }
  Json json = to_directory_json(config);
  json["model_type"] = "attn-demo";
  json["architectures"] = Json::array({"AttnDemoModel"});
  return json;
}

}  // namespace

void save_model(const Transformer& model, const DecodeConfig& decode, const std::string& directory,
                DType dtype) {
  const ModelConfig& config = model.config();
  const Json json = directory_json(config, dtype, model.name());
  const bool eight_bits = dtype == DType::i8;
  std::vector<TensorToWrite> tensors;
  visit_parameters(config, model.parameters(), [&](const ParameterInfo& info, const Parameter& q) {
    if (!info.tied_to.empty() || !info.written) return;
    if (eight_bits && info.role == ParameterRole::weight) return add_in_8_bits(info, q, tensors);
    const Parameter p = info.transposed ? q.transposed() : q;
    tensors.push_back({info.name, info.shape, [p](float* out) {
                         for (Index i = 0; i < p.rows; ++i) {
                           for (Index j = 0; j < p.columns; ++j) *out++ = p.at(i, j);
                         }
                       }});
    if (eight_bits) tensors.back().dtype = fits_f16(p) ? DType::f16 : DType::f32;
  });
  // The weights come last: a directory with a config and no weights says what is missing.
  write_file(in_directory(directory, "config.json"), json.dump(2) + "\n");
  write_file(in_directory(directory, "generation_config.json"),
             generation_config(config, decode).dump(2) + "\n");
  write_safetensors(in_directory(directory, "model.safetensors"), tensors, dtype);
}

}  // namespace attn
