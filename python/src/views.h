// numpy arrays that show the libraries' memory without copying it.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <vector>

namespace attn {

/// Returns a read-only view of `data` that keeps its owner alive.
template <typename Number, typename Owner>
pybind11::array_t<Number> read_only_view(const std::vector<pybind11::ssize_t>& shape,
                                         const Number* data, const std::shared_ptr<Owner>& owner) {
  namespace py = pybind11;
  using Shared = std::shared_ptr<Owner>;
  // The capsule, numpy's base object, holds the owner itself and not its Python wrapper.
  const py::capsule keeps(new Shared(owner), [](void* held) { delete static_cast<Shared*>(held); });
  py::array_t<Number> result(shape, data, keeps);
  py::detail::array_proxy(result.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return result;
}

}  // namespace attn
