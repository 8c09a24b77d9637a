#include "view/page/page_records.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace attn {
namespace {

constexpr std::string_view kHeadsBegin = R"({"format":"attn-demo.heads")";
constexpr std::size_t kMostSide = 1'000'000;  // of anything that is counted

/// Looks at one record, and knows where it stands.
class RecordChecker {
 public:
  explicit RecordChecker(const std::string& where) : where_(where) {}

  void check(const Json& record) const {
    if (!record.is_object() || !record.contains("format") ||
        record["format"] != "attn-demo.attention" || !record.contains("version") ||
        record["version"] != 1) {
      throw InputError(
          "{}: expected an attention record (\"format\": \"attn-demo.attention\", \"version\": 1), "
          "as translate --json writes it",
          where_);
    }
    const Json& model = get(record, "model", "", &Json::is_object, "an object");
    const Json& source = get(record, "source", "", &Json::is_object, "an object");
    text(source, "text", "source.");
    const std::size_t keys = tokens(source, "source.");
    const Shape encoder = shape(model, "encoder"), decoder = shape(model, "decoder");
    maps(record, "encoder_self", "", encoder, keys, keys);
    const Json& hypotheses = get(record, "hypotheses", "", &Json::is_array, "an array");
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      hypothesis(hypotheses[i], fmt::format("hypotheses[{}].", i), decoder, keys);
    }
  }

 private:
  struct Shape {
    std::size_t layers = 0;
    std::size_t heads = 0;
  };
  using Is = bool (Json::*)() const noexcept;

  [[noreturn]] void fail(const std::string& key, const std::string& found,
                         const std::string& expected) const {
    throw InputError("{}: {} is {}; expected {}", where_, key, found, expected);
  }

  const Json& get(const Json& object, const char* key, const std::string& before, Is is,
                  const char* expected) const {
    const auto found = object.find(key);
    if (found == object.end()) fail(before + key, "missing", expected);
    if (!((*found).*is)()) {
      fail(before + key, std::string("a JSON ") + found->type_name(), expected);
    }
    return *found;
  }

  void text(const Json& object, const char* key, const std::string& before) const {
    get(object, key, before, &Json::is_string, "a text");
  }

  Shape shape(const Json& model, const std::string& stack) const {
    return {count(model, stack + "_layers"), count(model, stack + "_heads")};
  }

  std::size_t count(const Json& model, const std::string& key) const {
    const Json& value =
        get(model, key.c_str(), "model.", &Json::is_number_unsigned, "a whole number");
    const auto number = value.get<std::uint64_t>();
    if (number == 0 || number > kMostSide) {
      fail("model." + key, std::to_string(number), fmt::format("1 to {}", kMostSide));
    }
    return number;
  }

  /// The number of tokens, each with its id.
  std::size_t tokens(const Json& object, const std::string& before) const {
    const Json& pieces = get(object, "tokens", before, &Json::is_array, "an array");
    const Json& ids = get(object, "ids", before, &Json::is_array, "an array");
    for (const Json& piece : pieces) {
      if (!piece.is_string()) fail(before + "tokens", "not texts alone", "an array of texts");
    }
    if (ids.size() != pieces.size()) {
      fail(before + "ids", fmt::format("{} long", ids.size()),
           fmt::format("{}, one a token", pieces.size()));
    }
    return pieces.size();
  }

  void side(const Json& array, const std::string& key, const char* what, std::size_t wanted) const {
    if (!array.is_array() || array.size() != wanted) {
      fail(key,
           array.is_array() ? fmt::format("{} {}", array.size(), what)
                            : std::string("a JSON ") + array.type_name(),
           fmt::format("an array of {} {}", wanted, what));
    }
  }

