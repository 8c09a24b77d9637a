// Tests the output of `inspect` as tables and as JSON: the numbers of config/model_report.h, and
// only the requested parts.
#include <doctest/doctest.h>

#include "inspected_model.h"
#include "view/data/inspect_json.h"
#include "view/terminal/inspect_tables.h"
#include "view/terminal/table.h"

namespace attn {
namespace {

using test::inspected_model;

TEST_CASE("numbers get thousands separators") {
  CHECK(with_thousands_separators(0) == "0");
  CHECK(with_thousands_separators(999) == "999");
  CHECK(with_thousands_separators(1000) == "1,000");
  CHECK(with_thousands_separators(12345) == "12,345");
  CHECK(with_thousands_separators(1234567890) == "1,234,567,890");
}

TEST_CASE("the tables hold the figures, and only what was requested") {
  const ModelConfig config = inspected_model();
  InspectOptions options;
  options.name = "demo";
  options.unknown_keys = {"torch_dtype", "id2label"};
  options.notes = {"a note"};
  std::vector<Table> tables = inspect_tables(config, options);
  REQUIRE(tables.size() == 5);
  CHECK(tables[0].title == "demo");
  CHECK(tables[0].notes.back() == "Keys of config.json that are not used: torch_dtype, id2label.");
  CHECK(tables[1].rows.back()[2] == with_thousands_separators(count_parameters(config).value()));
  // The rows are the powers of two from 16 to 1,024, and the crossing at 24.
  CHECK(tables[4].rows.size() == 8);
  CHECK(tables[4].rows[1][0] == "24");
  CHECK(tables[4].rows[1][3] == "50.0 %");
  options.heads = heads_report(config, {3}, options.source_length, "heads");
  tables = inspect_tables(config, options);
  REQUIRE(tables.size() == 6);
  CHECK(tables[5].rows[0][1] == "4");
}

TEST_CASE("the tables name kinds of attention, and say that costs are those of full attention") {
  ModelConfig config = inspected_model();
  std::vector<Table> tables = inspect_tables(config, {});
  const std::size_t rows = tables[0].rows.size(), notes = tables[2].notes.size();
  config.encoder_attention.type = PatternType::linformer;
  config.encoder_attention.rank = 6;
  tables = inspect_tables(config, {});
  REQUIRE(tables[0].rows.size() == rows + 1);
  CHECK(tables[0].rows.back() == std::vector<std::string>{"encoder attention", "linformer, k 6"});
  for (const Table& costs : {tables[2], tables[3]}) {
    REQUIRE(costs.notes.size() == notes + 1);
    CHECK(costs.notes.back() == "Self-attention is counted as full attention, not as linformer.");
  }
  config.decoder_attention.type = PatternType::performer;
  tables = inspect_tables(config, {});
  CHECK(tables[0].rows.back() ==
        std::vector<std::string>{"decoder attention", "performer, orthogonal true"});
  CHECK(tables[2].notes.back() ==
        "Self-attention is counted as full attention, not as linformer and performer.");
  config.encoder_attention.type = PatternType::full;
  CHECK(inspect_tables(config, {})[3].notes.back() ==
        "Self-attention is counted as full attention, not as performer.");
}

TEST_CASE("the JSON forms hold the same figures") {
  const ModelConfig config = inspected_model();
  InspectOptions options;
  options.name = "demo";
  options.source_length = 7;
  options.target_length = 5;
  options.heads = heads_report(config, {2, 4}, options.source_length, "heads");
  const Json json = inspect_json(config, options);
  CHECK(json["format"] == "attn-demo.inspect");
  CHECK(json["version"] == 1);
  CHECK(json["parameters"] == count_parameters(config).value());
  CHECK(json["encoder_head_dim"] == 6);
  CHECK(json["multiply_adds"]["output"] == 5 * 12 * 41);
  CHECK(json["multiply_adds"]["total"] == cost_report(config, 7, 5).total_multiply_adds);
  CHECK(json["attention_memory_bytes"]["cross_maps"] == 840);
  CHECK(json["growth"]["crossing_length"] == 24);
  CHECK(json["heads"][1]["head_dim"] == 3);
  CHECK(json["modules"][1]["modules"][5]["weight_shape"] == Json::array({48, 12}));
  CHECK(json["config"]["d_model"] == 12);
  const Json presets = presets_json(128);
  CHECK(presets["presets"].size() == 11);
  CHECK(presets["presets"][0]["attention_layer"]["parameters"] == 4 * 768 * 768 + 4 * 768);
  CHECK(preset_json(find_preset("t5-base"), options)["preset"]["kind"] == "encoder-decoder");
}

}  // namespace
}  // namespace attn
