// Numbers with several axes: results as numpy and JSON show them.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "base/at.h"
#include "base/index.h"

namespace attn {

/// Floats in row-major order; a(i, j, …) is the element at these indices.
struct NdArray {
  std::vector<Index> shape;
  std::vector<float> values;

  NdArray() = default;
  /// All zeros.
  explicit NdArray(std::vector<Index> sizes) : shape(std::move(sizes)) {
    Index count = 1;
    for (const Index size : shape) count *= size;
    values.resize(to_size(count));
  }

  bool empty() const { return shape.empty(); }

  /// Returns the element, or the first element of the part, at the leading indices.
  template <typename... Indices>
  float& operator()(Indices... indices) {
    return values[offset({static_cast<Index>(indices)...})];
  }
  template <typename... Indices>
  float operator()(Indices... indices) const {
    return values[offset({static_cast<Index>(indices)...})];
  }

  /// Returns the last axis at the leading indices.
  template <typename... Indices>
  std::span<float> row(Indices... indices) {
    return std::span(values).subspan(offset({static_cast<Index>(indices)...}),
                                     to_size(shape.back()));
  }
  template <typename... Indices>
  std::span<const float> row(Indices... indices) const {
    return std::span(values).subspan(offset({static_cast<Index>(indices)...}),
                                     to_size(shape.back()));
  }

 private:
  std::size_t offset(std::initializer_list<Index> indices) const {
    Index place = 0;
    std::size_t axis = 0;
    for (const Index index : indices) place = place * shape[axis++] + index;
    for (; axis < shape.size(); ++axis) place *= shape[axis];
    return to_size(place);
  }
};

}  // namespace attn
