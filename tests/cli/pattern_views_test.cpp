// Tests sparse patterns through the program: the computation, its explanation, how far a token
// sees, and costs.
#include <doctest/doctest.h>

#include <cmath>
#include <regex>

#include "bad_input.h"

namespace attn::test {
namespace {

/// Returns a config of three layers with this pattern in its encoder.
std::string config_with(const TemporaryDirectory& scene, const std::string& pattern,
                        const std::string& more = "") {
  return scene.write("pattern.json", R"({"model": {"d_model": 12, "encoder_layers": 3,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "max_position_embeddings": 1200)" +
                                         more + R"(, "encoder_attention": )" + pattern + R"(},
    "tokenizer": {"model": ")" + demo_tokenizer() +
                                         R"("}, "decode": {"max_length": 2}})");
}

Json record_of(const std::string& config, const std::string& text) {
  const Result shown =
      run_program({.args = {"translate", "--config", config, "--json", "-", text}});
  REQUIRE_MESSAGE(shown.code == kDone, shown.err);
  return Json::parse(shown.out);
}

double sum_of(const Json& row) {
  double sum = 0;
  for (const Json& weight : row) sum += weight.get<double>();
  return sum;
}

std::string family_config(const TemporaryDirectory& scene, const std::string& family) {
  return scene.write("f.json", R"({"model": {"d_model": 12, "encoder_layers": 1,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, )" +
                                   family + R"(}, "tokenizer": {"model": ")" + demo_tokenizer() +
                                   R"("}, "decode": {"max_length": 2}})");
}

constexpr const char* kSmallBigBird =
    R"("model_type": "bigbird_pegasus", "block_size": 1, "num_random_blocks": 1)";
constexpr const char* kSmallLed = R"("model_type": "led", "attention_window": 2)";
constexpr const char* kSmallPegasusX =
    R"("model_type": "pegasus_x", "block_size": 2, "num_global_tokens": 2)";
constexpr const char* kEightTokens = "the group went home the group home";

constexpr const char* kLongformer = R"({"type": "longformer", "window": 2})";

}  // namespace

TEST_CASE("a record says what the pattern computed; other cells are 0, and rows sum to 1") {
  const TemporaryDirectory scene;
  const Json record = record_of(
      config_with(scene, kLongformer, R"(, "decoder_attention": {"type": "window", "window": 2})"),
      "The group went home");
  const Json& seen = record["seen"]["encoder_self"];
  CHECK(seen["reasons"].dump() == R"(["window","global"])");
  CHECK(seen["of"].dump() == "[[0,0],[0,0],[0,0]]");
  CHECK(seen["patterns"].dump() ==
        "[[[0,5,1],[0,1,1,1,2,0],[0,1,1,1,3,0],[0,1,1,2,3,0],[0,1,1,3,2,0]]]");
  CHECK(seen["reach"].dump() ==
        "[[0,5,1],[0,3,1,3,2,2],[0,4,1,4,1,2],[0,1,1,1,1,2,2,3,1],[0,1,1,1,2,2,3,2,1]]");
  CHECK_FALSE(seen.contains("own_global"));
  CHECK(record["encoder_self"][1][1][4][1] == 0);
  CHECK(sum_of(record["encoder_self"][2][0][3]) == doctest::Approx(1));
  CHECK(record["hypotheses"][0]["seen"]["decoder_self"]["patterns"].dump() == "[[[0,1,0]]]");
}

