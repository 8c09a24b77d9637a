// Tests sparse patterns on the command line: explain --compare attention, and the picture of
// inspect --attention.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "bad_input.h"
#include "base/json.h"
#include "view/svg/expat_xml.h"

namespace attn::test {
namespace {

const std::vector<std::string> kAllKinds{"window",         "longformer",   "bigbird",
                                         "sparse_strided", "sparse_fixed", "chunks",
                                         "linformer",      "performer",    "lsh"};

Result compare_kinds(std::vector<std::string> more, const std::string& target = kDemoTarget) {
  std::vector<std::string> args{"explain",   kDemoSource, "--compare",
                                "attention", "--config",  demo_config()};
  if (!target.empty()) args.insert(args.end(), {"--target", target});
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = std::move(args)});
}

/// Returns the lines of `text` from `first` to the next empty one.
std::vector<std::string> paragraph(const std::string& text, const std::string& first) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    if (found.empty() && line != first) continue;
    if (line.empty()) break;
    found.push_back(line);
  }
  return found;
}

/// Returns the width of a line without wide characters.
std::ptrdiff_t columns_of(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

Result draw_kinds(const std::vector<std::string>& more) {
  std::vector<std::string> args{
      "inspect", "--attention", "full,window,linformer", "--heads", "1", "--head-dim", "4"};
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = args});
}

}  // namespace

TEST_CASE("explain --compare attention: a table of all kinds, then one of heads for each") {
  const Result text = compare_kinds({});
  REQUIRE_MESSAGE(text.code == kDone, text.err);
  CHECK(is_plain(text.out));
  CHECK(text.out.starts_with("What each sparse approximation gives up\n"));
  CHECK(text.out.find("\nsource: The group went home\ntarget: Die Gruppe ging nach Hause\n") !=
        std::string::npos);
  for (const std::string& line : lines_of(text.out)) CHECK(columns_of(line) <= 80);
  const std::vector<std::string> means = paragraph(text.out, "means");
  REQUIRE(means.size() == kAllKinds.size() + 2);
  CHECK(means[1] == "                    missed     error top stays");
  for (std::size_t k = 0; k < kAllKinds.size(); ++k) {
    CHECK(means[k + 2].starts_with("  " + kAllKinds[k] + " "));
  }
  const std::string window = text.out.substr(text.out.find("\n2. window, window 2\n"));
  const std::vector<std::string> heads = paragraph(window, "heads");
  REQUIRE(heads.size() == 6);
  CHECK(heads[2].starts_with("  encoder:0:0 "));
  CHECK(heads[3].starts_with("  encoder:0:1 "));
  CHECK(heads[4].starts_with("  encoder:1:0 "));
  CHECK(heads[5].starts_with("  encoder:1:1 "));
  // There are nine patterns; for each, a line says that the given translation stays.
  std::size_t lines = 0;
  for (const std::string& line : lines_of(text.out)) {
    if (line.starts_with("the translation stays; the target's log-probability: −")) ++lines;
  }
  CHECK(lines == kAllKinds.size());
  CHECK(compare_kinds({"--step", "1"}).out.find("\n2. ") == std::string::npos);
}

