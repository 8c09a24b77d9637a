#include "model/directory/model_directory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "compute/int8/int8_kernels.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "model/directory/foreign_model.h"
#include "model/directory/safetensors.h"
#include "model/directory/weights.h"
#include "model/transformer.h"

namespace attn {
namespace {

/// Adds decoder_start_token_id from generation_config.json if config.json lacks it.
Json with_decoder_start(Json config, const std::string& directory) {
  constexpr const char* kKey = "decoder_start_token_id";
  const std::string path = join_path(directory, "generation_config.json");
  if (!config.is_object() || config.contains(kKey) || !file_exists(path)) return config;
  const Json generation = read_json_file(path);
  const bool given = generation.is_object() && generation.contains(kKey);
  if (given && generation[kKey].is_number_integer()) config[kKey] = generation[kKey];
  return config;
}

/// Returns the token ids of one key of generation_config.json: one id, a list, or none.
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

/// Reads start and end tokens as `generate` does: from generation_config.json alone, with
/// bos_token_id as the fallback for a missing start.
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
  if (!family_of(model).positions_start_after_pad ||
      model.decoder_start_token_id != model.pad_token_id)
    return;
  throw InputError(
      "{}: decoder_start_token_id {} is pad_token_id, to which {} gives no position; expected "
      "another, most have eos_token_id {}",
      where, model.decoder_start_token_id, model.model_type, model.eos_token_id);
}

/// Returns the tensor's numbers, whatever their type and layout in the file.
std::vector<float> numbers_of(const Weights& weights, const TensorInfo& tensor) {
  std::vector<float> numbers(to_size(tensor.elements));
  weights.read(tensor, numbers.data());
  return numbers;
}

/// True if output and embedding share one table, which is so unless the weights hold both and they
/// differ. T5 v1.1 configs claim tied tables although the files hold two different ones.
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
      refuse_foreign_model(directory);
      throw SystemError("{}: a file; expected the model directory that holds it", directory);
    }
    throw SystemError("{}: no such model directory; check the path", directory);
  }
  DirectoryConfig result;
  const std::string path = join_path(directory, "config.json");
  if (!file_exists(path)) {
    refuse_foreign_model(directory);
    throw InputError(
        "{}: missing from the model directory; one holds config.json, its weights "
        "(model.safetensors, pytorch_model.bin) and its tokenizer's files",
        path);
  }
  const Json json = read_json_file(path);
  if (json.is_object() && !json.contains("model_type")) refuse_foreign_model(directory);
  result.model = model_config_from_directory(with_decoder_start(json, directory), path,
                                             result.unknown_keys, result.notes);
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
  if (const auto task_specific_params = json.find("task_specific_params");
      task_specific_params != json.end()) {
    result.decode.task_specific_params = std::make_shared<const Json>(*task_specific_params);
  }
  refuse_start_without_position(result.model, result.decode.document ? generation : path);
  return result;
}

LoadedModel load_model(const std::string& directory, Backend backend) {
  DirectoryConfig config = read_directory_config(directory);
  const auto weights = std::make_shared<const Weights>(directory);
  TensorBinder binder(config.model, weights);
  // Layer counts come from the config. Check that the files can hold that many layers before
  // allocating, say, a billion of them.
  const std::uint64_t fewest =
      to_size(config.model.encoder_layers) + to_size(config.model.decoder_layers);
  if (fewest > weights->tensors().size()) {
    throw InputError("{}: {} cannot hold the {} layers of config.json", weights->path(),
                     counted(weights->tensors().size(), "tensor"), fewest);
  }
  ModelParameters parameters = bind_parameters(
      config.model, [&](const ParameterInfo& info, Parameter& p) { binder.bind(info, p); });
  binder.check_finite();
  const std::vector<std::string> unused = binder.unused();
  if (!unused.empty()) {
    config.notes.push_back(fmt::format("{}: {} not part of this config and ignored, such as {}",
                                       weights->path(), counted(unused.size(), "tensor"),
                                       excerpt(unused.front())));
  }
  require_memory(prepared_bytes(config.model, backend), "preparing this model");
  // Release the pages of a weight as soon as it is packed, so that the peak is not the sum of both
  // copies.
  const PackedCallback release = [&](const Parameter& weight) { weights->release(weight.bytes()); };
  Transformer transformer(config.model, std::move(parameters), binder.take_storage(), backend,
                          release);
  transformer.set_name(directory);
  return {std::move(transformer), std::move(config.decode), std::move(config.unknown_keys),
          std::move(config.notes)};
}

namespace {

/// Returns the shortest decimal of a float: 0.6, not 0.6000000238418579, which is its value as a
/// double.
Json shortest(float value) {
  return Json::parse(fmt::format("{}", value));
}

/// Like shortest(), but always with a decimal point, because transformers refuses integers here.
Json with_point(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return Json::parse(text);
}

/// Erases a key that duplicates another setting unless its value still agrees.
void erase_if_different(Json& json, const char* key, int value) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_null() && *found != value) json.erase(found);
}

