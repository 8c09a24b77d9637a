#include "service/model/stored_type.h"

#include <fmt/format.h>

#include "base/strings/excerpt.h"
#include "service/field_text.h"

namespace attn {

DType parse_dtype(const std::string& text) {
  if (text == "float32") return DType::f32;
  if (text == "float16") return DType::f16;
  if (text == "bfloat16") return DType::bf16;
  if (text == "int8") return DType::i8;
  refuse_field(Field{"dtype"},
               fmt::format(" {}: expected float32, float16, bfloat16 or int8", excerpt(text)));
}

}  // namespace attn
