#include "service/field_text.h"

#include <algorithm>

namespace attn {

std::string option_name(std::string_view field) {
  if (field == "terms") field.remove_suffix(1);  // the option with an s takes a file
  std::string name = "--" + std::string(field);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

FieldText FieldText::of(const Error& error) {
  const auto* speaks = dynamic_cast<const HasFieldText*>(&error);
  return speaks == nullptr ? FieldText(error.what()) : speaks->text();
}

std::string FieldText::message_for(FieldSpelling words) const {
  std::string whole;
  for (const Part& part : parts_) whole += part.is_field ? words(part.text) : part.text;
  return whole;
}

std::string FieldText::plain() const {
  return message_for([](std::string_view field) { return std::string(field); });
}

std::string message_for(const Error& error, FieldSpelling words) {
  return FieldText::of(error).message_for(words);
}

}  // namespace attn
