// Texts that mention options: --n-best at a terminal, n_best in JSON. The libraries know the
// fields, and each front end has its own names for them.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace attn {

/// A field's name: n_best, model, max_length.
struct Field {
  std::string_view name;
};

/// A command of the program that a text mentions: attn-demo translate.
struct Command {
  std::string_view name;
};

/// A function that returns a front end's name for a field.
using FieldSpelling = std::string (*)(std::string_view field);

/// Returns the program's option, such as --n-best for n_best. Errors of the Python package and of
/// the C++ library use these names, too.
std::string option_name(std::string_view field);

class FieldText {
 public:
  FieldText() = default;
  FieldText(std::string text) { add(std::move(text)); }
  FieldText(const char* text) { add(text); }
  FieldText(Field field) { add(field); }
  template <typename First, typename Second, typename... Rest>
  FieldText(First&& first, Second&& second, Rest&&... rest) {
    add(std::forward<First>(first));
    add(std::forward<Second>(second));
    (add(std::forward<Rest>(rest)), ...);
  }

  /// Returns the text of an error.
  static FieldText of(const Error& error);

  void add(std::string text) { parts_.push_back({std::move(text), false}); }
  void add(const char* text) { add(std::string(text)); }
  void add(Command command) { add("attn-demo " + std::string(command.name)); }
  void add(Field field) { parts_.push_back({std::string(field.name), true}); }
  void add(const FieldText& text) {
    parts_.insert(parts_.end(), text.parts_.begin(), text.parts_.end());
  }

  bool empty() const { return parts_.empty(); }
  std::string message_for(FieldSpelling words) const;
  /// Returns the text with the fields' own names.
  std::string plain() const;

 private:
  struct Part {
    std::string text;
    bool is_field;
  };
  std::vector<Part> parts_;
};

/// The text of an error that mentions fields.
class HasFieldText {
 public:
  explicit HasFieldText(FieldText text) : text_(std::move(text)) {}
  virtual ~HasFieldText() = default;
  const FieldText& text() const { return text_; }

 private:
  FieldText text_;
};

/// A UsageError, InputError or SystemError about fields; what() contains their own names.
template <std::derived_from<Error> Base>
struct FieldError : Base, HasFieldText {
  explicit FieldError(FieldText text) : Base("{}", text.plain()), HasFieldText(std::move(text)) {}
};

/// Makes a UsageError: "n_best 3 is …" from (Field{"n_best"}, " 3 is …").
template <typename... Parts>
[[noreturn]] void refuse_field(Parts&&... parts) {
  throw FieldError<UsageError>(FieldText(std::forward<Parts>(parts)...));
}

/// Returns an error's message in a front end's words.
std::string message_for(const Error& error, FieldSpelling words);

/// Runs an action that a field requests. The libraries below do not know fields, so if one refuses
/// the request (or, with SystemError, the system does), the error gets the field before its text.
template <typename Refusal = UsageError, typename Action>
auto for_field(std::string_view field, Action&& action) {
  try {
    return action();
  } catch (const Refusal& error) {
    throw FieldError<Refusal>(FieldText(Field{field}, " ", FieldText::of(error)));
  }
}

}  // namespace attn
