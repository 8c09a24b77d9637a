#include "analysis/alignment.h"

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/head_statistics.h"
#include "analysis/small_record.h"
#include "check_error.h"
#include "record/words.h"

namespace attn {
namespace {

using test::check_error;
using test::maps_of;
using test::small_record;
using Source = AlignmentMethod::Source;
using Links = std::vector<AlignmentLink>;

AlignmentOptions from(const std::string& text) {
  return {parse_alignment_method(text), std::nullopt};
}

/// Returns a record of two heads: the first aligns a–y and b–x, the second has uniform weights.
AttentionRecord two_heads() {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
  record.hypotheses[0].cross =
      maps_of(3, 3,
              {{0.125F, 0.75F, 0.125F, 0.5F, 0, 0.5F, 0, 0, 1},
               {0.5F, 0.25F, 0.25F, 0.25F, 0.5F, 0.25F, 0.25F, 0.25F, 0.5F}});
  return record;
}

TEST_CASE("alignment choice: every form, and back to text") {
  for (const char* text : {"best", "average", "rollout", "layer:2", "cross:0:11"}) {
    CHECK(to_string(parse_alignment_method(text)) == text);
  }
  CHECK(parse_alignment_method("best").from == Source::best);
  CHECK(parse_alignment_method("layer:2").place.layer == 2);
  // Methods have the same names as maps.
  CHECK(to_string(parse_alignment_method("cross:best")) == "best");
  CHECK(to_string(parse_alignment_method("cross:mean")) == "average");
  CHECK(to_string(parse_alignment_method("cross:2:mean")) == "layer:2");
  const AlignmentMethod head = parse_alignment_method("cross:3:4");
  CHECK(head.from == Source::head);
  CHECK(head.place == HeadIndex{3, 4});
}

TEST_CASE("alignment choice: what is wrong is named, and what there is") {
  const auto refused = [](std::string_view text, const std::string& part) {
    CAPTURE(text);
    check_error([&] { parse_alignment_method(text); }, ExitCode::usage, part);
  };
  const std::string forms =
      "expected best, average, rollout, layer:LAYER, cross:LAYER:HEAD or read:LAYER:HEAD";
  for (const char* text : {"", "Best", "cross", "cross:1", "cross:1:2:3", "layer", "layer:1:2",
                           "head:1", "0:1", "best:1", "average ", ":"}) {
    refused(text, forms);
  }
  refused("cross:x:1", R"(cross:x:1: the layer is "x"; expected a whole number from 0)");
  refused("cross:1:-1", R"(the head is "-1")");
  refused("cross:1:", R"(the head is "")");
  refused("layer:01", R"(the layer is "01")");
  refused("layer:99999999999", "the layer is");
  refused("encoder:0:1", "only cross-attention links source and target words");
  refused("decoder", "only cross-attention");
  refused("\x1b[31m", R"(\u{1b}[31m)");
  refused(std::string(500, 'x'), "…");
}

TEST_CASE("alignment choice: layers and heads that the model does not have") {
  ModelSummary model;
  model.encoder_layers = model.encoder_heads = 9;
  model.decoder_layers = 3;
  model.decoder_heads = 4;
  for (const char* text : {"best", "average", "rollout", "layer:2", "cross:2:3"}) {
    CHECK_NOTHROW(check_alignment_method(parse_alignment_method(text), model));
  }
  const auto refused = [&](std::string_view text, const std::string& part) {
    check_error([&] { check_alignment_method(parse_alignment_method(text), model); },
                ExitCode::usage, part);
  };
  refused("cross:3:0", "cross:3:0: no layer 3: the decoder has layers 0 to 2");
  refused("cross:0:4", "no head 4: each layer of the decoder has heads 0 to 3");
  refused("layer:3", "layer:3: no layer 3: the decoder has layers 0 to 2");
  model.decoder_layers = 1;
  refused("layer:1", "has only layer 0");
  check_error([] { align(two_heads(), 0, from("cross:0:2")); }, ExitCode::usage, "heads 0 to 1");
}

TEST_CASE("a head's alignment: the step that writes a word, and the end symbol to nothing") {
  const WordAlignment alignment = align(two_heads(), 0, from("cross:0:0"));
  CHECK(alignment.from == "cross:0:0");
  CHECK(alignment.links == Links{{0, 1, 0.5F}, {1, 0, 0.75F}});
  REQUIRE(alignment.source.size() == 2);
  REQUIRE(alignment.target.size() == 2);
  CHECK(alignment.target[1].text == "y");
  CHECK(alignment.weights == std::vector<float>{0.125F, 0.75F, 0.5F, 0.0F});
  CHECK(align(two_heads(), 0, from("cross:0:1")).links == Links{{0, 0, 0.5F}, {1, 1, 0.5F}});
}

TEST_CASE("averages and rollout") {
  // The means are (0.125 + 0.5)/2, (0.75 + 0.25)/2; (0.5 + 0.25)/2, (0 + 0.5)/2.
  const Links mean = {{0, 1, 0.375F}, {1, 0, 0.5F}};
  CHECK(align(two_heads(), 0, from("average")).links == mean);
  CHECK(align(two_heads(), 0, from("layer:0")).links == mean);
  AttentionRecord record = two_heads();
  AttentionMaps& cross = record.hypotheses[0].cross;  // the same numbers as two layers of one head
  cross.layers = 2;
  cross.heads = 1;
  record.hypotheses[0].decoder_self = test::even_maps(2, 1, 3, 3, true);
  CHECK(align(record, 0, from("average")).links == mean);
  CHECK(align(record, 0, from("layer:1")).links == Links{{0, 0, 0.5F}, {1, 1, 0.5F}});
  // One layer, and an encoder that does not mix tokens: rollout is that layer's mean.
  record = two_heads();
  record.encoder_self = maps_of(3, 3, {{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  const WordAlignment rollout = align(record, 0, from("rollout"));
  CHECK(rollout.from == "rollout");
  CHECK(rollout.weights == align(record, 0, from("average")).weights);
}

TEST_CASE("the best head: of the sentence, or of a report") {
  CHECK(align(two_heads(), 0).from == "cross:0:0");
  HeadReport report;
  CHECK(resolve_best_head({Source::best, {}}, report).from == Source::best);
  report.best = {{2, 3}, {0, 0}};
  CHECK(to_string(resolve_best_head({Source::best, {}}, report)) == "cross:2:3");
  CHECK(to_string(resolve_best_head({Source::average, {}}, report)) == "average");
}

TEST_CASE("soft links: the strongest always, others from a weight on") {
  const auto soft = [](float least) {
    return align(two_heads(), 0, {parse_alignment_method("cross:0:0"), least}).links;
  };
  CHECK(soft(0.125F) == Links{{0, 0, 0.125F}, {0, 1, 0.5F}, {1, 0, 0.75F}});
  CHECK(soft(0.2F) == Links{{0, 1, 0.5F}, {1, 0, 0.75F}});
  CHECK(soft(1.0F) == Links{{0, 1, 0.5F}, {1, 0, 0.75F}});
  CHECK(soft(0.0F).size() == 3);  // never a weight of 0
}

TEST_CASE("words of several pieces, glued punctuation, numbers of the text") {
  AttentionRecord record =
      small_record({"▁Go", "▁ho", "me", ".", "</s>"}, {"▁Geh", "▁„", "heim", "“", "▁!", "</s>"});
  CHECK(record.source_text == "Go home.");
  CHECK(record.hypotheses[0].text == "Geh „heim“ !");
  record.hypotheses[0].cross = maps_of(6, 5, {{0.9F, 0,    0,    0.1F, 0,  // Geh
                                               1,    0,    0,    0,    0,  // „
                                               0.4F, 0.3F, 0.3F, 0,    0,  // heim: home, 0.6
                                               1,    0,    0,    0,    0,  // “
                                               0,    0.2F, 0,    0.8F, 0,  // ! is not linked
                                               0,    0,    0,    0,    1}});
  const Links links = align(record, 0, from("cross:0:0")).links;
  REQUIRE(links.size() == 3);
  CHECK(links[0].source == 0);
  CHECK(links[0].target == 0);
  CHECK(links[1].source == 1);
  CHECK(links[1].target == 1);
  CHECK(links[1].weight == doctest::Approx(0.6));
  CHECK(links[2].source == 1);  // the "." of "home." is not a word to link, but "home" is
  CHECK(links[2].target == 2);
  CHECK(links[2].weight == doctest::Approx(0.2));
}

TEST_CASE("equal weights: the first; no weight, or none that is a number: no link") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "▁z", "</s>"});
  record.hypotheses[0].cross = maps_of(4, 3, {{0.5F, 0.5F, 0, 0, 0, 1, 0.5F, NAN, 0.5F, 0, 0, 1}});
  CHECK(align(record, 0, from("cross:0:0")).links == Links{{0, 0, 0.5F}});
  for (float& weight : record.hypotheses[0].cross.weights) weight = NAN;
  for (const char* text : {"best", "average", "rollout", "cross:0:0"}) {
    CHECK(align(record, 0, from(text)).links.empty());
  }
  CHECK(align(record, 0).from == "best");  // no head could be ranked
}

TEST_CASE("nothing to align") {
  for (const char* text : {"best", "average", "rollout", "layer:0", "cross:0:0"}) {
    CAPTURE(text);
    CHECK(align(small_record({"</s>"}, {}), 0, from(text)).links.empty());
    CHECK(align(small_record({"▁a", "</s>"}, {}), 0, from(text)).links.empty());
    CHECK(align(small_record({"▁a", "</s>"}, {"</s>"}), 0, from(text)).links.empty());
    CHECK(align(small_record({"</s>"}, {"▁x", "</s>"}), 0, from(text)).links.empty());
    CHECK(align(small_record({"▁a", "</s>"}, {"▁x"}), 0, from(text)).links.size() == 1);
    CHECK(align(small_record({"▁a", "</s>"}, {"▁x"}), 3, from(text)).links.empty());
  }
  AttentionRecord bad = two_heads();
  bad.hypotheses[0].cross.weights.pop_back();
  check_error([&] { align(bad, 0); }, ExitCode::input, "cross maps");
}

}  // namespace
}  // namespace attn
