// Normally distributed random numbers with the same bits on every machine, and random directions
// made of them: sums, products, divisions and square roots of doubles only, no libm.
#pragma once

#include <cstdint>
#include <string_view>

namespace attn {

/// Fills `out` with numbers of mean 0 and variance 1, by Marsaglia's polar method (1962). They
/// depend on the seed and the stream's name.
void fill_normal(std::uint64_t seed, std::string_view stream, float* out, std::size_t count);

/// out [rows, columns]: each row normally distributed as fill_normal()'s would be; those of a block
/// of `columns` rows are orthogonal (Choromanski et al. 2021, section 2.4).
void fill_orthogonal(std::uint64_t seed, std::string_view stream, float* out, std::size_t rows,
                     std::size_t columns);

}  // namespace attn
