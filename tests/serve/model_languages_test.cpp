// Tests languages taken from models' names, for clients of LibreTranslate.
#include "serve/server_handler.h"

#include <doctest/doctest.h>

#include "check_error.h"

using namespace attn;

TEST_CASE("a model's name ends in its languages") {
  const auto pair = [](const char* name) {
    const auto found = languages_in_name(name);
    return found ? found->source + " " + found->target : "none";
  };
  CHECK(pair("data/models/en-de") == "en de");
  CHECK(pair("Helsinki-NLP/opus-mt-en-de/") == "en de");
  CHECK(pair("de-hsb") == "de hsb");
  CHECK(pair("opus-mt-en-ROMANCE") == "none");
  CHECK(pair("model") == "none");
  CHECK(pair("my-model") == "none");
  CHECK(pair("en-") == "none");
  CHECK(pair("-de") == "none");
  CHECK(pair("") == "none");
}

TEST_CASE("the first model for a pair is asked, or one that says nothing") {
  const std::vector<std::string> two = {"en-de", "models/de-en"};
  CHECK(find_model_for(two, {"de", "en"}) == 1);
  CHECK(find_model_for(two, {"auto", "de"}) == 0);
  test::check_error(
      [&] {
        find_model_for(two, {"en", "es"});
      },
      ExitCode::input, "no model translates en to es; served: en to de, de to en");
  CHECK(find_model_for({"en-de", "mine"}, {"en", "es"}) == 1);
}

TEST_CASE("every language is listed once, with what it becomes") {
  const Json languages = languages_json({"en-de", "mine", "models/en-fr", "de-en"}, {});
  CHECK(languages.dump() == R"([{"code":"en","name":"English","targets":["de","fr"]},)"
                            R"({"code":"de","name":"German","targets":["en"]},)"
                            R"({"code":"fr","name":"French","targets":[]}])");
  CHECK(languages_json({"mine"}, {}) == Json::array());
  Languages known{{{"eng_Latn", 7}, {"deu_Latn", 8}}, TargetLanguageMethod::forced_bos_token};
  const Json both = languages_json({"mine"}, known);
  REQUIRE(both.size() == 2);
  CHECK(both[1] ==
        Json{{"code", "deu_Latn"}, {"name", "German"}, {"targets", {"eng_Latn", "deu_Latn"}}});
  known.target_language_method =
      TargetLanguageMethod::source_language_tag;  // the source languages are not named
  CHECK(languages_json({"mine"}, known) == Json::array());
}