TEST_CASE("Pegasus-X: what a row gives to the model's own global tokens is in the record") {
  const TemporaryDirectory scene;
  const std::string config =
      scene.write("x.json", R"({"model": {"model_type": "pegasus_x",
    "d_model": 12, "encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "block_size": 2,
    "num_global_tokens": 2}, "tokenizer": {"model": ")" +
                                demo_tokenizer() + R"("}, "decode": {"max_length": 2}})");
  const Json record = record_of(config, "The group went home");
  const Json& seen = record["seen"]["encoder_self"];
  CHECK(seen["of"].dump() == "[[0,0],[1,1]]");
  CHECK(seen["patterns"].dump() ==
        "[[[0,2,0],[0,2,0],[2,2,0],[2,2,0],[4,1,0]],[[0,1,0],[1,2,0],[1,2,0],[3,2,0],[3,2,0]]]");
  CHECK(seen["reach"][4].dump() == "[0,4,2,4,1,1]");  // through the global tokens, after two layers
  for (std::size_t row = 0; row < 5; ++row) {
    const double own = seen["own_global"][1][1][row].get<double>();
    CHECK(own > 0);
    CHECK(own + sum_of(record["encoder_self"][1][1][row]) == doctest::Approx(1));
  }
  const Result shown = run_program(
      {.args = {"translate", "--config", config, "--show", "encoder:0:0", "The group went home"}});
  CHECK(shown.out.find("A row sums to 1") == std::string::npos);
  CHECK(shown.out.find("- is not computed: the pattern leaves it out.") != std::string::npos);
  CHECK(shown.out.find("The model's own global tokens take 0.") != std::string::npos);
}

TEST_CASE("a record says which keys count several times, and whose projections it lacks") {
  const TemporaryDirectory scene;
  const Json bigbird = record_of(family_config(scene, kSmallBigBird), kEightTokens);
  REQUIRE(bigbird["source"]["ids"].size() == 8);
  CHECK(bigbird["seen"]["encoder_self"]["bias"].dump() ==
        "[[[],[0,1,0.6931472],[0,1,0.6931472],[0,1,0.6931472],[0,1,0.6931472],[0,1,0.6931472],"
        "[0,1,0.6931472],[]]]");
  CHECK_FALSE(bigbird["seen"]["encoder_self"].contains("own_projections"));
  const Json led = record_of(family_config(scene, kSmallLed), kEightTokens);
  CHECK(led["seen"]["encoder_self"]["own_projections"].dump() == "[0]");
  CHECK_FALSE(led["seen"]["encoder_self"].contains("bias"));
}

TEST_CASE("a head that is switched off gives nothing to the model's own global tokens") {
  const TemporaryDirectory scene;
  const std::string config = family_config(scene, kSmallPegasusX);
  const auto after = [&](const char* option, const char* change) {
    const Result shown = run_program(
        {.args = {"translate", "--config", config, "--json", "-", option, change, kEightTokens}});
    REQUIRE_MESSAGE(shown.code == kDone, shown.err);
    return Json::parse(shown.out)["after"]["seen"]["encoder_self"]["own_global"][0];
  };
  const Json without = after("--without", "encoder:0:1");
  CHECK(without[1].dump() == "[0,0,0,0,0,0,0,0]");
  CHECK(without[0][3].get<double>() > 0);
  const Json forced = after("--force", "encoder:0:1:3=2");
  CHECK(forced[1][3] == 0);
  CHECK(forced[1][2].get<double>() > 0);
}

TEST_CASE("explain adds up under patterns, or says what is not shown") {
  const TemporaryDirectory scene;
  const auto explained = [&](const char* family, const char* query,
                             const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"explain", "--config",    family_config(scene, family),
                                     "--head",  "encoder:0:1", "--query",
                                     query,     kEightTokens};
    args.insert(args.end(), more.begin(), more.end());
    return run_program({.args = args});
  };
  /// Compares without line breaks.
  const auto flat = [](const Result& result) {
    static const std::regex blanks(R"(\s+)");
    return std::regex_replace(result.out, blanks, " ");
  };
  const std::string x = flat(explained(kSmallPegasusX, "3"));
  CHECK(x.find("the model's own global tokens, which are not words: 0.") != std::string::npos);
  CHECK(x.find("sum of the row: 1.0000 ") != std::string::npos);
  CHECK(x.find("−∞ if the pattern of this attention leaves a word out") != std::string::npos);
  CHECK(x.find("nothing is hidden") == std::string::npos);
  // Every printed quotient is the weight beside it.
  static const std::regex line(R"(exp\(.* = ([0-9.]+), / ([0-9.]+) = ([0-9.]+)\n)");
  int quotients = 0;
  for (const char* family : {kSmallPegasusX, kSmallBigBird, kSmallLed}) {
    const std::string text = explained(family, "3").out;
    for (std::sregex_iterator each(text.begin(), text.end(), line), end; each != end; ++each) {
      ++quotients;
      CHECK(std::stod((*each)[1]) / std::stod((*each)[2]) ==
            doctest::Approx(std::stod((*each)[3])).epsilon(0.01));
    }
  }
  CHECK(quotients == 24);
  CHECK(flat(explained(kSmallBigBird, "3")).find("makes it count several times") !=
        std::string::npos);
  const std::string led = flat(explained(kSmallLed, "0"));
  CHECK(led.find(" is a global token: its query, and the keys and values that it looks at, come "
                 "from separate projections.") != std::string::npos);
  CHECK(led.find("learned as the words are") != std::string::npos);
  CHECK(flat(explained(kSmallLed, "3")).find("is a global token") == std::string::npos);
  const Result brief = explained(kSmallLed, "0", {"--short"});
  CHECK(brief.code == kInput);
  CHECK(brief.err.find("query 0 is a global token, whose query, keys and values come from "
                       "separate projections that are not shown") != std::string::npos);
  const Result own = explained(kSmallPegasusX, "3", {"--short"});
  CHECK(own.code == kInput);
  CHECK(own.err.find("global tokens of the model's own") != std::string::npos);
}

