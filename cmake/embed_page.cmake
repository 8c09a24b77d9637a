# Writes OUTPUT, a .cpp that holds files as string literals under the names of
# lib/view/page/page_sources.h. Run as
#   cmake -DOUTPUT=… -DFOLDER=lib/view/page -DSCRIPTS=script/text.js,… -DSTYLES=style/page.css,… -P embed_page.cmake
cmake_minimum_required(VERSION 3.22)

function(literal name result)
  file(READ "${FOLDER}/${name}" text)
  string(FIND "${text}" ")attn\"" mark)
  if(NOT mark EQUAL -1)
    message(FATAL_ERROR "${FOLDER}/${name}: holds )attn\", which ends the literal it is put in; write it otherwise")
  endif()
  set(${result} "R\"attn(${text})attn\"" PARENT_SCOPE)
endfunction()

literal(page.html template)
set(styles "")
string(REPLACE "," ";" names "${STYLES}")
foreach(name IN LISTS names)
  literal(${name} style)
  string(APPEND styles "\n    ${style}")
endforeach()
string(REPLACE "," ";" names "${SCRIPTS}")
set(scripts "")
foreach(name IN LISTS names)
  literal(${name} script)
  string(APPEND scripts "    std::string_view(${script}),\n")
endforeach()

file(WRITE "${OUTPUT}" "// Made by cmake/embed_page.cmake from lib/view/page; do not edit.
#include \"view/page/page_sources.h\"

#include <array>

namespace attn {
namespace {
constexpr std::array scripts = {
${scripts}};
}  // namespace

const std::string_view page_template = ${template};
const std::string_view page_style =${styles};
const std::span<const std::string_view> page_scripts = scripts;

}  // namespace attn
")
