// Tests the choice of maps: accepted forms, and the text of each error.
#include <doctest/doctest.h>

#include "analysis/map_selection.h"
#include "check_error.h"

namespace attn {
namespace {

using test::check_error;

TEST_CASE("show: nothing given means the last layers") {
  const MapSelection selection = parse_map_selection({});
  CHECK(selection.last_layers);
  CHECK_FALSE(selection.all);
  CHECK(selection.items.empty());
}

TEST_CASE("show: all and none") {
  CHECK(parse_map_selection({"all"}).all);
  CHECK_FALSE(parse_map_selection({"all"}).last_layers);
  CHECK(parse_map_selection({"cross", "all"}).all);
  const MapSelection none = parse_map_selection({"none"});
  CHECK_FALSE(none.all);
  CHECK_FALSE(none.last_layers);
  CHECK(none.items.empty());
}

TEST_CASE("show: kinds, layers and heads") {
  const MapSelection selection = parse_map_selection({"encoder", "decoder:1", "cross:0:13"});
  CHECK_FALSE(selection.last_layers);
  REQUIRE(selection.items.size() == 3);
  CHECK(selection.items[0].site == AttentionSite::encoder_self);
  CHECK_FALSE(selection.items[0].layer.has_value());
  CHECK_FALSE(selection.items[0].head.has_value());
  CHECK(selection.items[1].site == AttentionSite::decoder_self);
  CHECK(selection.items[1].layer == 1);
  CHECK_FALSE(selection.items[1].head.has_value());
  CHECK(selection.items[2].site == AttentionSite::cross);
  CHECK(selection.items[2].layer == 0);
  CHECK(selection.items[2].head == 13);
}

TEST_CASE("show: the best head and means") {
  const MapSelection selection =
      parse_map_selection({"best", "cross:best", "cross:2:best", "cross:1:mean", "encoder:mean"});
  REQUIRE(selection.items.size() == 5);
  const ShowItem best{AttentionSite::cross, {}, {}, HeadSelector::best};
  CHECK(selection.items[0] == best);
  CHECK(selection.items[1] == best);
  CHECK(selection.items[2] == ShowItem{AttentionSite::cross, 2, {}, HeadSelector::best});
  CHECK(selection.items[3] == ShowItem{AttentionSite::cross, 1, {}, HeadSelector::mean});
  CHECK(selection.items[4] == ShowItem{AttentionSite::encoder_self, {}, {}, HeadSelector::mean});
  for (const std::string name : {"cross:best", "cross:2:best", "encoder:0:mean", "decoder:mean"}) {
    CHECK(to_string(parse_head_name(name)) == name);
  }
}

TEST_CASE("show: bad arguments") {
  struct Bad {
    const char* name;
    const char* argument;
    const char* message;
  };
  const Bad table[] = {
      {"empty", "", "\"\": expected KIND"},
      {"unknown kind", "crosses", "\"crosses\": expected KIND, KIND:LAYER"},
      {"capital letter", "Cross", "\"Cross\": expected"},
      {"blank before", " cross", "\" cross\": expected"},
      {"a layer of all", "all:0", "\"all:0\": expected"},
      {"no kind", ":0", "\":0\": expected"},
      {"four parts", "cross:0:1:2", "\"cross:0:1:2\": expected"},
      {"empty layer", "cross:", "cross:: the layer is \"\"; expected a whole number from 0"},
      {"empty layer before a head", "cross::1", "the layer is \"\""},
      {"empty head", "cross:0:", "the head is \"\""},
      {"leading zero", "cross:01", "the layer is \"01\"; expected a whole number from 0"},
      {"two zeros", "cross:00", "the layer is \"00\""},
      {"plus sign", "cross:+1", "the layer is \"+1\""},
      {"minus sign", "cross:-1", "the layer is \"-1\""},
      {"fraction", "cross:1.5", "the layer is \"1.5\""},
      {"exponent", "cross:1e1", "the layer is \"1e1\""},
      {"hexadecimal", "cross:0x1", "the layer is \"0x1\""},
      {"blank in the number", "cross: 1", "the layer is \" 1\""},
      {"blank after the number", "cross:1 ", "the layer is \"1 \""},
      {"word as head", "cross:0:last", "the head is \"last\""},
      {"best of what does not align", "encoder:best",
       "encoder:best: best is the head that aligns source and target words, and only heads of "
       "cross-attention do; try cross:best or encoder:mean"},
      {"best of what does not align, in a layer", "decoder:1:best",
       "decoder:1:best: best is the head that aligns source and target words, and only heads of "
       "cross-attention do; try cross:best or decoder:mean"},
      {"a head of the best layer", "cross:best:1", "cross:best:1: the layer is \"best\""},
      {"a mean of one head", "cross:0:1:mean", "\"cross:0:1:mean\": expected KIND"},
      {"a mean of nothing", "mean", "\"mean\": expected KIND"},
      {"beyond 31 bits", "cross:2147483648", "the layer is \"2147483648\""},
      {"beyond 64 bits", "cross:99999999999999999999", "the layer is \"99999999999999999999\""},
      {"escape code", "\x1b[31m", "\"\\u{1b}[31m\": expected"},
  };
  for (const Bad& bad : table) {
    SUBCASE(bad.name) {
      check_error(
          [&] {
            parse_map_selection({"encoder", bad.argument});
          },
          ExitCode::usage, bad.message);
    }
  }
}

TEST_CASE("show: none stands alone") {
  check_error(
      [] {
        parse_map_selection({"none", "cross"});
      },
      ExitCode::usage, "none: you also named other maps");
  check_error(
      [] {
        parse_map_selection({"all", "none"});
      },
      ExitCode::usage, "none: you also named other maps");
}

ModelSummary model_of(int encoder_layers, int decoder_layers, int encoder_heads,
                      int decoder_heads) {
  ModelSummary model;
  model.encoder_layers = encoder_layers;
  model.decoder_layers = decoder_layers;
  model.encoder_heads = encoder_heads;
  model.decoder_heads = decoder_heads;
  return model;
}

TEST_CASE("show: layers and heads that the model has pass the check") {
  const ModelSummary model = model_of(2, 3, 4, 1);
  CHECK_NOTHROW(check_map_selection(parse_map_selection({}), model));
  CHECK_NOTHROW(check_map_selection(parse_map_selection({"all"}), model));
  CHECK_NOTHROW(
      check_map_selection(parse_map_selection({"encoder:1:3", "decoder:2:0", "cross:2"}), model));
}

TEST_CASE("show: layers and heads that the model lacks") {
  struct Bad {
    const char* argument;
    const char* message;
  };
  const Bad table[] = {
      {"encoder:2", "encoder:2: no layer 2: the encoder has layers 0 to 1"},
      {"decoder:3", "decoder:3: no layer 3: the decoder has layers 0 to 2"},
      {"cross:3:0", "cross:3:0: no layer 3: the decoder has layers 0 to 2"},
      {"cross:3:best", "cross:3:best: no layer 3: the decoder has layers 0 to 2"},
      {"encoder:0:4", "encoder:0:4: no head 4: each layer of the encoder has heads 0 to 3"},
      {"cross:0:1", "no head 1: each layer of the decoder has only head 0"},
      {"cross:2147483647", "no layer 2147483647: the decoder has layers 0 to 2"},
  };
  for (const Bad& bad : table) {
    SUBCASE(bad.argument) {
      check_error(
          [&] {
            check_map_selection(parse_map_selection({"encoder:0", bad.argument}),
                                model_of(2, 3, 4, 1));
          },
          ExitCode::usage, bad.message);
    }
  }
}

}  // namespace
}  // namespace attn
