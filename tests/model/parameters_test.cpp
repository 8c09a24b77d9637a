// Tests that bound, counted and listed parameters agree for every combination of options, and that
// every parameter has memory of its own.
#include "model/parameters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "config/model_report.h"
#include "small_training.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Returns all combinations of the settings that decide which parameters exist.
std::vector<ModelConfig> all_configs() {
  std::vector<ModelConfig> configs;
  for (int bits = 0; bits < 32; ++bits) {
    ModelConfig c = small_config();
    c.encoder_layers = 3;
    c.share_embeddings = (bits & 1) != 0;
    c.tie_word_embeddings = (bits & 2) != 0;
    c.static_positions = (bits & 4) != 0;
    c.add_final_layer_norm = (bits & 8) != 0;
    c.normalize_embedding = (bits & 16) != 0;
    if (!c.share_embeddings) {
      c.decoder_vocab_size = 41;
      c.pad_token_id = c.decoder_start_token_id = 40;
    }
    configs.push_back(c);
  }
  return configs;
}

bool is_counted(const ParameterInfo& info) {
  return info.tied_to.empty() && !info.buffer;
}

}  // namespace

TEST_CASE("parameters that are bound, counted and listed are the same") {
  for (const ModelConfig& c : all_configs()) {
    CAPTURE(c.share_embeddings);
    CAPTURE(c.tie_word_embeddings);
    CAPTURE(c.static_positions);
    std::uint64_t bound = 0;
    const ModelParameters parameters =
        bind_parameters(c, [&](const ParameterInfo& info, Parameter&) {
          if (is_counted(info)) bound += info.elements();
        });
    std::uint64_t visited = 0;
    visit_parameters(c, parameters, [&](const ParameterInfo& info, const Parameter&) {
      if (is_counted(info)) visited += info.elements();
    });
    std::uint64_t listed = 0;
    for (const ModuleBlock& block : list_modules(c)) listed += block.parameters();
    CHECK(bound == count_parameters(c));
    CHECK(visited == bound);
    CHECK(listed == bound);
    CHECK(TrainableModel(c, 1).weights().size() == bound);
  }
}

TEST_CASE("every parameter has a name and a place of its own, and ties point backwards") {
  for (const ModelConfig& c : all_configs()) {
    std::set<std::string> names;
    std::set<const Parameter*> places;
    const ModelParameters parameters =
        bind_parameters(c, [&](const ParameterInfo& info, Parameter& p) {
          CAPTURE(info.name);
          if (!info.tied_to.empty()) CHECK(names.contains(info.tied_to));
          CHECK(names.insert(info.name).second);
          // A table that both stacks share is bound under its own name and under each stack's.
          const bool shared =
              c.share_embeddings && info.name == "model.encoder.embed_tokens.weight";
          CHECK(places.insert(&p).second != shared);
          p.data = nullptr;
        });
    // Weights and biases of a layer: 4 projections and a norm for each attention block, then 2
    // matrices and a norm.
    const std::size_t encoder = 3 * 2 * (5 + 3);
    const std::size_t decoder = 2 * 2 * (5 + 5 + 3);
    const std::size_t norms =
        (c.add_final_layer_norm ? 4U : 0U) + (c.normalize_embedding ? 4U : 0U);
    CHECK(places.size() == encoder + decoder + norms + 6);  // embeddings, positions, output, bias
    CHECK(names.contains("model.decoder.layers.1.encoder_attn.out_proj.bias"));
    CHECK(!names.contains("model.decoder.layers.2.fc1.weight"));
    CHECK(!names.contains("model.encoder.layers.0.encoder_attn.q_proj.weight"));
  }
}

TEST_CASE("a projection lies [out, in] in the file, and the model uses it as [in, out]") {
  const ModelConfig c = small_config();
  std::vector<float> numbers(1000);
  const std::vector<ParameterInfo> all = list_parameters(c);
  const auto found =
      std::ranges::find(all, "model.encoder.layers.1.fc1.weight", &ParameterInfo::name);
  REQUIRE(found != all.end());
  CHECK(found->shape == std::vector<std::uint64_t>{21, 15});
  const Parameter p = parameter_at(*found, numbers.data());
  CHECK(p.rows == 15);
  CHECK(p.columns == 21);
  CHECK(&p.element(2, 3) == &numbers[3 * 15 + 2]);
}
