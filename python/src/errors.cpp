#include "errors.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <exception>
#include <string>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "service/field_text.h"
#include "service/out_of_memory.h"

namespace py = pybind11;

namespace attn {
namespace {

void raise(ExitCode code, const std::string& message) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  const py::object make = py::module_::import("attn_demo.errors").attr("of_exit_code");
  const py::object error = make(static_cast<int>(code), shorten_message(printable(line)));
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error.code(), message_for(error, option_name));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    raise(ExitCode::memory, "out of memory; choose a smaller model, batch or beam");
  }
}

}  // namespace

void register_exceptions() {
  py::register_exception_translator(translate);
}

}  // namespace attn
