#include "view/data/inspect_json.h"

#include "config/model_report.h"

namespace attn {
namespace {

Json modules_json(const ModelConfig& config) {
  Json blocks = Json::array();
  for (const ModuleBlock& block : list_modules(config)) {
    Json modules = Json::array();
    for (const ModuleRow& module : block.modules) {
      Json row = {{"name", module.name}, {"weight_shape", module.weight_shape}};
      if (module.bias_size > 0) row["bias_shape"] = Json::array({module.bias_size});
      row["parameters"] = module.parameters;
      if (!module.note.empty()) row["note"] = module.note;
      modules.push_back(row);
    }
    blocks.push_back({{"name", block.name},
                      {"repeat", block.repeat},
                      {"parameters_of_one", block.parameters_of_one()},
                      {"parameters", block.parameters()},
                      {"modules", modules}});
  }
  return blocks;
}

Json costs_json(const std::vector<CostRow>& rows, std::uint64_t total) {
  Json json = Json::object();
  for (const CostRow& row : rows) json[row.key] = row.amount;
  json["total"] = total;
  return json;
}

Json growth_json(const GrowthReport& report) {
  Json rows = Json::array();
  for (const GrowthRow& row : report.rows) {
    rows.push_back({{"length", row.length},
                    {"scores_and_sum", row.scores_and_sum},
                    {"projections", row.projections},
                    {"map_bytes", row.map_bytes}});
  }
  return {{"crossing_length", report.crossing_length}, {"rows", rows}};
}

Json preset_object(const Preset& preset, int length) {
  const PresetRow row = preset_row(preset, length);
  const bool encoder = preset.kind == ModelArchitecture::encoder;
  const bool decoder = preset.kind == ModelArchitecture::decoder;
  return {{"name", preset.name},
          {"title", preset.title},
          {"kind", encoder   ? "encoder"
                   : decoder ? "decoder"
                             : "encoder-decoder"},
          {"d_model", preset.d_model},
          {"heads", preset.heads},
          {"head_dim", preset.head_dim},
          {"key_value_heads", preset.key_value_heads},
          {"layers", preset.layers},
          {"ffn_dim", preset.ffn_dim},
          {"attention_layer",
           {{"weights", row.weights},
            {"biases", row.biases},
            {"parameters", row.weights + row.biases},
            {"multiply_adds", row.multiply_adds}}},
          {"note", preset.note}};
}

Json document(const char* what) {
  return {{"format", "attn-demo.inspect"}, {"version", 1}, {"what", what}};
}

}  // namespace

Json inspect_json(const ModelConfig& config, const InspectOptions& options) {
  const CostReport costs = cost_report(config, options.source_length, options.target_length);
  Json json = document("model");
  json["name"] = options.name;
  json["config"] = to_config_json(config);
  json["encoder_head_dim"] = config.encoder_head_dim();
  json["decoder_head_dim"] = config.decoder_head_dim();
  json["parameters"] = count_parameters(config).value_or(0);
  json["modules"] = modules_json(config);
  json["source_length"] = costs.source_length;
  json["target_length"] = costs.target_length;
  json["multiply_adds"] = costs_json(costs.multiply_adds, costs.total_multiply_adds);
  json["attention_memory_bytes"] = costs_json(costs.memory, costs.total_memory);
  json["growth"] = growth_json(attention_growth(config, options.lengths));
  if (!options.heads.empty()) {
    json["heads"] = Json::array();
    for (const HeadsRow& row : options.heads) {
      json["heads"].push_back({{"heads", row.heads},
                               {"head_dim", row.head_dim},
                               {"attention_layer_parameters", row.layer_parameters},
                               {"parameters", row.parameters},
                               {"map_bytes", row.map_bytes}});
    }
  }
  json["unknown_keys"] = options.unknown_keys;
  json["notes"] = options.notes;
  return json;
}

Json presets_json(int length) {
  Json json = document("presets");
  json["length"] = length;
  json["presets"] = Json::array();
  for (const Preset& preset : presets()) json["presets"].push_back(preset_object(preset, length));
  return json;
}

Json preset_json(const Preset& preset, const InspectOptions& options) {
  Json json = document("preset");
  json["length"] = options.source_length;
  json["preset"] = preset_object(preset, options.source_length);
  json["growth"] = growth_json(attention_growth(preset, options.lengths));
  return json;
}

Json receptive_field_json(const ReceptiveField& field) {
  Json layers = Json::array();
  for (const ReceptiveFieldSize& reach : field.after) {
    layers.push_back({{"least", reach.least},
                      {"mean", reach.mean},
                      {"most", reach.most},
                      {"farthest", reach.max_distance}});
  }
  Json first = Json::array();
  for (int row = 0; row < field.side; ++row) {
    const auto begin = field.first.begin() + to_index(row) * field.side;
    first.push_back(std::vector<int>(begin, begin + field.side));
  }
  return {{"receptive_field",
           {{"tokens", field.tokens}, {"layers", layers}, {"side", field.side}, {"first", first}}}};
}

Json receptive_bounds_json(const std::vector<ReceptiveFieldBounds>& bounds, int tokens) {
  Json layers = Json::array();
  for (const ReceptiveFieldBounds& reach : bounds) {
    layers.push_back({{"least", reach.least}, {"most", reach.most}});
  }
  return {{"receptive_field", {{"tokens", tokens}, {"bounds", true}, {"layers", layers}}}};
}

Json attention_costs_json(const AttentionCosts& costs) {
  Json measured = Json::array();
  for (const AttentionCost& cost : costs.measured) {
    measured.push_back({{"kind", cost.kind},
                        {"length", cost.length},
                        {"causal", costs.causal},
                        {"forward_seconds", cost.forward_seconds},
                        {"backward_seconds", costs.backward ? Json(cost.backward_seconds) : Json()},
                        {"multiply_adds", cost.multiply_adds},
                        {"peak_bytes", cost.peak_bytes}});
  }
  Json growth = Json::array();
  for (const CostGrowth& kind : costs.growth) {
    growth.push_back({{"kind", kind.kind},
                      {"time_exponent", kind.time_exponent},
                      {"memory_exponent", kind.memory_exponent},
                      {"overtakes", kind.overtakes ? Json(*kind.overtakes) : Json()}});
  }
  return {{"attention", std::move(measured)}, {"growth", std::move(growth)}};
}

}  // namespace attn