  /// [layer][head][query][key]
  void maps(const Json& object, const char* name, const std::string& before, const Shape& shape,
            std::size_t queries, std::size_t keys) const {
    const std::string key = before + name;
    const Json& layers = get(object, name, before, &Json::is_array, "an array");
    side(layers, key, "layers", shape.layers);
    for (const Json& heads : layers) {
      side(heads, key, "heads in each layer", shape.heads);
      for (const Json& rows : heads) {
        side(rows, key, "rows (one a query)", queries);
        for (const Json& row : rows) {
          side(row, key, "weights in each row (one a key)", keys);
          for (const Json& weight : row) {
            if (!weight.is_number()) fail(key, "not numbers alone", "weights");
          }
        }
      }
    }
  }

  void hypothesis(const Json& found, const std::string& before, const Shape& decoder,
                  std::size_t keys) const {
    if (!found.is_object()) {
      fail(before.substr(0, before.size() - 1), std::string("a JSON ") + found.type_name(),
           "an object");
    }
    text(found, "text", before);
    get(found, "score", before, &Json::is_number, "a number");
    const std::size_t length = tokens(found, before);
    const Json& log_probs = get(found, "log_probs", before, &Json::is_array, "an array");
    side(log_probs, before + "log_probs", "numbers (one a token)", length);
    const Json& input = get(found, "decoder_input", before, &Json::is_object, "an object");
    if (tokens(input, before + "decoder_input.") != length) {
      fail(before + "decoder_input.tokens", fmt::format("{} long", input["tokens"].size()),
           fmt::format("{}", length));
    }
    maps(found, "decoder_self", before, decoder, length, length);
    maps(found, "cross", before, decoder, length, keys);
  }

  const std::string& where_;
};

Json parsed_line(std::string_view line, const std::string& where) {
  try {
    return parse_json(line, where);
  } catch (const InputError& error) {
    // The parser counts the lines of its text, and this is one.
    std::string message = error.what();
    if (message.starts_with(where + ":1:")) message.erase(where.size(), 2);
    throw InputError("{}", message);
  }
}

/// The first translation under a change joins those that the change gave.
void add_replayed(Json& hypotheses, Json replayed) {
  const Json ids = replayed.is_object() ? replayed.value("ids", Json()) : Json();
  for (const Json& hypothesis : hypotheses) {
    if (hypothesis["ids"] == ids) return;
  }
  if (replayed.is_object()) replayed["replayed"] = true;
  hypotheses.push_back(std::move(replayed));
}

bool is_head_figures(const Json& figures) {
  return figures.is_object() && std::all_of(figures.begin(), figures.end(), [](const Json& value) {
           return value.is_number() || value.is_null();
         });
}

bool is_layer_figures(const Json& heads) {
  return heads.is_array() && std::all_of(heads.begin(), heads.end(), is_head_figures);
}

}  // namespace

std::vector<std::string> page_record_lines(std::string_view line, const std::string& where) {
  Json read = parsed_line(line, where);
  const RecordChecker checker(where);
  if (!read.is_object() || read.value("format", Json()) != "attn-demo.what_if") {
    checker.check(read);
    return {std::string(line)};
  }
  Json before = read.value("before", Json());
  Json after = read.value("after", Json());
  checker.check(before);
  checker.check(after);
  add_replayed(after["hypotheses"], read.value("replayed", Json()));
  checker.check(after);
  return {before.dump(), after.dump()};
}

bool is_heads_line(std::string_view line) {
  return line.starts_with(kHeadsBegin);
}

std::size_t check_heads_line(std::string_view line, const std::string& where) {
  const Json heads = parsed_line(line, where);
  if (!heads.contains("version") || heads["version"] != 1 || !heads.contains("sentences") ||
      !heads["sentences"].is_number_unsigned()) {
    throw InputError(
        "{}: expected figures of heads (\"attn-demo.heads\", version 1) with sentences", where);
  }
  for (const char* kind : {"encoder_self", "decoder_self", "cross"}) {
    const auto found = heads.find(kind);
    if (found == heads.end() || !found->is_array() ||
        !std::all_of(found->begin(), found->end(), is_layer_figures)) {
      throw InputError("{}: {} is not an object of numbers for each layer and head", where, kind);
    }
  }
  return heads["sentences"].get<std::size_t>();
}

}  // namespace attn
