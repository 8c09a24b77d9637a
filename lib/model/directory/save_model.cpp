#include "model/directory/save_model.h"

#include <algorithm>
#include <memory>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "compute/int8/int8_kernels.h"
#include "config/family.h"
#include "model/directory/safetensors_write.h"

namespace attn {
namespace {

/// The shortest decimal of a float: 0.6, not the 0.6000000238418579 of its double.
Json shortest(float value) {
  return Json::parse(fmt::format("{}", value));
}

/// The same with a decimal point, where transformers refuses integers.
Json with_point(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return Json::parse(text);
}

/// A key that says the same as another: kept where it still does.
void erase_if_different(Json& json, const char* key, int value) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_null() && *found != value) json.erase(found);
}

/// What happens to scores before a token is chosen, where that is more than nothing, or the file
/// spoke of it.
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
  // transformers refuses empty lists of these.
  if (!decode.suppress_tokens.empty()) json["suppress_tokens"] = decode.suppress_tokens;
  if (!decode.begin_suppress_tokens.empty()) {
    json["begin_suppress_tokens"] = decode.begin_suppress_tokens;
  }
  if (!biases.empty()) json["sequence_bias"] = std::move(biases);
}

/// Keys that are known say how the model is decoded now; the others are as they were read.
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

/// What its config.json says.
Json config_json(const ModelConfig& config, const DecodeConfig& decode, DType dtype) {
  Json json = to_config_json(config);
  if (decode.task_specific_params != nullptr) json["task_specific_params"] = *decode.task_specific_params;
  if (dtype != DType::i8) return json;
  if (!family_of(config).uses_marian_keys) {
    throw InputError(
        "a model of type {} cannot be stored in 8 bits, which are for models with the layers "
        "of marian, pegasus and attn-demo; dtype float16 stores it, and 8 bits still translate it",
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
  // The weights come last: a directory with a config and no weights says what is missing.
  write_file(join_path(directory, "config.json"), json.dump(2) + "\n");
  write_file(join_path(directory, "generation_config.json"),
             generation_config(config, decode).dump(2) + "\n");
  write_safetensors(join_path(directory, "model.safetensors"), tensors, dtype);
} catch (const InputError& error) {
  throw InputError("{}: {}", model.name(), error.what());
}

}  // namespace attn
