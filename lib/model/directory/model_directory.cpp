#include "model/directory/model_directory.h"

#include <cstring>
#include <memory>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strings/excerpt.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "model/directory/tensor_binder.h"
#include "model/model_memory.h"

namespace attn {
namespace {

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

void refuse_start_without_position(const ModelConfig& model, const std::string& where) {
  if (!family_of(model).positions_start_after_pad || model.decoder_start_token_id != model.pad_token_id)
    return;
  throw InputError(
      "{}: decoder_start_token_id {} is pad_token_id, to which {} gives no position; expected "
      "another, most have eos_token_id {}",
      where, model.decoder_start_token_id, model.model_type, model.eos_token_id);
}

/// The tensor's numbers, wherever and however they lie.
std::vector<float> numbers_of(const Weights& weights, const TensorInfo& tensor) {
  std::vector<float> numbers(to_size(tensor.elements));
  weights.read(tensor, numbers.data());
  return numbers;
}

/// Whether output and embedding are one table: unless the weights hold both, and they differ.
/// Files of T5 v1.1 say that they are tied, and are not.
bool tied_by_tensors(const std::string& directory) {
  const Weights weights(directory);
  const TensorInfo* output = weights.find("lm_head.weight");
  const TensorInfo* shared = weights.find("shared.weight");
  if (output == nullptr || shared == nullptr || output->data == shared->data) return true;
  if (output->elements != shared->elements) return false;
  const bool plain = output->strides.empty() && shared->strides.empty();
  if (output->dtype == shared->dtype && plain) {
    return std::memcmp(output->data, shared->data, output->end - output->begin) == 0;
  }
  return numbers_of(weights, *output) == numbers_of(weights, *shared);
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
  const std::string path = join_path(directory, "config.json");
  if (!file_exists(path)) {
    throw InputError(
        "{}: missing from the model directory; one holds config.json, its weights "
        "(model.safetensors, pytorch_model.bin) and its tokenizer's files",
        path);
  }
  const Json json = read_json_file(path);
  result.model = model_config_from_directory(json, path, result.unknown_keys, result.notes);
  if (family_of(result.model).ties_if_tensors_match && !weight_files(directory).empty()) {
    result.model.tie_word_embeddings = tied_by_tensors(directory);
  }
  const std::string generation = join_path(directory, "generation_config.json");
  if (file_exists(generation) || directory_exists(generation)) {
    const Json options = read_json_file(generation);
    result.decode = decode_options_from_directory(options, generation, result.notes);
    take_ids(options, result, generation);
    result.decode.document = std::make_shared<const Json>(options);
  } else {
    result.decode = decode_options_from_directory(json, path, result.notes);
  }
  if (const auto task_specific_params = json.find("task_specific_params"); task_specific_params != json.end()) {
    result.decode.task_specific_params = std::make_shared<const Json>(*task_specific_params);
  }
  refuse_start_without_position(result.model, result.decode.document ? generation : path);
  return result;
}

LoadedModel load_model(const std::string& directory, Backend backend) {
  DirectoryConfig config = read_directory_config(directory);
  const auto weights = std::make_shared<const Weights>(directory);
  TensorBinder binder(config.model, weights);
  // The layers' sizes come from the config: before a billion of them are made, the files must be
  // able to hold them.
  const std::uint64_t fewest =
      to_size(config.model.encoder_layers) + to_size(config.model.decoder_layers);
  if (fewest > weights->tensors().size()) {
    throw InputError("{}: {} tensors cannot hold the {} layers of config.json", weights->path(),
                     weights->tensors().size(), fewest);
  }
  ModelParameters parameters = bind_parameters(
      config.model, [&](const ParameterInfo& info, Parameter& p) { binder.bind(info, p); });
  binder.check_finite();
  const std::vector<std::string> unused = binder.unused();
  if (!unused.empty()) {
    config.notes.push_back(
        fmt::format("{}: {} tensors are not part of this config and are ignored, "
                    "{} for one",
                    weights->path(), unused.size(), excerpt(unused.front())));
  }
  require_memory(prepared_bytes(config.model, backend), "preparing this model");
  // A packed weight's own pages go at once: the peak is not the sum of both.
  const PackedCallback release = [&](const Parameter& weight) { weights->release(weight.bytes()); };
  Transformer transformer(config.model, std::move(parameters), binder.take_storage(), backend,
                          release);
  transformer.set_name(directory);
  return {std::move(transformer), std::move(config.decode), std::move(config.unknown_keys),
          std::move(config.notes)};
}

}  // namespace attn
