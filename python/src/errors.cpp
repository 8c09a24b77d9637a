#include "errors.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"

namespace py = pybind11;

namespace attn {
namespace {

void raise(ExitCode code, const std::string& message) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  const py::object make = py::module_::import("attn_demo.errors").attr("of_exit_code");
  const py::object error = make(static_cast<int>(code), shortened(printable(line)));
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

void raise_out_of_memory() {
  raise(ExitCode::memory, "out of memory; choose a smaller model, batch or beam");
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    raise_out_of_memory();
  } catch (const std::length_error&) {
    raise_out_of_memory();
  } catch (const std::system_error& error) {
    const bool memory = error.code() == std::errc::resource_unavailable_try_again ||
                        error.code() == std::errc::not_enough_memory;
    if (!memory) throw;
    raise_out_of_memory();
  }
}

}  // namespace

void translate_exceptions() {
  py::register_exception_translator(translate);
}

}  // namespace attn