TEST_CASE("above 1024 tokens a record holds the computed cells alone; page and CSV take it") {
  const TemporaryDirectory scene;
  const std::string config = config_with(scene, R"({"type": "window", "window": 4})");
  std::string text;
  for (int i = 0; i < 1099; ++i) text += i == 0 ? "the" : " the";
  const std::string json = scene.file("r.json"), html = scene.file("p.html");
  const Result shown = run_program({.args = {"translate", "--config", config, "--json", json,
                                             "--csv", scene.file("csv"), "--show", "none", text}});
  REQUIRE_MESSAGE(shown.code == kDone, shown.err);
  const Json record = Json::parse(bytes_of(json));
  CHECK(record["source"]["ids"].size() == 1100);
  CHECK(record["encoder_self"].dump() == "[]");
  const Json& seen = record["seen"]["encoder_self"];
  CHECK(seen["patterns"][0][500].dump() == "[498,5,0]");
  CHECK(seen["weights"][2][1][500].size() == 5);
  CHECK(sum_of(seen["weights"][2][1][500]) == doctest::Approx(1));
  CHECK_FALSE(seen.contains("reach"));
  CHECK(bytes_of(json).size() < 1'000'000);
  const std::size_t cells = 6 * (1100 * 5 - 6);
  CHECK(lines_of(bytes_of(scene.file("csv") + "/encoder.csv")).size() == 1 + cells);
  const Result page = run_program({.args = {"page", json, "--html", html}});
  CHECK_MESSAGE(page.code == kDone, page.err);
  CHECK(bytes_of(html).find("\"weights\":[") == std::string::npos);
  const Result maps =
      run_program({.args = {"translate", "--config", config, "--show", "encoder", text}});
  CHECK(maps.code == kDone);
  CHECK(maps.out ==
        "\n\nThe encoder's maps of 1100 tokens are too large for a window; --json and --csv\n"
        "contain the computed cells.\n");
}

