#include "base/json.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json_message.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// An input iterator whose copies share one position, so that the handler knows where the parser
/// stands: nlohmann's events do not say.
class SharedCursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit SharedCursor(const char** at) : at_(at) {}
  reference operator*() const { return **at_; }
  SharedCursor& operator++() {
    ++*at_;
    return *this;
  }
  bool operator==(const SharedCursor& other) const { return *at_ == *other.at_; }
  bool operator!=(const SharedCursor& other) const { return *at_ != *other.at_; }

 private:
  const char** at_;
};

/// Builds the value from nlohmann's events. Open arrays and objects wait on a stack of our own,
/// and an object is made when it ends: looking each key up in an ordered object (a vector) would
/// take quadratic time for a vocabulary.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& where, const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits) {}

  const char** cursor() { return &cursor_; }
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // no JSON text holds one

  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }

  bool key(string_t& name) override {
    const auto [position, is_new] = stack_.back().names.insert(std::move(name));
    if (!is_new) {
      fail(last_read(), "found the key '{}' a second time in one object, expected each key once",
           excerpt(*position));
    }
    stack_.back().keys.push_back(&*position);
    return true;
  }

  bool end_object() override {
    Open object = std::move(stack_.back());
    stack_.pop_back();
    Json value = Json::object();
    auto& members = value.get_ref<Json::object_t&>();
    members.reserve(object.keys.size());
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      members.emplace_back(*object.keys[i], std::move(object.values[i]));
    }
    return put(std::move(value));
  }

  bool end_array() override {
    Json value = Json::array();
    value.get_ref<Json::array_t&>() = std::move(stack_.back().values);
    stack_.pop_back();
    return put(std::move(value));
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const JsonProblem problem = describe_json_error(text_, position, token, error.what());
    fail(problem.offset, "{}", problem.message);
    return false;
  }

  template <typename... Args>
  [[noreturn]] void fail(std::size_t offset, fmt::format_string<Args...> format, Args&&... args) {
    const TextPosition position = text_position(text_, offset);
    throw InputError("{}:{}:{}: {}", printable(where_), position.line, position.column,
                     fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  struct Open {
    std::vector<Json> values;
    std::vector<const std::string*> keys;  ///< into `names`, in the order of the text
    std::unordered_set<std::string> names;
  };

  std::size_t last_read() const {
    const auto read = to_size(cursor_ - text_.data());
    return read == 0 ? 0 : read - 1;
  }

  bool open() {
    if (stack_.size() >= limits_.max_depth) {
      fail(last_read(), "found arrays and objects nested deeper than {} levels, expected fewer",
           limits_.max_depth);
    }
    count();
    stack_.emplace_back();
    return true;
  }

  bool add(Json value) {
    count();
    return put(std::move(value));
  }

  void count() {
    if (++values_ > limits_.max_values) {
      fail(last_read(), "found more than {} values, expected fewer", limits_.max_values);
    }
  }

  bool put(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else {
      stack_.back().values.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  const JsonLimits& limits_;
  const char* cursor_ = text_.data();
  std::size_t values_ = 0;
  std::vector<Open> stack_;
  Json root_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where, JsonLimits limits) {
  Builder builder(text, where, limits);
  if (text.size() > limits.max_bytes) {
    builder.fail(0, "found {}, expected at most {}", human_bytes(static_cast<double>(text.size())),
                 human_bytes(static_cast<double>(limits.max_bytes)));
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    builder.fail(0, "found a byte-order mark, expected JSON; save the file as UTF-8 without it");
  }
  // nlohmann takes a zero byte for the end of the text and would accept anything behind it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    builder.fail(zero, "found a zero byte, expected JSON text; is this the right file?");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.fail(0, "found no text, expected a JSON value; is the file complete?");
  }
  const char* end = text.data() + text.size();
  Json::sax_parse(SharedCursor(builder.cursor()), SharedCursor(&end), &builder);
  return builder.take();
}

Json read_json_file(const std::string& path, JsonLimits limits) {
  return parse_json(read_file(path, limits.max_bytes), path, limits);
}

}  // namespace attn
