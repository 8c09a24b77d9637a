// What the libraries note, as lines on stderr.
#pragma once

#include <vector>

#include "base/strings/utf8.h"
#include "service/field_text.h"
#include "terminal/console.h"

namespace attn {

inline void say(const FieldText& text) {
  note(text.worded(option_name));
}

inline void say_all(const std::vector<FieldText>& texts) {
  for (const FieldText& text : texts) note(printable(text.worded(option_name)));
}

}  // namespace attn