TEST_CASE("inspect --receptive-field: how far the encoder's tokens see") {
  const TemporaryDirectory scene;
  const std::string config = config_with(scene, R"({"type": "window", "window": 4})");
  const std::vector<std::string> args = {"inspect",           "--config", config,
                                         "--receptive-field", "--length", "8"};
  const Result text = run_program({.args = args});
  CHECK(text.code == kDone);
  CHECK(text.err == "");
  CHECK(
      text.out ==
      "Receptive field of 8 tokens: window, window 4\n\n"
      "layers  fewest tokens  mean  most  farthest\n"
      "───────────────────────────────────────────\n"
      "     1              3   4.2     5         2\n"
      "     2              5   6.5     8         4\n"
      "     3              7   7.8     8         6\n\n"
      "How many tokens of the source a row is made from; the farthest is so many places\naway.\n\n"
      "     0  1 1 1 2 2 3 3 -\n"
      "     1  1 1 1 1 2 2 3 3\n"
      "     2  1 1 1 1 1 2 2 3\n"
      "     3  2 1 1 1 1 1 2 2\n"
      "     4  2 2 1 1 1 1 1 2\n"
      "     5  3 2 2 1 1 1 1 1\n"
      "     6  3 3 2 2 1 1 1 1\n"
      "     7  - 3 3 2 2 1 1 1\n"
      "Rows see, columns are seen; a digit: the token is seen after so many layers, -:\n"
      "after none.\n");
  std::vector<std::string> as_json = args;
  as_json.insert(as_json.end(), {"--json", "-"});
  const Result json = run_program({.args = as_json});
  CHECK(json.code == kDone);
  const Json field = Json::parse(json.out)["receptive_field"];
  CHECK(field["tokens"] == 8);
  CHECK(field["side"] == 8);
  CHECK(field["first"][0].dump() == "[1,1,1,2,2,3,3,0]");
  CHECK(field["layers"].dump() ==
        R"([{"least":3,"mean":4.25,"most":5,"farthest":2},{"least":5,"mean":6.5,"most":8,)"
        R"("farthest":4},{"least":7,"mean":7.75,"most":8,"farthest":6}])");
  std::vector<std::string> as_svg = args;
  as_svg.insert(as_svg.end(), {"--svg", scene.file("f.svg")});
  CHECK(run_program({.args = as_svg}).code == kDone);
  const std::string svg = bytes_of(scene.file("f.svg"));
  CHECK(svg.find("data-layers=\"3\" d=\"M5 0h2v1h-2z") != std::string::npos);
  CHECK(svg.find("window, window 4 · 8 tokens · 3 layers") != std::string::npos);
  // Cells seen in earlier layers are darker; the legend includes cells that are never seen.
  static const std::regex level(R"re(<path class="s(\d+)" data-layers="(\d)")re");
  int darker = 1000;
  for (std::sregex_iterator each(svg.begin(), svg.end(), level), end; each != end; ++each) {
    CHECK(std::stoi((*each)[1]) < darker);
    darker = std::stoi((*each)[1]);
  }
  CHECK(darker < 1000);
  CHECK(svg.find(">never</text>") != std::string::npos);
  check_all({
      {"--receptive-field beyond the positions",
       {"inspect", "--config", config, "--receptive-field", "--length", "1201"},
       kUsage,
       {"--length 1201", "1200"}},
      {"--receptive-field with --presets",
       {"inspect", "--presets", "--receptive-field"},
       kUsage,
       {"--receptive-field needs one model; leave --presets out"}},
      {"--receptive-field with --attention",
       {"inspect", "--attention", "full", "--receptive-field"},
       kUsage,
       {"--receptive-field needs one model; leave --attention out"}},
      {"--svg without --receptive-field", {"inspect", "--svg", "{dir}/x.svg"}, kUsage, {"--svg"}},
  });
}

TEST_CASE("shades of a narrow map leave a dash where nothing was computed") {
  const TemporaryDirectory scene;
  const std::string config = config_with(scene, R"({"type": "window", "window": 2})");
  std::string text = "the group";
  for (int i = 0; i < 4; ++i) text += " went home the group";
  const Result shown =
      run_program({.args = {"translate", "--config", config, "--show", "encoder:0:0", text},
                   .environment = {{"COLUMNS", "60"}}});
  REQUIRE_MESSAGE(shown.code == kDone, shown.err);
  CHECK_MESSAGE(shown.out.find("\n 9 group  - - - - - - - -") != std::string::npos, shown.out);
}

TEST_CASE("inspect --receptive-field: blocks of a long text, and letters for many layers") {
  const TemporaryDirectory scene;
  const std::string config = config_with(scene, R"({"type": "window", "window": 2})");
  const auto text_of = [&](const std::string& length, std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"inspect", "--config", config, "--receptive-field", "--length", length});
    const Result result = run_program({.args = more, .environment = {{"COLUMNS", "80"}}});
    CHECK_MESSAGE(result.code == kDone, result.err);
    return result.out;
  };
  // 36 cells in 80 columns show 100 tokens: 2.8 tokens each.
  const std::string blocks = text_of("100");
  CHECK_MESSAGE(blocks.ends_with("after none. Blocks of 3 tokens or so: the first of them that any "
                                 "sees.\n"),
                blocks);
  CHECK(text_of("12", {"--set", "model.encoder_layers=11"})
            .find("\n     0  1 1 2 3 4 5 6 7 8 9 a b\n") != std::string::npos);
}

