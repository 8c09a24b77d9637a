// Tests attn-demo explain, the experiments of translate, and evaluate --head-importance on the
// command line.
#include <doctest/doctest.h>

#include <regex>

#include "bad_input.h"
#include "base/strings/utf8.h"
#include "terminal.h"
#include "train_run.h"

namespace attn::test {
namespace {

Result explain(std::vector<std::string> more) {
  std::vector<std::string> args{"explain",     kDemoSource, "--config",
                                demo_config(), "--target",  kDemoTarget};
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = std::move(args)});
}

Json json_of(const Result& result) {
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  return Json::parse(result.out);
}

Result what_if(std::vector<std::string> more) {
  std::vector<std::string> args{"translate", kDemoSource, "--config", demo_config()};
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = std::move(args)});
}

}  // namespace

TEST_CASE("explain shows the weights that translate records, for each kind") {
  const Json record =
      json_of(run_program({.args = {"translate", kDemoSource, "--config", demo_config(), "--target",
                                    kDemoTarget, "--json", "-"}}));
  for (const std::string kind : {"encoder", "decoder", "cross"}) {
    const Json found = json_of(
        explain({"--kind", kind, "--layer", "0", "--head", "1", "--query", "3", "--json", "-"}));
    const Json& maps = kind == "encoder"   ? record["encoder_self"]
                       : kind == "decoder" ? record["hypotheses"][0]["decoder_self"]
                                           : record["hypotheses"][0]["cross"];
    bool compared = false;
    for (const Json& step : found["steps"]) {
      if (step["id"] != "weights") continue;
      CHECK(step["matrices"][0]["values"] == maps[0][1]);
      CHECK(step["matrices"][0]["marked_row"] == 3);
      compared = true;
    }
    CHECK(compared);
  }
}

