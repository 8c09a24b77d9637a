// Tests train with bad configs and command lines: one clear line, an exit code, and no folder.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "bad_training.h"

namespace attn::test {
namespace {

std::function<void(TrainScene&)> config(const char* section, const Json& changes) {
  return [=](TrainScene& scene) { scene.config[section].update(changes); };
}

}  // namespace

TEST_CASE("configs that cannot be trained") {
  check_all_bad({
      {"unknown key",
       kInput,
       {"unknown key \"learning_rat\" in train; the nearest known one is \"learning_rate\""},
       {},
       set("train.learning_rat=1")},
      {"unknown section", kInput, {"\"trian\"", "train"}, {}, set("trian.seed=1")},
      {"heads",
       kInput,
       {"d_model 8 is not divisible by", "1, 2, 4 or 8"},
       {},
       set("model.encoder_attention_heads=3")},
      {"no tokenizer",
       kInput,
       {"section tokenizer names neither"},
       [](TrainScene& scene) { scene.config.erase("tokenizer"); }},
      {"no end",
       kInput,
       {"nothing would end the training", "train.patience with data.dev"},
       config("train", {{"updates", 0}})},
      {"patience without dev",
       kInput,
       {"nothing would end the training"},
       [](TrainScene& scene) {
         scene.config["data"].erase("dev");
         scene.config["train"].update({{"updates", 0}, {"patience", 3}});
       }},
      {"falling rate without an end",
       kInput,
       {"train.updates is missing"},
       config("train", {{"updates", 0}, {"epochs", 3}, {"schedule", "linear"}})},
      {"vocabulary",
       kInput,
       {"vocab_size is 50, and the tokenizer has"},
       {},
       set("model.vocab_size=50")},
      {"separate vocabularies",
       kInput,
       {"share_encoder_decoder_embeddings is true"},
       {},
       set("tokenizer.joint=false")},
      {"a path that is no text",
       kInput,
       {"not valid UTF-8, and DIR/config.json could not hold it"},
       [](TrainScene& scene) {
         scene.directory.write("tr\xFF.en", bytes_of(scene.file("train.en")));
       },
       set("data.train.source=tr\xFF.en")},
      {"decode settings", kInput, {"num_beams 0 is out of range"}, {}, set("decode.num_beams=0")},
  });
}

TEST_CASE("values of the train section out of their range") {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"updates", "-1"},
      {"updates", "1.5"},
      {"updates", "1e13"},
      {"updates", "many"},
      {"epochs", "-1"},
      {"batch_tokens", "0"},
      {"batch_tokens", "2e9"},
      {"accumulate", "0"},
      {"learning_rate", "0"},
      {"learning_rate", "-0.1"},
      {"learning_rate", "1e7"},
      {"learning_rate", "null"},
      {"warmup_updates", "-1"},
      {"schedule", "cosinus"},
      {"schedule", "1"},
      {"adam_beta1", "1"},
      {"adam_beta1", "-0.1"},
      {"adam_beta2", "1"},
      {"adam_epsilon", "0"},
      {"label_smoothing", "1"},
      {"label_smoothing", "-0.1"},
      {"clip_norm", "-1"},
      {"r_drop", "-1"},
      {"r_drop", "1000"},
      {"average", "mean"},
      {"average_decay", "1"},
      {"average_decay", "-0.5"},
      {"average_last", "0"},
      {"average_last", "101"},
      {"validate_every", "-1"},
      {"validate_beams", "0"},
      {"validate_beams", "1001"},
      {"checkpoint_every", "0"},
      {"log_every", "0"},
      {"patience", "-1"},
      {"metric", "ter"},
      {"max_length", "-1"},
      {"max_length", "1e7"},
      {"seed", "-1"},
      {"seed", "1e17"},
      {"seed", "0.5"},
  };
  for (const auto& [key, value] : bad) {
    check_bad_training({key + "=" + value,
                        kInput,
                        {"{dir}/experiment.json: train." + key},
                        {},
                        set("train." + key + "=" + value)});
  }
}

TEST_CASE("sizes that do not fit in memory are refused before anything is trained") {
  const std::vector<std::string> wide = set("model.d_model=8192");
  std::vector<std::string> huge = wide;
  for (const std::string more : {"model.encoder_ffn_dim=32768", "model.decoder_ffn_dim=32768",
                                 "model.encoder_layers=60", "model.decoder_layers=60"}) {
    huge.insert(huge.end(), {"--set", more});
  }
  check_all_bad({
      {"weights",
       kMemory,
       {"training takes about ", " of memory (", "are available; lower"},
       {},
       huge},
      {"a batch",
       kMemory,
       {"for a batch of 1000000000 source and 1000000000 target tokens"},
       {},
       set("train.batch_tokens=1000000000")},
#ifndef ATTN_ASAN  // ASan reserves the whole address space
      {"under ulimit -v",
       kMemory,
       {"training takes about ", "are available"},
       {},
       set("model.d_model=2048"),
       [] {
         const rlimit limit{600'000'000, 600'000'000};
         setrlimit(RLIMIT_AS, &limit);
       }},
#endif
  });
}

TEST_CASE("bad command lines of train") {
  check_all_bad({
      {"threads 0", kUsage, {"--threads"}, {}, {"--threads", "0"}},
      {"threads abc", kUsage, {"--threads"}, {}, {"--threads", "abc"}},
      {"threads empty", kUsage, {"--threads"}, {}, {"--threads", ""}},
      {"a second config", kUsage, {"other.json"}, {}, {"other.json"}},
      {"set without a section", kUsage, {"--set"}, {}, {"--set", "updates=3"}},
      {"set inside a number", kUsage, {"has no keys inside"}, {}, set("train.updates.x=3")},
  });
  check_all({
      {"no --out", {"train", "{demo}"}, kUsage, {"--out"}},
      {"no config", {"train", "--out", "{dir}/run"}, kUsage, {"CONFIG"}},
      {"empty --out", {"train", "{demo}", "--out", ""}, kUsage, {"--out"}},
      {"config missing", {"train", "{dir}/no.json", "--out", "{dir}/run"}, kSystem, {"no.json"}},
      {"a config for no training",
       {"train", "{demo}", "--out", "{dir}/run"},
       kInput,
       {"data.train.source is missing"}},
  });
}

}  // namespace attn::test
