// Tests records from outside: everything that the page's scripts read must be as they expect.
#include "record/json/record_reader.h"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "record/json/record_json.h"

using namespace attn;

namespace {

using Pointer = Json::json_pointer;

Json seed(const std::string& name) {
  return read_json_file(ATTN_SOURCE_DIR "/tests/fuzz/seeds/record/" + name);
}

/// Returns a record of one layer and head with every key of docs/json.md.
Json full_record() {
  return seed("full.json");
}

std::string message_of(const Json& record) {
  try {
    read_record_line(record.dump(), "r.json:1");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

struct Change {
  const char* place;
  const char* value;     ///< JSON; empty: the key is removed
  const char* expected;  ///< after "r.json:1: "
};

/// Returns the same record with the data of a pattern.
Json pattern_record() {
  return seed("pattern.json");
}

/// Returns a map of a pattern that is too large to be dense: every token sees itself.
Json large_pattern_record() {
  constexpr std::size_t tokens = 1025;
  Json record = pattern_record();
  record["hypotheses"] = Json::array();
  for (const char* key : {"vectors", "way", "report", "search"}) record.erase(key);
  record["source"]["tokens"] = std::vector<std::string>(tokens, "x");
  record["source"]["ids"] = std::vector<int>(tokens, 1);
  record["encoder_self"] = Json::array();
  Json runs = Json::array(), weights = Json::array();
  for (std::size_t i = 0; i < tokens; ++i) {
    runs.push_back({i, 1, 0});
    weights.push_back({1.0});
  }
  record["seen"]["encoder_self"] = {
      {"reasons", {"window"}}, {"patterns", {runs}}, {"of", {{0}}}, {"weights", {{weights}}}};
  return record;
}

constexpr Change kChanges[] = {
    {"/model/d_model", "", "model.d_model is missing; expected it to be there"},
    {"/model/encoder_layers", "3", "encoder_self is an array of 1; expected an array of 3 layers"},
    {"/model/weights", "", "model.weights is missing; expected it to be there"},
    {"/model/weights", "\"trained\"",
     "model.weights is \"trained\"; expected \"loaded\" or \"random\""},
    {"/model/encoder_layers", "1001", "model.encoder_layers is 1001; expected 1 to 1000"},
    {"/model/decoder_heads", "0", "model.decoder_heads is 0; expected 1 to 65536"},
    {"/model/encoder_ffn_dim", "[]",
     "model.encoder_ffn_dim is a JSON array; expected a whole number from 0"},
    {"/model/decoder_ffn_dim", "", "model.decoder_ffn_dim is missing; expected it to be there"},
    {"/model/vocab_size", "0", "model.vocab_size is 0; expected 1 to 10000000"},
    {"/model/decoder_vocab_size", "",
     "model.decoder_vocab_size is missing; expected it to be there"},
    {"/model/decoder_vocab_size", "\"8\"",
     "model.decoder_vocab_size is a JSON string; expected a whole number from 0"},
    {"/model/encoder_head_dim", "2.5",
     "model.encoder_head_dim is 2.5; expected a whole number from 0"},
    {"/model/decoder_scale", "\"1\"", "model.decoder_scale is a JSON string; expected a number"},
    {"/model/update", "-5", "model.update is -5; expected a whole number from 0"},
    {"/model/name", "[]", "model.name is a JSON array; expected a text"},
    {"/source", "\"x\"", "source is a JSON string; expected an object"},
    {"/source/ids/1", "null", "source.ids[1] is null; expected a whole number from 0"},
    {"/source/tokens/0", "5", "source.tokens[0] is a JSON number; expected a text"},
    {"/changes", "\"without\"", "changes is a JSON string; expected an array"},
    {"/encoder_self/0/0/1/0", "\"x\"",
     "encoder_self[0][0][1][0] is a JSON string; expected a number"},
    {"/encoder_self/0/0/1", "[1]",
     "encoder_self[0][0][1] is an array of 1; expected an array of 2 weights, one per key"},
    {"/vectors/encoder_self/query", "\"AAAA\"",
     "vectors.encoder_self.query is a text of 4 letters; expected base64 of 1 layer, 1 head and "
     "2 "
     "rows of 2 floats"},
    {"/vectors/encoder_self/query", "\"AAAAAAAAAAAAAAAAAAAAA===\"",
     "vectors.encoder_self.query is another text; expected base64 of 1 layer, 1 head and 2 rows "
     "of 2 floats"},
    {"/report", "5", "report is a JSON number; expected an object"},
    {"/report/encoder_self", "{}",
     "report.encoder_self is a JSON object; expected an array of 1 layer"},
    {"/report/encoder_self/0/0/entropy", "\"high\"",
     "report.encoder_self[0][0].entropy is a JSON string; expected a number or null"},
    {"/hypotheses/0", "1", "hypotheses[0] is a JSON number; expected an object"},
    {"/hypotheses/0/score", "null", "hypotheses[0].score is null; expected a number"},
    {"/hypotheses/0/replayed", "1",
     "hypotheses[0].replayed is a JSON number; expected true or false"},
    {"/hypotheses/0/log_probs", "[0]",
     "hypotheses[0].log_probs is an array of 1; expected an array of 2 numbers, one per token"},
    {"/hypotheses/0/cross/0/0", "[]",
     "hypotheses[0].cross[0][0] is an array of 0; expected an array of 2 rows, one per query"},
    {"/hypotheses/0/alignment/links", "{}",
     "hypotheses[0].alignment.links is a JSON object; expected an array"},
    {"/hypotheses/0/alignment/links/0/source", "-1",
     "hypotheses[0].alignment.links[0].source is -1; expected a whole number from 0"},
    {"/hypotheses/0/alignment/links/0/source", "1",
     "hypotheses[0].alignment.links[0].source is 1; expected the index of a word"},
    {"/hypotheses/0/alignment/links/0/target", "99",
     "hypotheses[0].alignment.links[0].target is 99; expected the index of a word"},
    {"/hypotheses/0/alignment/source", "",
     "hypotheses[0].alignment.source is missing; expected it to be there"},
    {"/hypotheses/0/alignment/target/0/text", "5",
     "hypotheses[0].alignment.target[0].text is a JSON number; expected a text"},
    {"/hypotheses/0/alignment/target/0/index", "-1",
     "hypotheses[0].alignment.target[0].index is -1; expected a whole number from 0"},
    {"/hypotheses/0/alignment/from", "",
     "hypotheses[0].alignment.from is missing; expected it to be there"},
    {"/way/1/values", "\"AAAA\"",
     "way[1].values is a text of 4 letters; expected base64 of 2 rows of 2 floats"},
    {"/way/0/columns", "-1", "way[0].columns is -1; expected a whole number from 0"},
    {"/way/1/layer", "", "way[1].layer is missing; expected it to be there"},
    {"/way/1/layer", "1", "way[1].layer is 1; expected a number below 1"},
    {"/way/1/block", "", "way[1].block is missing; expected it to be there"},
    {"/way/1/block", "\"bogus\"",
     "way[1].block is \"bogus\"; expected one of encoder_self, feed_forward"},
    {"/way/1/block", "\"cross\"",
     "way[1].block is \"cross\"; expected one of encoder_self, feed_forward"},
    {"/hypotheses/0/way/1/block", "\"encoder_self\"",
     "hypotheses[0].way[1].block is \"encoder_self\"; expected one of decoder_self, cross, "
     "feed_forward"},
    {"/hypotheses/0/way/0/stage", "7",
     "hypotheses[0].way[0].stage is a JSON number; expected a text"},
    {"/hypotheses/0/alternatives/tokens", "[[]]",
     "hypotheses[0].alternatives.tokens is an array of 1; expected an array of 2 lists, one per "
     "step"},
    {"/hypotheses/0/alternatives/tokens/1/0", "1",
     "hypotheses[0].alternatives.tokens[1][0] is a JSON number; expected a text"},
    {"/hypotheses/0/alternatives/log_probs/1", "[0]",
     "hypotheses[0].alternatives.log_probs[1] is an array of 1; expected an array of 2 numbers, "
     "one "
     "per piece"},
    {"/hypotheses/0/alternatives/logits", "5",
     "hypotheses[0].alternatives.logits is a JSON number; expected an array of 2 lists, one per "
     "step"},
    {"/hypotheses/0/alternatives/ids", "",
     "hypotheses[0].alternatives.ids is missing; expected it to be there"},
    {"/hypotheses/0/alternatives/ranks/0", "-1",
     "hypotheses[0].alternatives.ranks[0] is -1; expected a whole number from 0"},
    {"/decoding/beams", "\"4\"", "decoding.beams is a JSON string; expected a whole number from 0"},
    {"/search", "[]", "search is a JSON array; expected an object"},
    {"/search/nodes/1/parent", "1",
     "search.nodes[1].parent is 1; expected -1 or the index of a node before this one"},
    {"/search/nodes/1/parent", "\"0\"",
     "search.nodes[1].parent is a JSON string; expected a whole number from 0"},
    {"/search/nodes/0/parent", "-2",
     "search.nodes[0].parent is -2; expected a whole number from 0"},
    {"/search/nodes/1/step", "7",
     "search.nodes[1].step is 7; expected 1, one more than its parent's"},
    {"/search/nodes/0/kept", "\"no\"",
     "search.nodes[0].kept is a JSON string; expected true or false"},
    {"/search/nodes/0/token", "7", "search.nodes[0].token is a JSON number; expected a text"},
    {"/search/nodes/1/decoder_self/0/0", "[1]",
     "search.nodes[1].decoder_self[0][0] is an array of 1; expected an array of 2 weights, one per "
     "key"},
    {"/search/nodes/1/cross", "[]",
     "search.nodes[1].cross is an array of 0; expected an array of 1 layer"},
    {"/search/length_penalty", "null", "search.length_penalty is null; expected a number"},
};

constexpr Change kPatternChanges[] = {
    {"/seen", "5", "seen is a JSON number; expected an object"},
    {"/seen/encoder_self/of", "", "seen.encoder_self.of is missing; expected it to be there"},
    {"/seen/encoder_self/of/0/0", "1",
     "seen.encoder_self.of[0][0] is 1; expected a number below 1"},
    {"/seen/encoder_self/reasons/0", "7",
     "seen.encoder_self.reasons[0] is a JSON number; expected a text"},
    {"/seen/encoder_self/patterns/0", "[[]]",
     "seen.encoder_self.patterns[0] is an array of 1; expected an array of 2 rows, one per query"},
    {"/seen/encoder_self/patterns/0/1", "[0,1]",
     "seen.encoder_self.patterns[0][1] is 2 numbers; expected three per run"},
    {"/seen/encoder_self/patterns/0/1/3", "0",
     "seen.encoder_self.patterns[0][1][3] is 0; expected 1 to 1"},
    {"/seen/encoder_self/patterns/0/1/0", "2",
     "seen.encoder_self.patterns[0][1][0] is 2; expected 0 to 1"},
    {"/seen/encoder_self/patterns/0/1/4", "2",
     "seen.encoder_self.patterns[0][1][4] is 2; expected 1 to 1"},
    {"/seen/encoder_self/patterns/0/0/1", "0",
     "seen.encoder_self.patterns[0][0][1] is 0; expected 1 to 2"},
    {"/seen/encoder_self/patterns/0/0/2", "2",
     "seen.encoder_self.patterns[0][0][2] is 2; expected a number below 2"},
    {"/seen/encoder_self/patterns/0/0/0", "-1",
     "seen.encoder_self.patterns[0][0][0] is -1; expected a whole number from 0"},
    {"/seen/encoder_self/own_global/0/0", "[1]",
     "seen.encoder_self.own_global[0][0] is an array of 1; expected an array of 2 weights, one per "
     "query"},
    {"/seen/encoder_self/bias", "[]",
     "seen.encoder_self.bias is an array of 0; expected an array of 1 list, one per pattern"},
    {"/seen/encoder_self/bias", "[[[],[0,1,\"x\"]]]",
     "seen.encoder_self.bias[0][1][2] is a JSON string; expected a number"},
    {"/seen/encoder_self/own_projections", "[2]",
     "seen.encoder_self.own_projections[0] is 2; expected a number below 2"},
    {"/seen/encoder_self/reach/1/2", "9",
     "seen.encoder_self.reach[1][2] is 9; expected a number below 2"},
    {"/encoder_self/0/0/1", "[1]",
     "encoder_self[0][0][1] is an array of 1; expected an array of 2 weights, one per key"},
    {"/hypotheses/0/seen/decoder_self/patterns", "{}",
     "hypotheses[0].seen.decoder_self.patterns is a JSON object; expected an array"},
};

constexpr Change kLargeChanges[] = {
    {"/encoder_self", "[[[]]]",
     "encoder_self is an array of 1; expected an array of 0 layers: above 1024 tokens, "
     "seen.weights has the weights"},
    {"/seen/encoder_self/weights", "",
     "seen.encoder_self.weights is missing; expected it to be there"},
    {"/seen/encoder_self/weights/0/0/7", "[1,0]",
     "seen.encoder_self.weights[0][0][7] is an array of 2; expected an array of 1 weight, one per "
     "computed cell"},
    {"/seen/encoder_self/weights/0/0/1024/0", "null",
     "seen.encoder_self.weights[0][0][1024][0] is null; expected a number"},
};

/// Checks that each change of a record is refused with its error.
void check_changes(const Json& whole, std::span<const Change> changes) {
  CHECK(message_of(whole) == "accepted");
  for (const Change& change : changes) {
    CAPTURE(change.place);
    const Pointer place(change.place);
    Json record = whole;
    if (*change.value != 0) {
      record[place] = Json::parse(change.value);
    } else {
      record.at(place.parent_pointer()).erase(place.back());
    }
    CHECK(message_of(record) == std::string("r.json:1: ") + change.expected);
  }
}

}  // namespace

TEST_CASE("what a pattern computed: dense and large maps, and what is wrong with each") {
  check_changes(pattern_record(), kPatternChanges);
  check_changes(large_pattern_record(), kLargeChanges);
}

TEST_CASE("a record with every key is taken as it is, and keys that are not known pass") {
  const Json whole = full_record();
  // Compares without the order of keys, which the writer chooses.
  const auto unordered = [](const std::string& text) { return nlohmann::json::parse(text); };
  for (const Json& record : {whole, pattern_record(), large_pattern_record(), seed("lsh.json"),
                             seed("linformer.json"), seed("performer.json")}) {
    CHECK(unordered(to_json_line(record_from_json(Json::parse(record.dump()), "r"))) ==
          unordered(record.dump()));
  }
  Json more = whole;
  more["search"]["nodes"][0]["new"] = Json::object();
  more["new"] = "x";
  CHECK(message_of(more) == "accepted");
  for (const char* optional : {"vectors", "report", "search", "changes", "way", "decoding"}) {
    Json less = whole;
    less.erase(optional);
    CHECK(message_of(less) == "accepted");
  }
}

TEST_CASE("a sentence without any piece has figures of no head") {
  Json record = full_record();
  for (const char* place : {"/report/encoder_self", "/hypotheses/0/report/cross"}) {
    record[Pointer(place)] = Json::array();
    CHECK(message_of(record) == "accepted");
  }
  record["report"]["encoder_self"] = Json::parse("[[],[]]");
  CHECK(message_of(record) ==
        "r.json:1: report.encoder_self is an array of 2; expected an array of 1 layer");
}

TEST_CASE("a record that would break a script is refused, and the place named") {
  for (const auto& [place, value, expected] : kChanges) {
    Json record = full_record();
    const Pointer at(place);
    REQUIRE((record.contains(at) || at == Pointer("/hypotheses/0/replayed")));
    if (*value == '\0') {
      record[at.parent_pointer()].erase(at.back());
    } else {
      record[at] = Json::parse(value);
    }
    CHECK(message_of(record) == std::string("r.json:1: ") + expected);
  }
}

TEST_CASE("the records of an experiment say which of them is wrong") {
  Json both = {{"format", "attn-demo.what_if"}, {"version", 1}};
  CHECK(message_of(both).starts_with("r.json:1: before: expected an attention record"));
  both["before"] = both["after"] = full_record();
  both["after"]["hypotheses"][0]["score"] = "x";
  CHECK(message_of(both) ==
        "r.json:1: after: hypotheses[0].score is a JSON string; expected a number");
}

TEST_CASE("figures over several sentences are looked at, too") {
  const std::string head = R"({"format":"attn-demo.heads","version":1,"sentences":2,)";
  const std::string good = R"([[{"entropy":1,"alignment":null}]])";
  const auto line = [&](const std::string& cross) {
    return head + R"("encoder_self":)" + good + R"(,"decoder_self":)" + good + R"(,"cross":)" +
           cross + "}";
  };
  CHECK(read_head_report_line(line(good), "r.json:3").sentences == 2);
  CHECK_THROWS_WITH_AS(
      read_head_report_line(line(R"([[{"entropy":1},{"entropy":"x"}]])"), "r.json:3"),
      "r.json:3: cross[0][1].entropy is a JSON string; expected a number or null", InputError);
  CHECK_THROWS_WITH_AS(read_head_report_line(line("[5]"), "r.json:3"),
                       "r.json:3: cross[0] is a JSON number; expected an array", InputError);
  CHECK_THROWS_WITH_AS(
      read_head_report_line(line(R"([[{"a\tb\u001b":"x"}]])"), "r.json:3"),
      R"(r.json:3: cross[0][0].a\u{9}b\u{1b} is a JSON string; expected a number or null)",
      InputError);
}

TEST_CASE("a record may have as many numbers as its maps have cells") {
  // 4,200² weights are more than 2^24, the limit for other JSON texts.
  constexpr int kTokens = 4200;
  AttentionRecord record;
  record.model.d_model = 2;
  record.model.encoder_layers = record.model.decoder_layers = 1;
  record.model.encoder_heads = record.model.decoder_heads = 1;
  record.model.encoder_ffn_dim = record.model.decoder_ffn_dim = 2;
  record.model.vocab_size = record.model.decoder_vocab_size = 5;
  record.source.tokens.assign(kTokens, "a");
  record.source.ids.assign(kTokens, 1);
  record.encoder_self = {1, 1, kTokens, kTokens, std::vector<float>(kTokens * kTokens, 0.0F)};
  const RecordLine back = read_record_line(to_json_line(record), "r");
  CHECK(std::get<AttentionRecord>(back).encoder_self.weights == record.encoder_self.weights);
}
