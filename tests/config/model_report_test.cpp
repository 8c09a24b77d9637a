#include "config/model_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "check_error.h"
#include "inspected_model.h"

using attn::CostReport;
using attn::CostRow;
using attn::ExitCode;
using attn::ModelConfig;
using attn::test::check_error;
using attn::test::inspected_model;

namespace {

std::uint64_t amount(const std::vector<CostRow>& rows, const std::string& key) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const CostRow& candidate) { return candidate.key == key; });
  REQUIRE(row != rows.end());
  return row->amount;
}

}  // namespace

TEST_CASE("the modules add up to the counted parameters, whatever the options") {
  for (int bits = 0; bits < 32; ++bits) {
    ModelConfig config = inspected_model();
    config.share_embeddings = (bits & 1) != 0;
    config.tie_word_embeddings = (bits & 2) != 0;
    config.static_positions = (bits & 4) != 0;
    config.add_final_layer_norm = (bits & 8) != 0;
    config.normalize_embedding = (bits & 16) != 0;
    if (!config.share_embeddings) config.decoder_vocab_size = 50;
    std::uint64_t total = 0;
    for (const attn::ModuleBlock& block : attn::list_modules(config)) total += block.parameters();
    CAPTURE(bits);
    CHECK(total == attn::count_parameters(config));
  }
}

TEST_CASE("shapes of modules are those of the weights file") {
  const auto blocks = attn::list_modules(inspected_model());
  CHECK(blocks[1].name == "model.encoder.layers");
  CHECK(blocks[1].repeat == 2);
  const auto& fc1 = blocks[1].modules[5];
  CHECK(fc1.name == "fc1");
  CHECK(fc1.weight_shape == std::vector<std::uint64_t>{48, 12});
  CHECK(fc1.bias_size == 48);
  CHECK(fc1.parameters == 48 * 12 + 48);
  CHECK(blocks[2].modules.size() == 13);
  CHECK(blocks[3].modules[0].note == "= model.shared");
  CHECK(blocks[3].modules[1].parameters == 0);
}

TEST_CASE("multiply-adds and memory for S 7 and L 5 by hand") {
  const CostReport report = attn::cost_report(inspected_model(), 7, 5);
  const auto& work = report.multiply_adds;
  CHECK(amount(work, "encoder_self_projections") == 2 * 4 * 7 * 144);
  CHECK(amount(work, "encoder_self_scores_and_sum") == 2 * 2 * 49 * 12);
  CHECK(amount(work, "encoder_feed_forward") == 2 * 2 * 7 * 12 * 48);
  CHECK(amount(work, "decoder_self_projections") == 3 * 4 * 5 * 144);
  // Row t of 5 looks at t keys: 1 + 2 + 3 + 4 + 5 = 15 scores, and as many weighted rows.
  CHECK(amount(work, "decoder_self_scores_and_sum") == 3 * 2 * 15 * 12);
  // Queries and output for 5 rows, keys and values for 7.
  CHECK(amount(work, "cross_projections") == 3 * (2 * 5 + 2 * 7) * 144);
  CHECK(amount(work, "cross_scores_and_sum") == 3 * 2 * 7 * 5 * 12);
  CHECK(amount(work, "decoder_feed_forward") == 3 * 2 * 5 * 12 * 24);
  CHECK(amount(work, "output") == 5 * 12 * 41);
  CHECK(report.total_multiply_adds ==
        8064 + 2352 + 16128 + 8640 + 1080 + 10368 + 2520 + 8640 + 2460);
  const auto& memory = report.memory;
  CHECK(amount(memory, "encoder_self_maps") == 2 * 4 * 2 * 49);
  CHECK(amount(memory, "decoder_self_maps") == 3 * 4 * 2 * 25);
  CHECK(amount(memory, "cross_maps") == 3 * 4 * 2 * 35);
  CHECK(amount(memory, "decoder_self_cache") == 3 * 2 * 4 * 5 * 12);
  CHECK(amount(memory, "cross_cache") == 3 * 2 * 4 * 7 * 12);
  CHECK(report.total_memory == 784 + 600 + 840 + 1440 + 2016);
}

TEST_CASE("costs beyond 64 bits are refused") {
  ModelConfig config = inspected_model();
  config.d_model = 65536;
  check_error([&] { attn::cost_report(config, 1'000'000'000, 1); }, ExitCode::input,
              "does not fit 64 bits; use a shorter length");
}

TEST_CASE("growth: both terms cross at 2·d_model") {
  const attn::GrowthReport report = attn::attention_growth(inspected_model(), {64, 24, 16, 24});
  REQUIRE(report.rows.size() == 3);  // ascending and without duplicates
  CHECK(report.crossing_length == 24);
  CHECK(report.rows[0].length == 16);
  CHECK(report.rows[0].scores_and_sum == 2 * 16 * 16 * 12);
  CHECK(report.rows[0].projections == 4 * 16 * 144);
  CHECK(report.rows[0].map_bytes == 4 * 2 * 16 * 16);
  CHECK(report.rows[0].scores_and_sum < report.rows[0].projections);
  CHECK(report.rows[1].scores_and_sum == report.rows[1].projections);
  CHECK(report.rows[2].scores_and_sum > report.rows[2].projections);
  // With grouped keys and values, the projections are smaller: 2.25·D² over 2·D.
  CHECK(attn::attention_growth(attn::find_preset("llama-70b"), {1}).crossing_length == 9216);
}

TEST_CASE("heads change head_dim and maps, not parameters") {
  const auto rows = attn::heads_report(inspected_model(), {2, 3, 4, 6}, 10, "--heads");
  REQUIRE(rows.size() == 4);
  const int head_dims[] = {6, 4, 3, 2};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].head_dim == head_dims[i]);
    CHECK(rows[i].layer_parameters == 624);
    CHECK(rows[i].parameters == attn::count_parameters(inspected_model()));
    CHECK(rows[i].map_bytes == 4U * static_cast<unsigned>(rows[i].heads) * 100U);
  }
  check_error(
      [] {
        attn::heads_report(inspected_model(), {2, 5}, 10, "--heads");
      },
      ExitCode::input,
      "--heads: d_model 12 is not divisible by encoder_attention_heads 5; use 1, 2, 3, 4, "
      "6 or 12");
}
