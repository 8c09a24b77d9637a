// attn_demo._core: the bindings of the libraries. The public interface is python/attn_demo/*.py.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "interpreter.h"
#include "model.h"
#include "observer.h"
#include "record.h"
#include "service/model/shipped.h"
#include "training.h"
#include "why.h"

PYBIND11_MODULE(_core, module) {
  attn::register_exceptions();
  attn::register_exit_handler();
  attn::bind_heads(module);
  attn::bind_records(module);
  attn::bind_why(module);
  attn::bind_models(module);
  attn::bind_training(module);
  module.def("look_up_numpy", [] { pybind11::array_t<float>(0); });
  module.def("set_shipped_root", &attn::set_shipped_root);
  module.attr("version") = ATTN_VERSION;
}
