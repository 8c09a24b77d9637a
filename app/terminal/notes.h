// What the libraries note, as lines on stderr.
#pragma once

#include <vector>

#include "base/strings/utf8.h"
#include "service/field_text.h"
#include "terminal/console.h"

namespace attn {

inline void say(const FieldText& text) {
  note(text.message_for(option_name));
}

inline void note_all(const std::vector<FieldText>& texts) {
  for (const FieldText& text : texts) note(printable(text.message_for(option_name)));
}

}  // namespace attn