TEST_CASE("explain --compare attention as JSON and Markdown, of the word wherever it stands") {
  const Result result = compare_kinds({"--json", "-"});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const Json json = Json::parse(result.out);
  CHECK(json["format"] == "attn-demo.explanation");
  REQUIRE(json["steps"].size() == kAllKinds.size() + 1);
  CHECK(json["steps"][0]["id"] == "kinds");
  const Json& means = json["steps"][0]["matrices"][0];
  CHECK(means["row_tokens"] == Json(kAllKinds));
  CHECK(means["column_tokens"].dump() == R"(["missed","error","top stays"])");
  for (std::size_t k = 0; k < kAllKinds.size(); ++k) {
    const Json& step = json["steps"][k + 1];
    CHECK(step["id"] == kAllKinds[k]);
    const Json& heads = step["matrices"][0];
    CHECK(heads["row_tokens"].dump() ==
          R"(["encoder:0:0","encoder:0:1","encoder:1:0","encoder:1:1"])");
    for (std::size_t column = 0; column < 3; ++column) {
      double sum = 0;
      for (const Json& row : heads["values"]) sum += row[column].get<double>();
      CHECK(means["values"][k][column].get<double>() == doctest::Approx(sum / 4).epsilon(1e-5));
    }
  }
  const Result turned =
      run_program({.args = {"explain", "attention", kDemoSource, "--compare", "--config",
                            demo_config(), "--target", kDemoTarget, "--json", "-"}});
  CHECK(turned.out == result.out);

  const std::string markdown = compare_kinds({"--markdown", "-"}).out;
  CHECK(markdown.starts_with("# What each sparse approximation gives up\n\n"));
  CHECK(markdown.find("\n| | `missed` | `error` | `top stays` |\n|---|---:|---:|---:|\n"
                      "| `window` | ") != std::string::npos);
  CHECK(markdown.find("\n| `encoder:1:1` | ") != std::string::npos);
}

TEST_CASE(
    "explain --compare=attention: a flag takes no value, and the message says how it is written") {
  for (const char* typed : {"--compare=attention", "--short=much"}) {
    const std::string word = typed;
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals), value = word.substr(equals + 1);
    const Result result = run_program({.args = {"explain", kDemoSource, word}});
    CHECK(result.code == kUsage);
    CHECK(result.err ==
          fmt::format(
              "attn-demo: {0} takes no value, but you gave {1}; write {0} alone, or {0} {1}\n",
              flag, value));
  }
}

TEST_CASE("explain --compare attention: each kind translates, and scores the exact translation") {
  const Json json = Json::parse(compare_kinds({"--json", "-", "--max-length", "6"}, "").out);
  const Json record =
      Json::parse(run_program({.args = {"translate", kDemoSource, "--config", demo_config(),
                                        "--max-length", "6", "--json", "-"}})
                      .out);
  const std::string text = record["hypotheses"][0]["text"];
  CHECK(json["facts"][1] == "target: " + text);
  double sum = 0;
  for (const Json& one : record["hypotheses"][0]["log_probs"]) sum += one.get<double>();
  const auto line_of = [&](std::size_t step) {
    return json["steps"][step]["lines"][0].get<std::string>();
  };
  // With five tokens, bigbird sees all of them.
  CHECK(
      line_of(3) ==
      fmt::format("the translation stays; the target's log-probability: −{:.4f}, as before", -sum));
  for (std::size_t step = 1; step <= kAllKinds.size(); ++step) {
    if (step == 3) continue;
    CHECK_MESSAGE(line_of(step).ends_with(fmt::format(" instead of −{:.4f}", -sum)), line_of(step));
  }
}