TEST_CASE("inspect --attention: a row a kind and length") {
  const std::vector<std::string> args = {
      "inspect",    "--attention", "full,window,longformer,chunks",
      "--lengths",  "16,40",       "--heads",
      "2",          "--head-dim",  "4",
      "--backward", "--dropout",   "0.1"};
  std::vector<std::string> as_json = args;
  as_json.insert(as_json.end(), {"--json", "-"});
  const Result result = run_program({.args = as_json});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.err == "");
  const Json list = Json::parse(result.out)["attention"];
  REQUIRE(list.size() == 8);
  std::string rows;
  for (const Json& row : list) {
    CHECK(row.size() == 7);
    CHECK(row["causal"] == false);
    CHECK(row["forward_seconds"].get<double>() > 0);
    CHECK(row["backward_seconds"].get<double>() > 0);
    CHECK(row["peak_bytes"].is_number_unsigned());
    rows += row["kind"].get<std::string>() + " " + row["length"].dump() + " " +
            row["multiply_adds"].dump() + "; ";
  }
  CHECK(rows ==
        "full 16 4096; full 40 25600; window 16 4096; window 40 25600; longformer 16 4096; "
        "longformer 40 25600; chunks 16 4096; chunks 40 25600; ");
  const Result causal = run_program({.args = {"inspect", "--attention", "window", "--lengths", "16",
                                              "--heads", "1", "--causal", "--json", "-"}});
  const Json one = Json::parse(causal.out)["attention"][0];
  CHECK(one["causal"] == true);
  CHECK(one["backward_seconds"].is_null());
  CHECK(one["multiply_adds"] == 2 * 64 * 16 * 17 / 2);
  const Result table = run_program({.args = {"inspect", "--attention", "full", "--lengths", "16"}});
  CHECK(table.out.find("Attention alone, one sentence: 8 heads of 64, 1 thread\n") == 0);
}

TEST_CASE("bad input: inspect --attention") {
  const auto measure = [](const std::vector<std::string>& more, const std::string& says) {
    std::vector<std::string> args = {"inspect", "--attention"};
    args.insert(args.end(), more.begin(), more.end());
    std::string name = "inspect --attention";
    for (const std::string& word : more) name += " " + word;
    return BadCase{name, args, kUsage, {says}};
  };
  check_all({
      measure({"ful"},
              "--attention ful: expected full, window, longformer, bigbird, sparse_strided, "
              "sparse_fixed, chunks, linformer, performer or lsh, or all of them: all"),
      measure({"full,"}, "--attention : expected full, "),
      measure({"bigbird", "--causal"},
              "--attention bigbird: expected full, window, sparse_strided, sparse_fixed or "
              "performer, which "
              "can be causal"),
      measure({"full", "--lengths", "0"}, "--lengths 0: "),
      measure({"full", "--head-dim", "x"}, "--head-dim x: "),
      measure({"full", "--heads", "2,4"}, "--heads 2,4: "),
      measure({"full", "--threads", "0"}, "--threads 0: "),
      measure({"full", "--dropout", "1", "--backward"}, "--dropout 1: "),
      measure({"full", "--dropout", "0.5"}, "--dropout applies to training only; add --backward"),
      measure({"full,window,full"}, "--attention has full twice; leave one of them out"),
      measure({"full", "--lengths", "16,8,16"}, "--lengths has 16 twice; leave one of them out"),
      measure({"full", "--length", "16"}, "--attention needs --lengths; write --lengths 16"),
      measure(
          {"full", "--config", "{demo}"},
          "--attention measures kinds with random numbers, without a model; leave --config out"),
      measure({"full", "--presets"}, "leave --presets out"),
      measure({"full", "--lengths", "8", "--json", "-", "--svg", "-"},
              "--json - and --svg - cannot both go to stdout; name a file"),
      measure({"full", "--lengths", "8", "--csv", "-", "--svg", "-"},
              "--csv - and --svg - cannot both go to stdout; name a file"),
      {"--causal without --attention",
       {"inspect", "--causal"},
       kUsage,
       {"--causal", "--attention"}},
  });
}

}  // namespace attn::test