TEST_CASE("explain: another of the n best") {
  const auto with = [](std::vector<std::string> more) {
    std::vector<std::string> args{"explain", kDemoSource,    "--config", demo_config(), "--kind",
                                  "decoder", "--max-length", "6",        "--json",      "-"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program({.args = std::move(args)});
  };
  const Json records = json_of(
      run_program({.args = {"translate", kDemoSource, "--config", demo_config(), "--max-length",
                            "6", "--beam", "3", "--n-best", "2", "--json", "-"}}));
  const Json found = json_of(with({"--beam", "3", "--hypothesis", "2", "--layer", "1"}));
  for (const Json& step : found["steps"]) {
    if (step["id"] != "weights") continue;
    CHECK(step["matrices"][0]["values"] == records["hypotheses"][1]["decoder_self"][1][0]);
  }
  const Result few = with({"--hypothesis", "2"});
  CHECK(few.code == kUsage);
  CHECK(few.err.find("the search has 1 beam; add --beam 2") != std::string::npos);
  CHECK(with({"--hypothesis", "2", "--target", kDemoTarget}).code == kUsage);
}

TEST_CASE("explain tells everything of twelve columns, on the terminal and as Markdown") {
  const TemporaryDirectory scene;
  const std::vector<std::string> head{"--kind", "cross", "--layer", "0", "--head", "1"};
  const Result text = explain(head);
  REQUIRE_MESSAGE(text.code == kDone, text.err);
  CHECK(text.out.find("cut") == std::string::npos);
  for (const std::string part :
       {"cross-attention, layer 0, head 1", "√12 = 3.4641", "Softmax makes weights",
        "sum of the row: 1.0000", "columns 6–11", "The result is added to the token's row"}) {
    CHECK_MESSAGE(text.out.find(part) != std::string::npos, part);
  }
  CHECK(is_plain(text.out));
  std::vector<std::string> into_file = head;
  into_file.insert(into_file.end(), {"--markdown", scene.file("head.md")});
  CHECK(explain(into_file).out == "");
  const std::string markdown = bytes_of(scene.file("head.md"));
  CHECK(markdown.starts_with("# cross-attention, layer 0, head 1\n"));
  CHECK(markdown.find("| `home` |") != std::string::npos);
  CHECK(markdown.find("\\begin{pmatrix}") != std::string::npos);
}

TEST_CASE("explain opens at the head that aligns best, and at a word that it aligns") {
  const auto opened = [](std::vector<std::string> more) {
    std::vector<std::string> args{"explain", "The group went home"};
    args.insert(args.end(), more.begin(), more.end());
    const Result result = run_program({.args = std::move(args)});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return lines_of(result.out);
  };
  const std::vector<std::string> plain = opened({});
  CHECK(plain[0].starts_with("cross-attention, layer "));
  CHECK(plain[4].find(" and writes “") != std::string::npos);
  CHECK(opened({"--head", "best"}) == plain);
  CHECK(opened({"--head", "cross:best"}) == plain);
  CHECK(opened({"--head", "cross:2:best"})[0].starts_with("cross-attention, layer 2, head "));
  CHECK(opened({"--layer", "2"}) == opened({"--head", "cross:2:best"}));
  CHECK(opened({"--head", "cross:1:3"}) ==
        opened({"--kind", "cross", "--layer", "1", "--head", "3"}));
  CHECK(opened({"--kind", "encoder"})[0] == "encoder self-attention, layer 4, head 0");
  const std::string place = plain[0].substr(plain[0].find("layer "));
  CHECK(opened({"--compare"})[0] == "Attention compared, " + place);
}

TEST_CASE("explain takes a word as its query") {
  const auto fact = [](std::vector<std::string> more) {
    more.push_back("--short");
    const Result result = explain(more);
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return result.out;
  };
  CHECK(fact({"--query", "ging"}) == fact({"--query", "2"}));
  CHECK(
      fact({"--query", "ging"}).find("query 2: the step that reads “Gruppe” and writes “ging”\n") !=
      std::string::npos);
  CHECK(fact({"--kind", "encoder", "--query", "home"}).find("query 3: “home”\n") !=
        std::string::npos);
}

TEST_CASE("explain --step shows some steps, and JSON holds all") {
  const Result some = explain({"--step", "1,7-8"});
  REQUIRE_MESSAGE(some.code == kDone, some.err);
  for (const std::string part : {"\n1. Words", "\n7. Every query", "\n8. The scores"}) {
    CHECK_MESSAGE(some.out.find(part) != std::string::npos, part);
  }
  CHECK(some.out.find("\n2. ") == std::string::npos);
  CHECK(some.out.find("\n9. ") == std::string::npos);
  CHECK(json_of(explain({"--step", "7", "--json", "-"})) == json_of(explain({"--json", "-"})));
  const std::string markdown = explain({"--step", "8", "--markdown", "-"}).out;
  CHECK(markdown.find("## 8. The scores are scaled\n") != std::string::npos);
  CHECK(markdown.find("## 9.") == std::string::npos);
}

TEST_CASE("explain --short fits a blackboard and a small window") {
  const Result brief = run_program({.args = {"explain", "The group went home", "--short"}});
  REQUIRE_MESSAGE(brief.code == kDone, brief.err);
  CHECK(lines_of(brief.out).size() <= 23);
  for (const std::string& line : lines_of(brief.out)) CHECK(display_width(line) <= 80);
  for (const std::string part : {"x = q · k / √64", "weight", "q · k of “", "head = ("}) {
    CHECK_MESSAGE(brief.out.find(part) != std::string::npos, part);
  }
  CHECK(explain({"--short", "--kind", "decoder", "--query", "1"}).out.find("√6 + mask") !=
        std::string::npos);
}

TEST_CASE("explain --compare and --meaning") {
  const Json compared = json_of(explain({"--compare", "--json", "-"}));
  CHECK(compared["steps"].size() == 4);
  CHECK(compared["steps"][3]["id"] == "positions");
  const Json meaning = json_of(
      run_program({.args = {"explain", "--config", demo_config(), "--meaning", "home",
                            "The group went home", "The teacher went home", "--json", "-"}}));
  CHECK(meaning["facts"].size() == 4);
  CHECK(meaning["steps"][0]["matrices"][0]["values"][0][0].get<double>() == doctest::Approx(1));
  CHECK(meaning["steps"][0]["matrices"][0]["values"].size() == 4);  // table, positions, two layers
}

TEST_CASE("a step has the same number in every kind") {
  const auto heading = [](const std::string& kind) {
    const std::string out = explain({"--kind", kind, "--step", "7"}).out;
    return out.substr(out.find("\n7. "), 32);
  };
  CHECK(heading("cross") == "\n7. Every query meets every key\n");
  CHECK(heading("encoder") == heading("cross"));
  CHECK(heading("decoder") == heading("cross"));
  check_all({{"a step of another kind",
              {"explain", "x", "--config", "{demo}", "--kind", "encoder", "--step", "3"},
              kUsage,
              {"attn-demo: --step 3: this kind of attention has no such step; leave --step out to "
               "see all"}}});
}

TEST_CASE("--without best switches off the head that aligns best, and says which") {
  const Json record = json_of(what_if({"--without", "best", "--json", "-"}));
  const std::string change = record["after"]["changes"][0];
  CHECK(std::regex_match(change, std::regex("without cross:[01]:[01]")));
  const std::string head = change.substr(change.find("cross"));
  CHECK(record == json_of(what_if({"--without", head, "--json", "-"})));
  const Result text = what_if({"--without", "cross:1:best"});
  CHECK(text.out.starts_with("changed: without cross:1:"));
  CHECK(text.out.find("\nAfter: without cross:1:") != std::string::npos);
  check_all({{"the best of a kind that aligns nothing",
              {"translate", "x", "--config", "{demo}", "--without", "encoder:best"},
              kUsage,
              {"attn-demo: --without encoder:best: only heads of cross-attention align words; try "
               "best or encoder:0:1"}}});
}

TEST_CASE("an experiment shows both translations and what the words lose") {
  const Result text = what_if({"--without", "cross:1:0"});
  REQUIRE_MESSAGE(text.code == kDone, text.err);
  for (const std::string part :
       {"changed: without cross:1:0", "before:", "after:", "change", "whole sentence", "Before",
        "After: without cross:1:0\n", "cross:1:0"}) {
    CHECK_MESSAGE(text.out.find(part) != std::string::npos, part);
  }
  const Json off = json_of(what_if({"--without", "cross:1:0", "--json", "-"}));
  CHECK(off["format"] == "attn-demo.what_if");
  for (const Json& row : off["after"]["hypotheses"][0]["cross"][1][0]) {
    for (const Json& weight : row) CHECK(weight == 0);
  }
  CHECK(off["before"]["hypotheses"][0]["ids"] == off["replayed"]["ids"]);
  CHECK(off["before"]["hypotheses"][0]["log_probs"] != off["replayed"]["log_probs"]);

  const Json forced = json_of(what_if({"--force", "cross:0:1:2=4", "--json", "-"}));
  CHECK(forced["replayed"]["cross"][0][1][2] == Json::parse("[0,0,0,0,1]"));
  const Json by_word = json_of(what_if({"--force", "cross:0:1:2=home", "--json", "-"}));
  CHECK(by_word["replayed"]["cross"][0][1][2] == Json::parse("[0,0,0,1,0]"));
  const Json both = json_of(what_if({"--force", "encoder:0:1:went=group", "--json", "-"}));
  CHECK(both["after"]["encoder_self"][0][1][2] == Json::parse("[0,1,0,0,0]"));

  const Json swapped = json_of(what_if({"--swap", "1=teacher", "--json", "-"}));
  CHECK(swapped["before"]["source"]["text"] == "The group went home");
  CHECK(swapped["after"]["source"]["text"] == "The teacher went home");
  CHECK(json_of(what_if({"--swap", "group=teacher", "--json", "-"}))["after"]["source"] ==
        swapped["after"]["source"]);
}

TEST_CASE("an experiment on several sentences, each with its own best head") {
  const Result one = what_if({"--without", "best", "--show", "cross:best"});
  const Result both = what_if({"The teacher", "--without", "best", "--show", "cross:best"});
  REQUIRE_MESSAGE(both.code == kDone, both.err);
  CHECK(both.out.starts_with("source:  " + std::string(kDemoSource) + "\n" + one.out +
                             "\nsource:  The teacher\nchanged: without cross:"));
  const std::string records = what_if({"The teacher", "--without", "cross:1:0", "--json", "-"}).out;
  REQUIRE(lines_of(records).size() == 2);
  CHECK(Json::parse(lines_of(records)[1])["before"]["source"]["text"] == "The teacher");
}

TEST_CASE("an experiment on a given translation scores it, and searches for none") {
  const Json off =
      json_of(what_if({"--without", "cross:1:0", "--target", kDemoTarget, "--json", "-"}));
  for (const char* side : {"before", "after"}) {
    REQUIRE(off[side]["hypotheses"].size() == 1);
    CHECK(off[side]["hypotheses"][0]["text"] == kDemoTarget);
  }
  CHECK(off["after"]["hypotheses"][0] == off["replayed"]);
  CHECK(off["before"]["hypotheses"][0]["log_probs"] != off["replayed"]["log_probs"]);
}

TEST_CASE("an experiment aligns both translations") {
  const std::string target = kDemoTarget;
  const Result text =
      what_if({"--swap", "3=there", "--target", target, "--align", "--show", "none"});
  REQUIRE_MESSAGE(text.code == kDone, text.err);
  const std::vector<std::string> lines = lines_of(text.out);
  REQUIRE(lines.size() > 5);
  CHECK(lines[1] == "before:  " + target);
  CHECK(lines[3] == "after:   " + target);
  for (const std::size_t line : {std::size_t{2}, std::size_t{4}}) {
    CHECK_MESSAGE(std::regex_match(lines[line], std::regex(" {9}\\d+-\\d+( \\d+-\\d+)*")),
                  lines[line]);
  }
  // A disabled head links nothing.
  const Result off = what_if({"--without", "cross:1:0", "--align", "cross:1:0", "--show", "none"});
  CHECK(off.out.find("\n         \n") == std::string::npos);
}

TEST_CASE("--color paints a pipe, and leaves a terminal plain") {
  const auto painted = [](const Result& result) {
    CHECK(result.code == kDone);
    return result.out.find("\x1b[") != std::string::npos;
  };
  CHECK_FALSE(painted(what_if({"--show", "best"})));
  CHECK(painted(what_if({"--show", "best", "--color", "always"})));
  CHECK_FALSE(painted(explain({"--color", "auto"})));
  CHECK(painted(explain({"--color", "always"})));
  Terminal terminal;
  const Program program(in_a_shell(
      {.args = {"translate", "We", "--config", demo_config(), "--show", "best", "--color", "never"},
       .environment = {{"TERM", "xterm-256color"}},
       .in_child = [&terminal] { terminal.become_controlling(); }}));
  CHECK(terminal.wait_for_exit(kDone));
  CHECK(terminal.seen().find("\x1b[") == std::string::npos);
}

TEST_CASE("a final mark stays with its place when the last word is replaced") {
  const Json json =
      json_of(run_program({.args = {"translate", "The group went home.", "--config", demo_config(),
                                    "--swap", "3=there", "--json", "-"}}));
  CHECK(json["after"]["source"]["text"] == "The group went there.");
}

TEST_CASE("every head's worth, as a table and as JSON") {
  const TemporaryDirectory scene;
  const std::string source = scene.write("s.en", kDemoSource + "\n\nThe teacher went home\n");
  const std::string target = scene.write("t.de", kDemoTarget + "\n\nDie Gruppe ging\n");
  const std::vector<std::string> args{"evaluate", "--config", demo_config(), "--source",
                                      source,     "--target", target,        "--head-importance"};
  const Result text = run_program({.args = args});
  REQUIRE_MESSAGE(text.code == kDone, text.err);
  CHECK(text.out.find("head switched off") != std::string::npos);
  CHECK(text.err.find("1 pair is left out") != std::string::npos);
  std::vector<std::string> for_json = args;
  for_json.insert(for_json.end(), {"--json", "-"});
  const Json json = json_of(run_program({.args = for_json}));
  CHECK(json["pairs"] == 2);
  CHECK(json["heads"].size() == 12);
  for (std::size_t i = 1; i < 12; ++i) {
    CHECK(json["heads"][i - 1]["log_prob"].get<double>() <=
          json["heads"][i]["log_prob"].get<double>());
  }
}

TEST_CASE("what explain refuses") {
  check_all({
      {"explain without a sentence", {"explain", "--config", "{demo}"}, kUsage, {"one sentence"}},
      {"explain of two sentences",
       {"explain", "a", "b", "--config", "{demo}"},
       kUsage,
       {"one sentence", "2"}},
      {"explain of an empty sentence",
       {"explain", "", "--config", "{demo}"},
       kInput,
       {"no tokens"}},
      {"explain of an unknown kind",
       {"explain", "x", "--config", "{demo}", "--kind", "self"},
       kUsage,
       {"--kind self", "encoder, decoder or cross"}},
      {"explain of a missing layer",
       {"explain", "x", "--config", "{demo}", "--layer", "2"},
       kUsage,
       {"--layer 2", "layers 0 to 1"}},
      {"explain of a missing head",
       {"explain", "x", "--config", "{demo}", "--head", "2"},
       kUsage,
       {"--head 2", "heads 0 to 1"}},
      {"explain of a missing query",
       {"explain", "home", "--config", "{demo}", "--kind", "encoder", "--query", "9"},
       kUsage,
       {"no query 9", "queries 0 to 1"}},
      {"explain of a negative query",
       {"explain", "home", "--config", "{demo}", "--kind", "encoder", "--query", "-1"},
       kUsage,
       {"--query -1: the source has no such word; it has 0 home, 1 </s>"}},
      {"explain of a word that is there twice",
       {"explain", "home the home", "--config", "{demo}", "--kind", "encoder", "--query", "home"},
       kUsage,
       {"--query home: the source has this word at 0, 2; give one of these numbers"}},
      {"explain of a source word's step",
       {"explain", kDemoSource, "--config", "{demo}", "--target", kDemoTarget, "--query", "went"},
       kUsage,
       {"--query went: the translation has no such word; it has 0 Die, 1 Gruppe, 2 ging"}},
      {"explain of a mean",
       {"explain", "x", "--config", "{demo}", "--head", "cross:1:mean"},
       kUsage,
       {"--head cross:1:mean: a mean of heads has no queries and keys; name one head, or best"}},
      {"explain of the best head of the encoder",
       {"explain", "x", "--config", "{demo}", "--kind", "encoder", "--head", "best"},
       kUsage,
       {"--head best: only heads of cross-attention align words; give a number"}},
      {"explain of a kind named twice",
       {"explain", "x", "--config", "{demo}", "--kind", "cross", "--head", "cross:1:1"},
       kUsage,
       {"--head cross:1:1 already names the kind and the layer; leave --kind and --layer out"}},
      {"explain of a step that is none",
       {"explain", "x", "--config", "{demo}", "--step", "8-5"},
       kUsage,
       {"--step 8-5: expected a step, a range or several of them, as in 5-8 or 1,7-9"}},
      {"explain of a step that is not there",
       {"explain", "home", "--config", "{demo}", "--kind", "encoder", "--step", "5-99"},
       kUsage,
       {"--step 99: the explanation has steps 1 to 14"}},
      {"explain of steps that --short does not have",
       {"explain", "x", "--config", "{demo}", "--short", "--step", "1"},
       kUsage,
       {"--step chooses among the steps, and --short shows none"}},
      {"two explanations at once",
       {"explain", "x", "--config", "{demo}", "--compare", "--meaning", "x"},
       kUsage,
       {"--compare", "--meaning"}},
      {"the meaning of a word that occurs once",
       {"explain", "The group went home", "--config", "{demo}", "--meaning", "home"},
       kInput,
       {"“home”", "once"}},
      {"the meaning of a word in no sentence",
       {"explain", "--config", "{demo}", "--meaning", "home"},
       kUsage,
       {"--meaning needs at least one sentence"}},
      {"both on stdout",
       {"explain", "x", "--config", "{demo}", "--json", "-", "--markdown", "-"},
       kUsage,
       {"--json -", "--markdown -"}},
      {"explain into a directory that is not there",
       {"explain", "home", "--config", "{demo}", "--json", "{dir}/no/x.json"},
       kSystem,
       {"no/x.json"}},
  });
}

TEST_CASE("what experiments refuse") {
  const auto refuse = [](const std::string& name, const std::vector<std::string>& more, int code,
                         const std::vector<std::string>& parts) {
    std::vector<std::string> args{"translate", "The group went home", "--config", "{demo}"};
    args.insert(args.end(), more.begin(), more.end());
    check_bad({name, args, code, parts});
  };
  refuse("without a kind", {"--without", "1:2"}, kUsage, {"--without 1:2", "kind"});
  refuse("without a layer", {"--without", "cross"}, kUsage, {"KIND:LAYER"});
  refuse("without a missing layer", {"--without", "cross:2"}, kUsage, {"layers 0 to 1"});
  refuse("without a missing head", {"--without", "encoder:0:2"}, kUsage, {"heads 0 to 1"});
  refuse("force without a key", {"--force", "cross:1:1:2"}, kUsage, {"QUERY=KEY"});
  refuse("force of a missing key", {"--force", "cross:1:1:2=9"}, kUsage, {"key 9", "0 to 4"});
  refuse("force of a missing query", {"--force", "cross:1:1:99=0"}, kUsage,
         {"--force cross:1:1:99=0: no query 99: the sentence has queries 0 to "});
  refuse("force of the future", {"--force", "decoder:1:1:1=2"}, kUsage, {"later"});
  refuse("a row forced twice", {"--force", "cross:1:1:2=0", "--force", "cross:1:1:2=1"}, kUsage,
         {"forced twice"});
  refuse("forced and off", {"--force", "cross:1:1:2=0", "--without", "cross:1"}, kUsage,
         {"switched off"});
  refuse("a word twice", {"--swap", "3=here", "--swap", "3=there"}, kUsage, {"replaced twice"});
  refuse("swap of a word that is not there", {"--swap", "house=here"}, kUsage,
         {"--swap house: the source has no such word; it has 0 The, 1 group, 2 went, 3 home"});
  refuse("swap of nothing", {"--swap", "=here"}, kUsage, {"POSITION=WORD", "OLD=NEW"});
  refuse("force of a word that is not there", {"--force", "cross:0:1:0=house"}, kUsage,
         {"--force house: the source has no such word"});
  refuse("force with a sign", {"--force", "cross:1:1:-2=0"}, kUsage, {"--force"});
  refuse("swap without a word", {"--swap", "2="}, kUsage, {"POSITION=WORD"});
  refuse("swap of a missing word", {"--swap", "4=x"}, kUsage, {"words 0 to 3"});
  refuse("a swap for nothing", {"--swap", "1= "}, kUsage, {"POSITION=WORD"});
  check_all({
      {"an experiment on an empty sentence",
       {"translate", "", "--config", "{demo}", "--without", "cross:1"},
       kInput,
       {"no tokens"}},
      {"an order that nothing compares",
       {"explain", kDemoSource, "--config", "{demo}", "--order", "dog bites man", "man bites dog"},
       kUsage,
       {"--order sets the sentences of --compare; add --compare"}},
      {"an order of other words",
       {"explain", kDemoSource, "--config", "{demo}", "--compare", "--order", "dog bites man",
        "cat eats fish"},
       kUsage,
       {"--order", "the same words twice"}},
      {"head importance with an output",
       {"evaluate", "--config", "{demo}", "--source", "x", "--target", "y", "--head-importance",
        "--output", "{dir}/o"},
       kUsage,
       {"--output", "--head-importance"}},
      {"head importance of nothing",
       {"evaluate", "--config", "{demo}", "--source", "{dir}/s", "--target", "{dir}/s",
        "--head-importance"},
       kInput,
       {"no pair"},
       [](const TemporaryDirectory& scene) { scene.write("s", "\n\n"); }},
  });
}

}  // namespace attn::test
