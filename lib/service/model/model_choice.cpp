#include "service/model/model_choice.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "service/field_text.h"

namespace attn {

std::string list_precisions(std::string_view separator, std::string_view last) {
  std::string list;
  for (const PrecisionName& each : precision_names) {
    const bool first = &each == &precision_names.front();
    list += first ? "" : &each == &precision_names.back() ? last : separator;
    list += each.name;
  }
  return list;
}

MatmulPrecision parse_precision(const std::string& text) {
  const auto found = std::ranges::find(precision_names, text, &PrecisionName::name);
  if (found != precision_names.end()) return found->precision;
  refuse_field(Field{"precision"},
               fmt::format(" {}: expected {}", excerpt(text), list_precisions(", ", " or ")));
}

std::string to_string(MatmulPrecision precision) {
  return std::string(
      std::ranges::find(precision_names, precision, &PrecisionName::precision)->name);
}

Backend backend_for(MatmulPrecision precision) {
  const Backend by_default = default_backend();
  if (precision == MatmulPrecision::float32) return by_default;
  if (precision == MatmulPrecision::int8) return Backend::int8;
  if (!cpu_multiplies_bfloat16()) {
    refuse_field(Field{"precision"},
                 " bfloat16: it needs a CPU with AVX512_BF16 or AMX, which this one does not have, "
                 "or ATTN_DEMO_CPU switches off; use float32 or int8");
  }
  return Backend::bfloat16;
}

std::size_t ModelChoice::maps_index() const {
  if (maps_of.empty()) return 0;
  if (!several()) refuse_field(Field{"maps_of"}, " needs several ", Field{"model"});
  const auto named = std::ranges::find(models, maps_of);
  if (named != models.end()) return to_size(named - models.begin());
  if (maps_of.size() == 1 && maps_of[0] >= '1' && to_size(maps_of[0] - '0') <= models.size()) {
    return to_size(maps_of[0] - '1');
  }
  refuse_field(
      Field{"maps_of"},
      fmt::format(" {}: expected 1 to {}, or one of the ", excerpt(maps_of), models.size()),
      Field{"model"}, " directories");
}

void ModelChoice::check_one_source() const {
  backend_for(precision);
  if (!models.empty() + !config.empty() + !preset.empty() > 1) {
    refuse_field(Field{"model"}, ", ", Field{"config"}, " and ", Field{"preset"},
                 " exclude each other; give one of them");
  }
  if (models.empty()) return;
  if (changes_shape() || !overrides.empty()) {
    refuse_field(Field{"d_model"}, ", ", Field{"heads"}, ", ", Field{"layers"}, " and ",
                 Field{"set"}, " shape a random model; they cannot change the weights of ",
                 Field{"model"}, " " + models.front());
  }
  if (seed) {
    refuse_field(Field{"seed"}, " makes random weights; ", Field{"model"},
                 " " + models.front() + " brings its own");
  }
}

std::vector<std::string> ModelChoice::all_overrides() const {
  std::vector<std::string> all = overrides;
  const auto add = [&](std::optional<std::uint64_t> size, std::initializer_list<const char*> keys) {
    if (!size) return;
    for (const char* key : keys) all.push_back(fmt::format("model.{}={}", key, *size));
  };
  add(d_model, {"d_model"});
  add(heads, {"encoder_attention_heads", "decoder_attention_heads"});
  add(layers, {"encoder_layers", "decoder_layers"});
  return all;
}

std::vector<Index> ModelChoice::global_positions(int positions) const {
  std::vector<Index> places;
  if (globals == "none") return places;
  const WholeField place{"global", 0, to_size(positions - 1)};
  for (const std::string_view text : split_at(globals, ',')) {
    places.push_back(to_index(parse_whole(place, std::string(text))));
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end()) {
    refuse_field(Field{"global"},
                 fmt::format(" {}: token {} is named twice", excerpt(globals), *twice));
  }
  return places;
}

FieldText ModelChoice::asked_changes(bool with_values) const {
  FieldText asked;
  const auto add = [&](const char* field, const std::string& value) {
    if (!asked.empty()) asked.add(", ");
    asked.add(Field{field});
    if (with_values) asked.add(" " + value);
  };
  const auto add_size = [&](const WholeField& field, std::optional<std::uint64_t> size) {
    if (size) add(field.name.data(), std::to_string(*size));
  };
  add_size(d_model_field, d_model);
  add_size(heads_field, heads);
  add_size(layers_field, layers);
  if (!with_values && seed) add("seed", "");
  if (!with_values && !overrides.empty()) add("set", "");
  for (const std::string& set : overrides) {
    if (with_values && set.starts_with("model.")) add("set", excerpt(set));
  }
  return asked;
}

DType parse_dtype(const std::string& text) {
  if (text == "float32") return DType::f32;
  if (text == "float16") return DType::f16;
  if (text == "bfloat16") return DType::bf16;
  if (text == "int8") return DType::i8;
  refuse_field(Field{"dtype"},
               fmt::format(" {}: expected float32, float16, bfloat16 or int8", excerpt(text)));
}

}  // namespace attn
