#include "view/terminal/inspect_tables.h"

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "config/model_report.h"
#include "view/terminal/table.h"

namespace attn {

namespace {

std::string number(int n) {
  return with_thousands_separators(to_size(n));
}

std::string bytes_text(std::uint64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

std::string both(int encoder, int decoder) {
  return encoder == decoder ? number(encoder) : number(encoder) + " + " + number(decoder);
}

std::string counted(int n, const std::string& word) {
  return number(n) + " " + word + (n == 1 ? "" : "s");
}

std::string norm_text(const ModelConfig& config) {
  std::string text = config.norm == NormType::rms ? "root mean square, " : "";
  text += config.normalize_before ? "before each block (pre-norm)" : "after each block (post-norm)";
  if (config.add_final_layer_norm) text += ", and after each stack";
  if (config.normalize_embedding) text += ", and of the embeddings";
  return text;
}

std::string positions_text(const ModelConfig& config) {
  const RelativePositionBiasConfig& relative = config.relative;
  std::string text = config.rotary                ? "rotary: queries and keys are turned"
                     : !config.absolute_positions ? "none"
                     : config.static_positions    ? "sinusoids"
                                                  : "learned";
  if (relative.enabled()) {
    text = fmt::format("none; a bias of each head for each of {} buckets of distances up to {}{}",
                       relative.buckets, relative.max_distance,
                       relative.per_layer ? ", in every layer" : "");
  }
  return text + ", at most " + number(config.max_positions);
}

std::string embedding_text(const ModelConfig& config) {
  const std::string embeddings = config.share_embeddings
                                     ? "one table for both stacks"
                                     : "separate tables for encoder and decoder";
  const std::string output =
      config.tie_word_embeddings ? ", tied to the output" : ", output untied";
  return embeddings + output + (config.scale_embedding ? ", times √d_model" : "") +
         (config.scale_output ? "; logits of hidden / √d_model" : "");
}

Table summary(const ModelConfig& config, const InspectOptions& options) {
  Table table;
  table.title = printable(options.name);
  table.columns = {{"", false}, {"", false}};
  const std::string heads = config.scale_attention ? "" : " (scores not divided by √head_dim)";
  const std::string shared =
      config.key_value_heads == 0
          ? ""
          : fmt::format(", which share {} of keys and values", number(config.key_value_heads));
  const std::string vocabulary =
      config.share_embeddings || config.vocab_size == config.decoder_vocab_size
          ? number(config.vocab_size)
          : number(config.vocab_size) + " source, " + number(config.decoder_vocab_size) + " target";
  table.rows = {
      {"model_type", config.model_type},
      {"d_model (D)", number(config.d_model)},
      {"layers",
       number(config.encoder_layers) + " encoder + " + number(config.decoder_layers) + " decoder"},
      {"heads (H)", both(config.encoder_heads, config.decoder_heads) + shared + heads},
      {config.head_dim > 0 ? "head_dim (K)" : "head_dim (D/H)",
       both(config.encoder_head_dim(), config.decoder_head_dim())},
      {"feed-forward (F)", both(config.encoder_ffn_dim, config.decoder_ffn_dim) + ", " +
                               (config.gated ? "gated, " : "") + to_string(config.activation)},
      {"vocabulary (V)", vocabulary},
      {"embeddings", embedding_text(config)},
      {"positions", positions_text(config)},
      {"layer norm", norm_text(config)},
      {"parameters", with_thousands_separators(count_parameters(config).value_or(0)) + " (" +
                         bytes_text(4 * count_parameters(config).value_or(0)) + " as float32)"},
  };
  const auto add_attention = [&](const char* stack, const AttentionPattern& pattern) {
    if (!pattern.full()) table.rows.push_back({stack, describe_pattern(pattern)});
  };
  add_attention("encoder attention", config.encoder_attention);
  add_attention("decoder attention", config.decoder_attention);
  table.notes = options.notes;
  if (!options.unknown_keys.empty()) {
    std::string keys = "Keys of config.json that are not used:";
    const char* separator = " ";
    for (const std::string& key : options.unknown_keys) {
      keys += separator + printable(key);
      separator = ", ";
    }
    table.notes.push_back(keys + ".");
  }
  return table;
}

std::string shape_text(const ModuleRow& module) {
  std::string text;
  for (const std::uint64_t size : module.weight_shape) {
    text += (text.empty() ? "" : " × ") + with_thousands_separators(size);
  }
  return module.bias_size == 0 ? text : text + " + " + with_thousands_separators(module.bias_size);
}

Table modules_table(const ModelConfig& config) {
  Table table;
  table.title = "Modules and their parameters";
  table.columns = {{"module", false}, {"shape [out × in + bias]", true}, {"parameters", true}};
  std::uint64_t total = 0;
  for (const ModuleBlock& block : list_modules(config)) {
    const bool layers = block.name.ends_with("layers");
    const std::string size = with_thousands_separators(block.parameters_of_one());
    const std::string name =
        layers ? fmt::format("{}, {}", block.name, counted(block.repeat, "layer")) : block.name;
    table.rows.push_back({name, layers ? fmt::format("{} × {}", block.repeat, size) : "",
                          with_thousands_separators(block.parameters())});
    for (const ModuleRow& module : block.modules) {
      table.rows.push_back(
          {"  " + module.name, shape_text(module),
           module.note.empty() ? with_thousands_separators(module.parameters) : module.note});
    }
    total += block.parameters();
  }
  table.rows.push_back({});
  table.rows.push_back({"total", "", with_thousands_separators(total)});
  table.notes = {
      "Tied weights count once. Sinusoids and final_logits_bias are buffers and not counted, as "
      "in PyTorch."};
  return table;
}

Table cost_table(const std::vector<CostRow>& rows, std::uint64_t total, bool memory) {
  Table table;
  table.columns = {{"part", false},
                   {"one layer", false},
                   {"layers", true},
                   {memory ? "bytes" : "multiply-adds", true}};
  for (const CostRow& row : rows) {
    table.rows.push_back(
        {row.title, row.formula, number(row.layers), with_thousands_separators(row.amount)});
  }
  table.rows.push_back({});
  table.rows.push_back(
      {memory ? "total, " + bytes_text(total) : "total", "", "", with_thousands_separators(total)});
  return table;
}

/// Notes that the tables of a model show the costs of full attention, if it has other patterns.
void note_attention_patterns(const ModelConfig& config, Table& table) {
  if (config.encoder_attention.full() && config.decoder_attention.full()) return;
  const AttentionPattern& encoder = config.encoder_attention;
  const AttentionPattern& decoder = config.decoder_attention;
  const std::string_view first = pattern_name((encoder.full() ? decoder : encoder).type);
  const bool two = !encoder.full() && !decoder.full() && encoder.type != decoder.type;
  table.notes.push_back(fmt::format("Self-attention is counted as full attention, not as {}{}.",
                                    first,
                                    two ? fmt::format(" and {}", pattern_name(decoder.type)) : ""));
}

std::vector<Table> cost_tables(const ModelConfig& config, const InspectOptions& options) {
  const CostReport report = cost_report(config, options.source_length, options.target_length);
  Table work = cost_table(report.multiply_adds, report.total_multiply_adds, false);
  const std::string lengths =
      fmt::format("S = {} source and L = {} target tokens", number(report.source_length),
                  number(report.target_length));
  work.title = "Multiply-adds for " + lengths;
  work.notes = {"Masked cells, softmax, norms, biases and residuals are not counted."};
  Table memory = cost_table(report.memory, report.total_memory, true);
  memory.title = "Attention memory for " + lengths;
  memory.notes = {"One hypothesis, float32 (4 bytes). Maps are kept only when they are recorded."};
  note_attention_patterns(config, work);
  note_attention_patterns(config, memory);
  return {work, memory};
}

/// Adds a row for the length at which both terms are equal, if it is within the table.
std::vector<int> with_crossing(const GrowthReport& report, std::vector<int> lengths) {
  const std::vector<GrowthRow>& rows = report.rows;
  const bool inside = !rows.empty() && rows.front().length < report.crossing_length &&
                      report.crossing_length < rows.back().length;
  if (inside) lengths.push_back(to_int(report.crossing_length));
  return lengths;
}

Table growth_table(const GrowthReport& report) {
  const double d = report.d_model;
  const double factor = static_cast<double>(report.weights) / (d * d);  // 4 unless grouped
  Table table;
  table.title = "How one self-attention layer grows with the length N";
  table.columns = {{"N", true},
                   {"scores, sum 2·N²·D", true},
                   {fmt::format("projections {:.4g}·N·D²", factor), true},
                   {"share of N²", true},
                   {"maps 4·H·N²", true}};
  for (const GrowthRow& row : report.rows) {
    const double quadratic = static_cast<double>(row.scores_and_sum);
    const double share = 100 * quadratic / (quadratic + static_cast<double>(row.projections));
    table.rows.push_back({with_thousands_separators(row.length),
                          with_thousands_separators(row.scores_and_sum),
                          with_thousands_separators(row.projections),
                          fmt::format("{:.1f} %", share), bytes_text(row.map_bytes)});
  }
  table.notes = {fmt::format(
      "Both terms are equal at N = {:.4g}·D = {}: below, the projections cost more (N·D²); above, "
      "the N × N maps do (N²·D).",
      factor / 2, with_thousands_separators(report.crossing_length))};
  return table;
}

/// Returns the growth of a model or preset, including the row where both terms are equal.
template <typename Model>
Table growth_table_of(const Model& model, const std::vector<int>& lengths) {
  return growth_table(
      attention_growth(model, with_crossing(attention_growth(model, lengths), lengths)));
}

Table heads_table(const ModelConfig& config, const InspectOptions& options) {
  Table table;
  table.title = fmt::format("The same model with other heads, d_model {}", number(config.d_model));
  table.columns = {{"heads", true},
                   {"head_dim", true},
                   {"one attention layer", true},
                   {"parameters", true},
                   {fmt::format("maps of a layer, S = {}", options.source_length), true}};
  for (const HeadsRow& row : options.heads) {
    table.rows.push_back({number(row.heads), number(row.head_dim),
                          with_thousands_separators(row.layer_parameters),
                          with_thousands_separators(row.parameters), bytes_text(row.map_bytes)});
  }
  table.notes = {
      "Heads split the same matrices into column blocks: the parameters stay, only head_dim and "
      "the number of maps change."};
  return table;
}

std::string attention_pattern_text(ModelArchitecture kind) {
  switch (kind) {
    case ModelArchitecture::encoder:
      return "encoder";
    case ModelArchitecture::decoder:
      return "decoder";
    case ModelArchitecture::encoder_decoder:
      return "both";
  }
  return "";
}

Table presets_table(const std::vector<const Preset*>& list, int length) {
  Table table;
  table.title = fmt::format("One attention layer of well-known models, N = {}", number(length));
  table.columns = {{"model", false}, {"d_model", true}, {"heads", true},        {"head_dim", true},
                   {"what", false},  {"weights", true}, {"multiply-adds", true}};
  for (const Preset* preset : list) {
    const PresetRow row = preset_row(*preset, length);
    table.rows.push_back({preset->title, number(preset->d_model), number(preset->heads),
                          number(preset->head_dim), attention_pattern_text(preset->kind),
                          with_thousands_separators(row.weights),
                          with_thousands_separators(row.multiply_adds)});
  }
  return table;
}

}  // namespace

std::vector<Table> inspect_tables(const ModelConfig& config, const InspectOptions& options) {
  std::vector<Table> tables;
  const bool all = !options.only_growth && !options.only_heads;
  if (all) {
    tables = {summary(config, options), modules_table(config)};
    for (Table& table : cost_tables(config, options)) tables.push_back(std::move(table));
  }
  if (all || options.only_growth) tables.push_back(growth_table_of(config, options.lengths));
  if (!options.heads.empty()) tables.push_back(heads_table(config, options));
  return tables;
}

std::vector<Table> presets_tables(int length) {
  std::vector<const Preset*> all;
  for (const Preset& preset : presets()) all.push_back(&preset);
  Table table = presets_table(all, length);
  table.notes = {
      "what: encoder, decoder, or both with cross-attention. weights: 4·D² for query, key, value "
      "and output; biases are 4·D more (not in LLaMA and T5). multiply-adds: weights·N + 2·N²·D, "
      "unmasked."};
  Table names;
  names.title = "Names, and what differs from this program's Transformer";
  names.columns = {{"name", false}, {"layers", true}, {"F", true}, {"differences", false}};
  for (const Preset& preset : presets()) {
    const std::string layers = preset.kind == ModelArchitecture::encoder_decoder
                                   ? fmt::format("{0}+{0}", preset.layers)
                                   : number(preset.layers);
    names.rows.push_back({preset.name, layers, number(preset.ffn_dim), preset.note});
  }
  return {table, names};
}

std::vector<Table> preset_tables(const Preset& preset, const InspectOptions& options) {
  Table table = presets_table({&preset}, options.source_length);
  table.title =
      fmt::format("One attention layer of {}, N = {}", preset.title, number(options.source_length));
  const PresetRow row = preset_row(preset, options.source_length);
  table.notes = {fmt::format("{}, feed-forward width {}; {} biases in one attention layer. {}.",
                             counted(preset.layers, "layer"), number(preset.ffn_dim),
                             row.biases == 0 ? "no" : with_thousands_separators(row.biases),
                             preset.note)};
  return {table, growth_table_of(preset, options.lengths)};
}

}  // namespace attn
