#include "config/presets.h"

#include <doctest/doctest.h>

#include "check_error.h"
#include "config/model_report.h"

using attn::ExitCode;
using attn::ModelArchitecture;
using attn::ModelConfig;
using attn::Preset;
using attn::test::check_error;

TEST_CASE("the presets have the published shapes") {
  struct Expected {
    const char* title;
    int d_model, heads, head_dim;
    ModelArchitecture kind;
  };
  using enum ModelArchitecture;
  const std::vector<Expected> expected = {
      {"BERT-base", 768, 12, 64, encoder},           {"BERT-large", 1024, 16, 64, encoder},
      {"GPT-3 Curie", 2048, 32, 64, decoder},        {"GPT-3 Davinci", 12288, 96, 128, decoder},
      {"LLaMA 7B", 4096, 32, 128, decoder},          {"LLaMA 13B", 5120, 40, 128, decoder},
      {"LLaMA 70B", 8192, 64, 128, decoder},         {"T5-base", 768, 12, 64, encoder_decoder},
      {"T5-large", 1024, 16, 64, encoder_decoder},   {"BART-base", 768, 12, 64, encoder_decoder},
      {"BART-large", 1024, 16, 64, encoder_decoder},
  };
  REQUIRE(attn::presets().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Preset& preset = attn::presets()[i];
    CAPTURE(expected[i].title);
    CHECK(preset.title == expected[i].title);
    CHECK(preset.d_model == expected[i].d_model);
    CHECK(preset.heads == expected[i].heads);
    CHECK(preset.head_dim == expected[i].head_dim);
    CHECK(preset.kind == expected[i].kind);
    CHECK(preset.heads * preset.head_dim == preset.d_model);
    CHECK(preset.heads % preset.key_value_heads == 0);
  }
}

TEST_CASE("presets are found by name, and the nearest is named otherwise") {
  CHECK(attn::find_preset("llama-70b").key_value_heads == 8);
  check_error([] { attn::find_preset("bert"); }, ExitCode::input,
              "unknown preset \"bert\"; the nearest is ");
  check_error([] { attn::find_preset("T5-base"); }, ExitCode::input, "the nearest is \"t5-base\"");
}

TEST_CASE("only encoder-decoder presets run") {
  int runnable = 0;
  for (const Preset& preset : attn::presets()) {
    CAPTURE(preset.name);
    if (preset.kind != ModelArchitecture::encoder_decoder) {
      check_error([&] { attn::preset_model_config(preset); }, ExitCode::input,
                  "so it can be inspected but not run");
      continue;
    }
    const ModelConfig config = attn::preset_model_config(preset);
    attn::validate(config, preset.name);
    CHECK(config.d_model == preset.d_model);
    CHECK(config.encoder_head_dim() == preset.head_dim);
    CHECK(config.decoder_layers == preset.layers);
    CHECK(config.model_type == "attn-demo");
    ++runnable;
  }
  CHECK(runnable == 4);
}

TEST_CASE("one attention layer of a preset") {
  const attn::PresetRow bert = attn::preset_row(attn::find_preset("bert-base"), 128);
  CHECK(bert.weights == 4 * 768 * 768);
  CHECK(bert.biases == 4 * 768);
  CHECK(bert.multiply_adds == 128ULL * 4 * 768 * 768 + 2ULL * 128 * 128 * 768);
  // Queries and output have 8192², keys and values 8192 × 1024 each (8 heads of 128).
  const attn::PresetRow llama = attn::preset_row(attn::find_preset("llama-70b"), 1);
  CHECK(llama.weights == 2ULL * 8192 * 8192 + 2ULL * 8192 * 1024);
  CHECK(llama.biases == 0);
}