/// Adds the settings that change scores before a token is chosen. A neutral value is written only
/// if the file already had the key.
void add_rules(const DecodeConfig& decode, Json& json) {
  const auto add = [&json](const char* key, const Json& value, bool neutral) {
    if (!neutral || json.contains(key)) json[key] = value;
  };
  Json biases = Json::array();
  for (const SequenceBias& bias : decode.sequence_bias) {
    biases.push_back(Json::array({bias.ids, with_point(bias.bias)}));
  }
  add("no_repeat_ngram_size", decode.no_repeat_ngram_size, decode.no_repeat_ngram_size == 0);
  add("encoder_no_repeat_ngram_size", decode.encoder_no_repeat_ngram_size,
      decode.encoder_no_repeat_ngram_size == 0);
  add("repetition_penalty", with_point(decode.repetition_penalty), decode.repetition_penalty == 1);
  erase_if_different(json, "min_new_tokens", decode.min_new_tokens);
  if (decode.min_new_tokens > 0) json["min_length"] = decode.min_new_tokens + 1;
  // transformers refuses empty lists for these keys.
  if (!decode.suppress_tokens.empty()) json["suppress_tokens"] = decode.suppress_tokens;
  if (!decode.begin_suppress_tokens.empty()) {
    json["begin_suppress_tokens"] = decode.begin_suppress_tokens;
  }
  if (!biases.empty()) json["sequence_bias"] = std::move(biases);
}

/// Known keys describe the model's current decoding; all others are kept as they were read.
Json generation_config(const ModelConfig& model, const DecodeConfig& decode) {
  Json json = decode.document != nullptr ? *decode.document : Json::object();
  if (!decode.bad_words_ids.empty()) json["bad_words_ids"] = decode.bad_words_ids;
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
  json["length_penalty"] = shortest(decode.length_penalty);
  if (decode.longest_source > 0) json["longest_source"] = decode.longest_source;
  erase_if_different(json, "max_new_tokens", decode.max_new_tokens);
  if (decode.max_new_tokens > 0) json["max_length"] = decode.max_new_tokens + 1;
  json["num_beams"] = decode.num_beams;
  json["pad_token_id"] = model.pad_token_id;
  json["renormalize_logits"] = decode.renormalize_logits;
  add_rules(decode, json);
  return json;
}

/// True if every number survives conversion to 16 bits unchanged.
bool fits_f16(const Parameter& p) {
  for (Index i = 0; i < p.rows; ++i) {
    for (Index j = 0; j < p.columns; ++j) {
      const float value = p.at(i, j);
      if (half::widen_f16(half::narrow_f16(value)) != value) return false;
    }
  }
  return true;
}

/// Writes a weight [in, out] as two tensors: its int8 columns and their scales.
void add_int8_weight(const ParameterInfo& info, const Parameter& p,
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

/// Returns the content of config.json.
Json config_json(const ModelConfig& config, const DecodeConfig& decode, DType dtype) {
  Json json = to_config_json(config);
  if (decode.task_specific_params != nullptr)
    json["task_specific_params"] = *decode.task_specific_params;
  if (dtype != DType::i8) return json;
  if (!family_of(config).uses_marian_keys) {
    throw InputError(
        "a model of type {} cannot be stored in int8, which is for models with the layers of "
        "marian, pegasus and attn-demo; store it with dtype float16, and translate with it in int8",
        config.model_type);
  }
  json["model_type"] = "attn-demo";
  json["architectures"] = Json::array({"AttnDemoModel"});
  return json;
}

}  // namespace

void save_model(const Transformer& model, const DecodeConfig& decode, const std::string& directory,
                DType dtype) try {
  const ModelConfig& config = model.config();
  const Json json = config_json(config, decode, dtype);
  const bool int8 = dtype == DType::i8;
  std::vector<TensorToWrite> tensors;
  visit_parameters(config, model.parameters(), [&](const ParameterInfo& info, const Parameter& q) {
    if (!info.tied_to.empty() || !info.saved) return;
    if (int8 && info.role == ParameterRole::weight) return add_int8_weight(info, q, tensors);
    const Parameter p = info.transposed ? q.transposed() : q;
    tensors.push_back({info.name, info.shape, [p](float* out) {
                         for (Index i = 0; i < p.rows; ++i) {
                           for (Index j = 0; j < p.columns; ++j) *out++ = p.at(i, j);
                         }
                       }});
    if (int8) tensors.back().dtype = fits_f16(p) ? DType::f16 : DType::f32;
  });
  // Write the weights last, so that an interrupted save leaves a directory without weights, which
  // is reported as such.
  write_file(join_path(directory, "config.json"), json.dump(2) + "\n");
  write_file(join_path(directory, "generation_config.json"),
             generation_config(config, decode).dump(2) + "\n");
  write_safetensors(join_path(directory, "model.safetensors"), tensors, dtype);
} catch (const InputError& error) {
  throw InputError("{}: {}", model.name(), error.what());
}

}  // namespace attn
