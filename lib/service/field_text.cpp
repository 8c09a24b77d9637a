#include "service/field_text.h"

#include <algorithm>

namespace attn {

std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

FieldText FieldText::of(const Error& error) {
  const auto* speaks = dynamic_cast<const SpeaksOfFields*>(&error);
  return speaks == nullptr ? FieldText(error.what()) : speaks->text();
}

std::string FieldText::worded(FieldWords words) const {
  std::string whole;
  for (const Part& part : parts_) whole += part.is_field ? words(part.text) : part.text;
  return whole;
}

std::string FieldText::plain() const {
  return worded([](std::string_view field) { return std::string(field); });
}

std::string worded(const Error& error, FieldWords words) {
  return FieldText::of(error).worded(words);
}

}  // namespace attn