TEST_CASE(
    "explain --compare attention: a kind that sees everything scores what the search found, piece "
    "by piece") {
  // The search splits "Hause" into other tokens than the tokenizer does.
  const Result result =
      run_program({.args = {"explain", "home", "--compare", "attention", "--model",
                            kProject + "/data/models/en-de", "--json", "-"}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const Json json = Json::parse(result.out);
  int exact = 0;
  for (std::size_t step = 1; step < json["steps"].size(); ++step) {
    const Json& lines = json["steps"][step]["lines"];
    if (lines.size() < 2) continue;
    ++exact;
    CHECK(lines[1] == "in a sentence this short it sees every token");
    CHECK_MESSAGE(lines[0].get<std::string>().ends_with(", as before"), lines[0].dump());
  }
  CHECK(exact > 0);
}

TEST_CASE("explain --compare attention without a sentence: a note says what is compared") {
  const Result result =
      run_program({.args = {"explain", "--compare", "attention", "--config", demo_config()}});
  CHECK(result.code == kDone);
  CHECK(result.err.find("note: attention was taken as the sentence; to compare kinds of attention, "
                        "add a sentence: --compare attention \"The group went home\"\n") !=
        std::string::npos);
}

TEST_CASE("what explain --compare attention refuses") {
  const auto leave_out = [](const std::string& option, std::vector<std::string> value) {
    std::vector<std::string> args{"explain",  "home",   "--compare", "attention",
                                  "--config", "{demo}", option};
    args.insert(args.end(), value.begin(), value.end());
    return BadCase{"--compare attention with " + option,
                   args,
                   kUsage,
                   {"attn-demo: --compare attention covers all heads of the encoder and the best "
                    "translation; leave " +
                    option + " out"}};
  };
  check_all({
      leave_out("--kind", {"encoder"}),
      leave_out("--layer", {"0"}),
      leave_out("--head", {"encoder:0:1"}),
      leave_out("--query", {"home"}),
      leave_out("--hypothesis", {"2"}),
      leave_out("--order", {"dog bites man", "man bites dog"}),
      {"--compare attention and --short",
       {"explain", "home", "--compare", "attention", "--short", "--config", "{demo}"},
       kUsage,
       {"--compare, --meaning, --short and --why are different explanations; choose one"}},
      {"--compare attention of two sentences",
       {"explain", "home", "group", "--compare", "attention", "--config", "{demo}"},
       kUsage,
       {"explain takes exactly one sentence, but you gave 3"}},
      {"--compare attention of no words",
       {"explain", "", "--compare", "attention", "--config", "{demo}"},
       kInput,
       {"no tokens"}},
      {"--compare attention of a model that has a kind of its own",
       {"explain", "home", "--compare", "attention", "--config", "{dir}/window.json"},
       kInput,
       {"attn-demo: the encoder's attention is window already; the kinds are compared in a model "
        "whose encoder_attention is full"},
       [](const TemporaryDirectory& scene) {
         scene.write("window.json", R"({"model": {"d_model": 12, "encoder_layers": 1,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "encoder_attention": {"type": "window",
    "window": 2}}, "tokenizer": {"model": ")" +
                                        demo_tokenizer() + R"("}, "decode": {"max_length": 2}})");
       }},
  });
}

TEST_CASE("inspect --attention all: every kind at every length, as JSON, CSV and table") {
  const TemporaryDirectory scene;
  const std::string csv = scene.file("costs.csv");
  const auto measured = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"inspect",  "--attention", "all", "--lengths",
                                  "1,65,130", "--heads",     "2",   "--head-dim",
                                  "4",        "--threads",   "2"};
    args.insert(args.end(), more.begin(), more.end());
    const Result result = run_program({.args = args});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return result;
  };
  std::vector<std::string> kinds = kAllKinds;
  kinds.insert(kinds.begin(), "full");
  const Json all = Json::parse(measured({"--backward", "--json", "-", "--csv", csv}).out);
  REQUIRE(all["attention"].size() == 3 * kinds.size());
  REQUIRE(all["growth"].size() == kinds.size());
  const std::vector<std::string> lines = lines_of(bytes_of(csv));
  REQUIRE(lines.size() == 1 + 3 * kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    CAPTURE(kinds[k]);
    CHECK(all["growth"][k]["kind"] == kinds[k]);
    CHECK(all["growth"][k]["time_exponent"].is_number());
    CHECK(all["growth"][k]["memory_exponent"].is_number());
    CHECK(all["growth"][k].contains("overtakes"));
    for (std::size_t i = 0; i < 3; ++i) {
      const Json& row = all["attention"][3 * k + i];
      CHECK(row["kind"] == kinds[k]);
      CHECK(row["forward_seconds"].get<double>() > 0);
      CHECK(row["backward_seconds"].get<double>() > 0);
      CHECK(row["peak_bytes"].get<std::uint64_t>() < 1'000'000'000);
      CHECK(lines[1 + 3 * k + i].starts_with(
          fmt::format("{},{},false,", kinds[k], row["length"].get<int>())));
    }
  }
  CHECK(all["growth"][0]["overtakes"].is_null());
  // linformer: E, F and twice their mixtures. performer: K ln K features. lsh: 65 tokens give two
  // chunks, with two rounds and 64 buckets.
  const auto multiply_adds = [&](std::size_t kind) {
    return all["attention"][3 * kind + 1]["multiply_adds"].get<int>();
  };
  CHECK(multiply_adds(7) == 4 * 65 * 256 * 8);
  CHECK(multiply_adds(8) == 4 * 65 * 5 * 8);
  CHECK(multiply_adds(9) == 65 * 2 * (4 * 64 + 32) * 8);
  const std::string causal = measured({"--causal"}).out;
  std::string found;
  for (const std::string& line : lines_of(causal.substr(causal.find("\nGrowth, ")))) {
    if (line.find(" N^") != std::string::npos) found += line.substr(0, line.find(' ')) + " ";
  }
  CHECK(found == "full window sparse_strided sparse_fixed performer ");
}

