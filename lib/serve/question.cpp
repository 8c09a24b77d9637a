#include "serve/question.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

std::optional<std::string> sentence_of(KeyReader& keys, const std::string& key) {
  std::optional<std::string> text = keys.text(key);
  if (text && text->size() > most_text_bytes) {
    keys.fail(key, fmt::format("has {} bytes; at most {} are taken, so send it in parts",
                               text->size(), most_text_bytes));
  }
  return text;
}

/// Texts in a list; one alone may stand without it.
std::vector<std::string> texts_of(KeyReader& keys, const std::string& key) {
  const Json* value = keys.find(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) keys.fail_type(key, *value, "a list of strings");
  if (value->size() > most_changes) {
    keys.fail(key,
              fmt::format("has {} entries; at most {} are taken", value->size(), most_changes));
  }
  for (const Json& text : *value) {
    if (!text.is_string()) keys.fail_type(key, *value, "a list of strings");
    texts.push_back(text.get<std::string>());
    if (texts.back().size() > most_text_bytes) keys.fail(key, "has an entry that is too long");
  }
  return texts;
}

std::optional<int> whole_of(KeyReader& keys, const std::string& key, int most) {
  const std::optional<int> number = keys.integer(key);
  if (number && (*number < 1 || *number > most)) {
    keys.fail(key, fmt::format("is {}; expected 1 to {}", *number, most));
  }
  return number;
}

EarlyStopping early_stopping_of(KeyReader& keys, const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? EarlyStopping::yes : EarlyStopping::no;
  if (value == Json("never")) return EarlyStopping::never;
  keys.fail_type("early_stopping", value, "true, false or \"never\"");
}

DecodeOptions decode_of(KeyReader& keys) {
  constexpr int kMostTokens = 1'000'000;
  constexpr double kGreatestPenalty = 100;
  DecodeOptions decode;
  decode.num_beams = whole_of(keys, "beams", most_beams);
  decode.num_return_sequences = whole_of(keys, "n_best", most_beams);
  if (const std::optional<double> penalty = keys.number("length_penalty")) {
    if (!(*penalty >= -kGreatestPenalty && *penalty <= kGreatestPenalty)) {
      keys.fail("length_penalty", fmt::format("is {}; expected -100 to 100", *penalty));
    }
    decode.length_penalty = static_cast<float>(*penalty);
  }
  if (const Json* value = keys.find("early_stopping")) {
    decode.early_stopping = early_stopping_of(keys, *value);
  }
  // As --max-length: produced tokens; `generate` counts the start symbol, too.
  if (const auto most = whole_of(keys, "max_length", kMostTokens)) decode.max_length = *most + 1;
  return decode;
}

void check_combination(const Question& question) {
  if (question.compare && (question.what_if.given() || question.target)) {
    throw InputError(
        "the request: compare puts two sentences side by side as they are; leave target, without, "
        "force and swap out");
  }
}

}  // namespace

Json parse_body(std::string_view body) {
  constexpr std::size_t kDeepest = 4, kMostValues = 1'000;
  return parse_json(
      body, "the body",
      {.max_depth = kDeepest, .max_bytes = most_body_bytes, .max_values = kMostValues});
}

Question read_question(const Json& body, QuestionKind kind) {
  KeyReader keys(body, "the request", "body.");
  Question question;
  const std::optional<std::string> text = sentence_of(keys, "text");
  question.decode = decode_of(keys);
  question.model = keys.text("model").value_or("");
  if (kind != QuestionKind::translate) {
    question.target = sentence_of(keys, "target");
    question.what_if = {texts_of(keys, "without"), texts_of(keys, "force"), texts_of(keys, "swap")};
    question.vectors = keys.boolean("vectors").value_or(false);
    question.tree = keys.boolean("tree").value_or(false);
    question.report = keys.boolean("report").value_or(false);
  }
  if (kind == QuestionKind::page) question.compare = sentence_of(keys, "compare");
  keys.refuse_unused();
  if (!text) throw InputError("the request: body.text is missing; expected {{\"text\": \"…\"}}");
  question.text = *text;
  check_combination(question);
  return question;
}

}  // namespace attn
