// Tests forms as clients send them, and language detection.
#include "serve/request_body.h"

#include <doctest/doctest.h>

#include "check_error.h"
#include "serve/language_detector.h"

using namespace attn;

TEST_CASE("a urlencoded form is decoded, and its broken parts are kept as they are") {
  const FormFields fields = parse_urlencoded("q=a+b%20c%C3%BC&&x&=y&q=%zz%4&z=a=b%");
  CHECK(fields == FormFields{{"q", "a b cü"}, {"x", ""}, {"", "y"}, {"q", "%zz%4"}, {"z", "a=b%"}});
  CHECK(parse_urlencoded("").empty());
}

TEST_CASE("a form becomes an object: lists for repeated fields, a number for alternatives") {
  CHECK(form_object({{"q", "a"}, {"q", "b"}, {"q", "c"}, {"alternatives", "3"}}).dump() ==
        R"({"q":["a","b","c"],"alternatives":3})");
  CHECK(form_object({{"alternatives", ""}, {"q", "\xff"}}).dump() == "{\"q\":\"\xef\xbf\xbd\"}");
  CHECK(form_object({{"q", ""}, {"format", ""}, {"api_key", ""}}).dump() == R"({"q":""})");
  CHECK(form_object({{"q", "a\r\n\nb"}})["q"] == "a\r\n\nb");
  CHECK(form_object({{"alternatives", "-1"}}).dump() == R"({"alternatives":"-1"})");
}

TEST_CASE("a multipart form keeps line breaks and dashes inside a text") {
  const std::string body =
      "--b\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; NAME=q\r\n\r\n"
      "one\r\n--\r\ntwo\r\n-- b\r\n--b\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\n"
      "de\r\n--b--\r\n";
  CHECK(parse_multipart(body, "multipart/form-data; charset=utf-8; boundary=b") ==
        FormFields{{"q", "one\r\n--\r\ntwo\r\n-- b"}, {"target", "de"}});
  CHECK(parse_multipart("--b--", "multipart/form-data; boundary=\"b\"").empty());
  // Every shorter body is refused, and none is read beyond its end.
  for (std::size_t size = 0; size + 4 < body.size(); ++size) {
    test::check_error([&] { parse_multipart(body.substr(0, size), "x; boundary=b"); },
                      ExitCode::input, "expected a form as multipart/form-data");
  }
  test::check_error([&] { parse_multipart(body, "multipart/form-data"); }, ExitCode::input,
                    "has no boundary of 1 to 70 characters");
}

TEST_CASE("languages are detected among the candidates, and doubt is shown") {
  const auto best = [](const char* text, const std::vector<std::string>& candidates) {
    return detect_language(text, candidates).front();
  };
  const std::vector<std::string> three = {"eng_Latn", "de", "fr"};
  CHECK(best("Where is the dog that I have seen?", three).code == "eng_Latn");
  CHECK(best("WO IST DER HUND, DEN ICH GESEHEN HABE?", three).code == "de");
  CHECK(best("Où est le chien que j’ai vu ?", three).code == "fr");
  CHECK(best("彼は学生です。", {"zh", "ja"}).code == "ja");
  CHECK(best("他是学生。", {"ja", "zh"}).code == "zh");
  CHECK(best("Он не знает, что это такое.", {"bg", "uk", "ru"}).code == "ru");
  CHECK(best("Η ομάδα πήγε σπίτι.", {"en", "el"}).confidence >= 75);
  for (const char* german : {"Guten Tag", "Ja", "Zwölf Bäume", "Fußgänger", "Vielen Dank!"}) {
    CHECK_MESSAGE(best(german, {"en", "de"}).code == "de", german);
  }
  CHECK(best("Good morning", {"de", "en"}).code == "en");
  CHECK(best("Günaydın", {"de", "tr"}).code == "tr");
  CHECK(best("the", three).confidence == 68);
  CHECK(best("", three).confidence == 0);
  CHECK(best("xyz 123", three).code == "eng_Latn");
  CHECK(best("Mi a neve ennek a városnak, és hol van?", three).confidence < 50);
  CHECK(detect_language("the der", three).size() == 2);
}
