// Weights as the kernels of products read them: panels of columns (kernels.h), packed once.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/parameter.h"
#include "compute/tensor.h"

namespace attn {

/// Whether all of them are the binary16 of a file, without a scale.
bool all_float16(const std::vector<Parameter>& weights);

/// Floats of memory that panels of [in, out] take.
Index panel_floats(Index in, Index out, bool of_16_bits);

/// Weights [in, outᵢ] side by side, out columns in all, as panels, the last one filled up with
/// zeros.
/// `then`: what becomes of each number, null: nothing.
void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, float* panels,
                 float (*then)(float));
/// The same of the 16 bits of weights that all_float16.
void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, std::uint16_t* panels);

}  // namespace attn
