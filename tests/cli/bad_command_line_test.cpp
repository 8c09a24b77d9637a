// Tests usage errors: numbers, flags, values and combinations that make no sense.
#include <doctest/doctest.h>

#include <array>

#include "bad_input.h"

namespace attn::test {
namespace {

/// Returns a case in which translate refuses one option before a sentence as a usage error.
BadCase option(const std::string& flag, const std::string& value,
               const std::vector<std::string>& parts) {
  return {flag + " '" + value.substr(0, 24) + "'",
          {"translate", flag, value, "The group"},
          kUsage,
          parts};
}

}  // namespace

TEST_CASE("bad input: numbers on the command line") {
  const std::string huge = "99999999999999999999999999";
  check_all({
      option("--beam", "010", {"--beam 010", "1 to 1000"}),
      option("--beam", "0", {"--beam 0", "1 to 1000"}),
      option("--beam", "-1", {"--beam"}),
      option("--beam", "+2", {"--beam +2"}),
      option("--beam", "2.5", {"--beam 2.5", "whole number"}),
      option("--beam", "1e3", {"--beam 1e3"}),
      option("--beam", "", {"--beam", "whole number"}),
      option("--beam", " 2", {"--beam"}),
      option("--beam", "2 ", {"--beam"}),
      option("--beam", "two", {"--beam two"}),
      option("--beam", "0x2", {"--beam 0x2"}),
      option("--beam", "1001", {"--beam 1001", "1 to 1000"}),
      option("--beam", huge, {"--beam " + huge}),
      option("--beam", "2\x1b[31m", {"--beam 2"}),
      option("--beam", "2\n3", {"--beam 2"}),
      option("--seed", "007", {"--seed 007"}),
      option("--seed", "-1", {"--seed"}),
      option("--seed", "", {"--seed", "whole number"}),
      option("--seed", "1.5", {"--seed 1.5"}),
      option("--seed", "18446744073709551616", {"--seed 18446744073709551616"}),
      option("--threads", "0", {"--threads 0", "1 to 1024"}),
      option("--threads", "", {"--threads", "whole number"}),
      option("--threads", "-2", {"--threads"}),
      option("--threads", "1e9", {"--threads 1e9"}),
      option("--threads", "1025", {"--threads 1025"}),
      option("--batch", "0", {"--batch 0"}),
      option("--batch", "", {"--batch"}),
      option("--batch", "1.0", {"--batch 1.0"}),
      option("--batch", huge, {"--batch"}),
      option("--n-best", "01", {"--n-best 01"}),
      option("--n-best", "", {"--n-best"}),
      option("--max-length", "0", {"--max-length 0"}),
      option("--max-length", "", {"--max-length"}),
      option("--max-length", "5.", {"--max-length 5."}),
      option("--max-length", "2147483648", {"--max-length 2147483648"}),
      option("--heads", "02", {"--heads 02"}),
      option("--heads", "0", {"--heads 0"}),
      option("--heads", "", {"--heads"}),
      option("--heads", "2,3", {"--heads 2,3"}),
      option("--d-model", "-12", {"--d-model"}),
      option("--d-model", "12.0", {"--d-model 12.0"}),
      option("--d-model", "", {"--d-model"}),
      option("--d-model", huge, {"--d-model " + huge}),
      option("--layers", "0", {"--layers 0"}),
      option("--layers", "", {"--layers"}),
      option("--length-penalty", "one", {"--length-penalty one", "decimal"}),
      option("--length-penalty", "", {"--length-penalty", "decimal"}),
      option("--length-penalty", "1,5", {"--length-penalty 1,5"}),
      option("--length-penalty", "1e2", {"--length-penalty 1e2"}),
      option("--length-penalty", "nan", {"--length-penalty nan"}),
      option("--length-penalty", "inf", {"--length-penalty inf"}),
      option("--length-penalty", "101", {"--length-penalty 101"}),
  });
}

TEST_CASE("bad input: flags and values") {
  check_all({
      {"no command", {}, kUsage, {"attn-demo: a command is missing; attn-demo help lists them"}},
      {"an option before the command",
       {"--model", "m", "translate"},
       kUsage,
       {"attn-demo: a command is missing: options follow it; attn-demo help lists them"}},
      {"unknown command",
       {"tranlsate", "The group"},
       kUsage,
       {"attn-demo: no command tranlsate; did you mean translate?"}},
      {"a command of nobody's",
       {"fly"},
       kUsage,
       {"attn-demo: no command fly; the commands are translate, explain, "}},
      {"a sentence without a command",
       {"The group went home"},
       kUsage,
       {"attn-demo: no command The group went home; a sentence follows one: attn-demo translate "}},
      {"help of nothing",
       {"help", "trian"},
       kUsage,
       {"attn-demo: no command trian; did you mean train?"}},
      {"an option twice",
       {"translate", "--beam", "3", "--beam", "4", "x"},
       kUsage,
       {"attn-demo: --beam was given 2 times; keep one of them"}},
      {"unknown flag",
       {"translate", "--bean", "3", "x"},
       kUsage,
       {"attn-demo: translate has no option --bean; did you mean --beam?"}},
      {"unknown flag with a value",
       {"translate", "--beams=3", "x"},
       kUsage,
       {"attn-demo: translate has no option --beams; did you mean --beam?"}},
      {"a flag like no other",
       {"page", "--zzzzzz", "x"},
       kUsage,
       {"attn-demo: page has no option --zzzzzz; attn-demo page --help lists its options"}},
      {"train --heads",
       {"train", "{demo}", "--heads", "3"},
       kUsage,
       {"attn-demo: train has no option --heads; --set model.decoder_attention_heads=VALUE, --set "
        "model.encoder_attention_heads=VALUE, --set model.key_value_heads=VALUE and --set "
        "model.num_attention_heads=VALUE set it"}},
      {"another program's name of an option",
       {"translate", "x", "--num_beams", "4"},
       kUsage,
       {"attn-demo: translate has no option --num_beams; did you mean --beam?"}},
      {"an option of the config",
       {"train", "{demo}", "--lr", "0.1", "--out", "{dir}/r"},
       kUsage,
       {"attn-demo: train has no option --lr; --set train.learning_rate=VALUE sets it"}},
      {"train --model",
       {"train", "{demo}", "--model", "m", "--out", "{dir}/r"},
       kUsage,
       {"attn-demo: train has no option --model; translate, explain, page, convert, inspect, "
        "evaluate "
        "and serve have it"}},
      {"an argument too many",
       {"inspect", "{demo}"},
       kUsage,
       {"attn-demo: inspect does not take the argument ",
        "; attn-demo inspect --help shows what it takes"}},
      {"a required option",
       {"tokenizer", "x"},
       kUsage,
       {"attn-demo: --out is required; attn-demo tokenizer --help shows the usage"}},
      {"unknown short flag", {"translate", "-b", "3", "x"}, kUsage, {"-b"}},
      {"sentence with a dash and no --", {"translate", "-Five degrees"}, kUsage, {"-Five"}},
      {"flag of another command", {"init", "--beam", "3", "--out", "{dir}/m"}, kUsage, {"--beam"}},
      {"--seed without a value", {"translate", "x", "--seed"}, kUsage, {"--seed"}},
      {"--json without a value", {"translate", "x", "--json"}, kUsage, {"--json"}},
      {"--show without a value", {"translate", "x", "--show"}, kUsage, {"--show"}},
      {"--seed twice", {"translate", "x", "--seed", "1", "--seed", "2"}, kUsage, {"--seed"}},
      {"--target twice",
       {"translate", "x", "--target", "a", "--target", "b"},
       kUsage,
       {"--target"}},
      {"--target without a sentence", {"translate", "--target", "Die"}, kUsage, {"--target", "0"}},
      {"--target with two", {"translate", "a", "b", "--target", "Die"}, kUsage, {"--target", "2"}},
      {"--early-stopping maybe",
       {"translate", "x", "--early-stopping", "maybe"},
       kUsage,
       {"--early-stopping maybe", "true, false or never"}},
      {"--early-stopping empty",
       {"translate", "x", "--early-stopping", ""},
       kUsage,
       {"--early-stopping", "true, false or never"}},
      {"more best than beams",
       {"translate", "x", "--beam", "2", "--n-best", "3"},
       kUsage,
       {"--n-best 3", "2"}},
      {"--model and --config",
       {"translate", "x", "--model", "{dir}", "--config", "{demo}"},
       kUsage,
       {"--model, --config and --preset"}},
      {"--config and --preset",
       {"translate", "x", "--preset", "t5-base", "--config", "{demo}"},
       kUsage,
       {"--model, --config and --preset"}},
      {"--model and --seed",
       {"translate", "x", "--model", "{dir}", "--seed", "3"},
       kUsage,
       {"--seed makes random weights"}},
      {"--model and --heads",
       {"translate", "x", "--model", "{dir}", "--heads", "3"},
       kUsage,
       {"--heads", "random model"}},
      {"--model and --set",
       {"translate", "x", "--model", "{dir}", "--set", "model.d_model=24"},
       kUsage,
       {"--set", "random model"}},
      {"--model empty", {"translate", "x", "--model", ""}, kUsage, {"--model"}},
      {"--config empty", {"translate", "x", "--config", ""}, kUsage, {"--config"}},
      {"--preset empty", {"translate", "x", "--preset", ""}, kUsage, {"--preset"}},
      {"--json empty", {"translate", "x", "--json", ""}, kUsage, {"--json"}},
      {"--set without a key", {"translate", "x", "--set", "24"}, kUsage, {"section.key=value"}},
      {"--set without a section", {"translate", "x", "--set", "d_model=24"}, kUsage, {"section"}},
      {"--set beginning with a point", {"translate", "x", "--set", ".d=2"}, kUsage, {"section"}},
      {"--set empty", {"translate", "x", "--set", ""}, kUsage, {"section.key=value"}},
      {"--set of a preset",
       {"translate", "x", "--preset", "t5-base", "--set", "model.d_model=24"},
       kUsage,
       {"--set", "preset"}},
      {"init without --out", {"init", "--config", "{demo}"}, kUsage, {"--out"}},
      {"init without a source", {"init", "--out", "{dir}/m"}, kUsage, {"--config FILE"}},
      {"init of two sources",
       {"init", "--config", "{demo}", "--preset", "bart-base", "--out", "{dir}/m"},
       kUsage,
       {"--config and --preset exclude each other"}},
      {"a model for a page of records",
       {"page", "{dir}/r.json", "--model", "{dir}/m"},
       kUsage,
       {"--model is for the model inside a page; add --alone FILE"}},
      {"a number format for a page of records",
       {"page", "{dir}/r.json", "--dtype", "float16"},
       kUsage,
       {"--dtype is for the model inside a page; add --alone FILE"}},
      {"init with an empty --out", {"init", "--config", "{demo}", "--out", ""}, kUsage, {"--out"}},
      {"init of an unknown type",
       {"init", "--config", "{demo}", "--out", "{dir}/m", "--dtype", "float64"},
       kUsage,
       {"--dtype float64", "float32, float16, bfloat16 or int8"}},
      {"init with a sentence",
       {"init", "--config", "{demo}", "--out", "{dir}/m", "The group"},
       kUsage,
       {"The group"}},
      {"inspect --heads 2,,3",
       {"inspect", "--config", "{demo}", "--heads", "2,,3"},
       kUsage,
       {"--heads", "whole number"}},
      {"inspect --heads 2,03",
       {"inspect", "--config", "{demo}", "--heads", "2,03"},
       kUsage,
       {"--heads 03"}},
      {"inspect --source-length 0",
       {"inspect", "--config", "{demo}", "--source-length", "0"},
       kUsage,
       {"--source-length 0"}},
      {"inspect --lengths 16,x",
       {"inspect", "--config", "{demo}", "--lengths", "16,x"},
       kUsage,
       {"--lengths x"}},
  });
}

TEST_CASE("bad input: --show") {
  const auto show = [](const std::string& value, const std::vector<std::string>& parts) {
    return BadCase{"--show " + value,
                   {"translate", "--config", "{demo}", "The group", "--show", value},
                   kUsage,
                   parts};
  };
  check_all({
      show("corss", {"corss", "encoder, decoder or cross", "cross:0:1"}),
      show("", {"--show", "encoder, decoder or cross"}),
      show("Cross", {"Cross"}),
      show("cross:", {"layer"}),
      show("cross:x", {"layer", "\"x\""}),
      show("cross:-1", {"layer", "\"-1\""}),
      show("cross:00", {"layer", "\"00\""}),
      show("cross:0:", {"head"}),
      show("cross:0:1.5", {"head", "\"1.5\""}),
      show("cross:0:1:2", {"KIND:LAYER:HEAD"}),
      show("cross:99999999999", {"layer"}),
      show("cross:2", {"layer 2", "decoder has layers 0 to 1"}),
      show("encoder:5", {"layer 5", "encoder has layers 0 to 1"}),
      show("decoder:0:2", {"head 2", "heads 0 to 1"}),
      show("all:1", {"KIND:LAYER:HEAD"}),
      {"--show none with another",
       {"translate", "The group", "--show", "none", "--show", "cross"},
       kUsage,
       {"--show none"}},
  });
}

TEST_CASE("bad input: head counts that do not divide") {
  check_all({
      {"--heads 5 of 12",
       {"translate", "--config", "{demo}", "--heads", "5", "The group"},
       kInput,
       {"d_model 12 is not divisible by", "heads 5", "1, 2, 3, 4, 6 or 12"}},
      {"--heads 24 of 12",
       {"translate", "--config", "{demo}", "--heads", "24", "The group"},
       kInput,
       {"heads 24", "1, 2, 3, 4, 6 or 12"}},
      {"--d-model 7 of 2 heads",
       {"translate", "--config", "{demo}", "--d-model", "7", "The group"},
       kInput,
       {"d_model 7", "heads 2", "1 or 7"}},
      {"init --heads 5",
       {"init", "--config", "{demo}", "--heads", "5", "--out", "{dir}/m"},
       kInput,
       {"heads 5", "1, 2, 3, 4, 6 or 12"}},
      {"inspect --heads 5",
       {"inspect", "--config", "{demo}", "--heads", "5"},
       kInput,
       {"d_model 12 is not divisible by", "5", "1, 2, 3, 4, 6 or 12"}},
      {"heads by --set",
       {"translate", "--config", "{demo}", "--set", "model.decoder_attention_heads=8", "x"},
       kInput,
       {"decoder_attention_heads 8", "1, 2, 3, 4, 6 or 12"}},
      {"a preset's heads",
       {"translate", "--preset", "t5-base", "--heads", "5", "x"},
       kInput,
       {"d_model 768", "heads 5"}},
      {"unknown preset", {"translate", "--preset", "t5-bse", "x"}, kInput, {"t5-bse", "t5-base"}},
      {"preset that only encodes",
       {"translate", "--preset", "bert-base", "x"},
       kInput,
       {"only an encoder", "t5-base"}},
      {"preset that only decodes",
       {"init", "--preset", "gpt-3-davinci", "--out", "{dir}/m"},
       kInput,
       {"only a decoder", "t5-base"}},
  });
}

TEST_CASE("the environment names kernels and backends that there are") {
  const TemporaryDirectory scene;
  const auto run = [&](const std::string& name, const std::string& value,
                       std::vector<std::string> args) {
    return run_program(
        {.args = std::move(args), .environment = {{name, value}}, .folder = scene.path()});
  };
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"translate", "--seed", "3", "x", "--json", "out.json"},
        {"init", "--seed", "3", "--out", "model"},
        {"inspect", "--config", demo_config()}}) {
    for (const auto& [name, value, expected] :
         {std::array<std::string, 3>{"ATTN_DEMO_CPU", "bogus", "portable, avx2, avx512 or neon"},
          {"ATTN_DEMO_CPU", "AVX2", "portable, avx2, avx512 or neon"},
          {"ATTN_DEMO_BACKEND", "onednn", "panels"},
          {"ATTN_DEMO_BACKEND", "plain", "panels"},
          {"ATTN_DEMO_BACKEND", " panels", "panels"}}) {
      const Result result = run(name, value, args);
      CHECK(result.code == kUsage);
      CHECK(result.out == "");
      CHECK(result.err == "attn-demo: " + name + "=" + value + ": expected " + expected + "\n");
    }
  }
  CHECK(scene.entries() == 0);
  // An empty variable counts as unset, and --help works even if the variable is invalid.
  CHECK(run("ATTN_DEMO_CPU", "", {"translate", "--seed", "3", "x"}).code == kDone);
  CHECK(run("ATTN_DEMO_BACKEND", "", {"translate", "--seed", "3", "x"}).code == kDone);
  CHECK(run("ATTN_DEMO_CPU", "bogus", {"translate", "--help"}).code == kDone);
}

}  // namespace attn::test