TEST_CASE("linformer, performer and lsh: work and memory grow with the length, not its square") {
  const Json json =
      Json::parse(run_program({.args = {"inspect", "--attention", "linformer,performer,lsh",
                                        "--lengths", "2048,8192", "--heads", "1", "--head-dim",
                                        "16", "--backward", "--json", "-"}})
                      .out);
  REQUIRE(json["growth"].size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(json["growth"][k]["kind"].dump());
    const Json &few = json["attention"][2 * k], &many = json["attention"][2 * k + 1];
    CHECK(many["multiply_adds"].get<double>() == 4 * few["multiply_adds"].get<double>());
#if !defined(ATTN_ASAN) && !defined(ATTN_TSAN)  // these keep freed memory
    CHECK(json["growth"][k]["memory_exponent"].get<double>() <= 1.1);
#endif
  }
}

TEST_CASE("inspect --attention --svg - is the picture alone") {
  const Result result = draw_kinds({"--lengths", "8", "--svg", "-"});
  CHECK(result.code == kDone);
  CHECK(result.out.starts_with("<?xml "));
  CHECK(result.out.ends_with("</svg>\n"));
}

TEST_CASE("inspect --attention --svg: a line a kind in both plots, and a message of the file") {
  const TemporaryDirectory scene;
  const std::string svg = scene.file("g.svg"), png = scene.file("g.png");
  const Result result = draw_kinds({"--lengths", "16,32", "--svg", svg, "--png", png});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.out.starts_with("Attention alone, one sentence: 1 head of 4, 1 thread\n"));
  const std::vector<std::string> notes = notes_of(result);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].starts_with("note: wrote " + svg + " ("));
  CHECK(notes[1].starts_with("note: wrote " + png + " ("));
  CHECK(errors_of(result).empty());
  CHECK(bytes_of(png).starts_with("\x89PNG"));
  const Document picture(bytes_of(svg));
  CHECK(picture.at(0).name == "svg");
  CHECK(picture.child_text(0, "title") == "Attention alone: 1 head of 4, 1 thread");
  CHECK(picture.find("polyline").size() == 6);
  for (const char* kind : {"k0", "k1", "k2"}) CHECK(picture.find("polyline", kind).size() == 2);
  CHECK(picture.find("polyline", "dashed").size() == 2);  // linformer computes something else
  CHECK(picture.find("circle").size() == 12);
  std::string legend;
  for (const int index : picture.find("tspan")) legend += picture.at(index).text + " ";
  CHECK(legend == "full window linformer ");
  CHECK(picture.texts().find(" time N^") != std::string::npos);
  // One length gives no growth, and no line through its points.
  REQUIRE(draw_kinds({"--lengths", "16", "--svg", svg}).code == kDone);
  const Document single(bytes_of(svg));
  CHECK(single.find("circle").size() == 6);
  CHECK(single.texts().find("N^") == std::string::npos);
  check_all({
      {"--svg into a file called .png",
       {"inspect", "--attention", "full", "--lengths", "16", "--svg", "{dir}/x.png"},
       kUsage,
       {"x.png: the option writes SVG, but the name ends in .png; --png ", "x.png writes PNG"}},
      {"--svg without a report that can be drawn",
       {"inspect", "--svg", "{dir}/x.svg"},
       kUsage,
       {"--svg draws what --receptive-field or --attention shows; add one of them"}},
  });
}

}  // namespace attn::test
