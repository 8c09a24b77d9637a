# Writes OUTPUT, a .cpp that holds the file INPUT as attn::NAME. Run as
#   cmake -DOUTPUT=… -DINPUT=lib/serve/openapi.json -DNAME=openapi_json -P embed_text.cmake
cmake_minimum_required(VERSION 3.22)
file(READ "${INPUT}" text)
string(FIND "${text}" ")attn\"" mark)
if(NOT mark EQUAL -1)
  message(FATAL_ERROR "${INPUT}: holds )attn\", which ends the literal it is put in; write it otherwise")
endif()
file(WRITE "${OUTPUT}" "// Made by cmake/embed_text.cmake; do not edit.
#include <string_view>

namespace attn {
extern const std::string_view ${NAME};
const std::string_view ${NAME} = R\"attn(${text})attn\";
}  // namespace attn
")
