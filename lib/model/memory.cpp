#include "model/memory.h"

#include <algorithm>
#include <limits>

#include "base/at.h"
#include "base/checked.h"

namespace attn {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

std::uint64_t model_bytes(const ModelConfig& config) {
  const auto parameters = count_parameters(config);
  if (!parameters) return kUnlimited;
  // Parameters, and once more as prepared products (a tied output is a copy of its own).
  const auto twice = checked_multiply(*parameters, 2 * sizeof(float));
  const auto output =
      checked_product({to_size(config.decoder_vocab_size), to_size(config.d_model), sizeof(float)});
  const auto positions =
      checked_product({to_size(std::max(config.max_positions, config.decoder_positions())),
                       to_size(config.d_model), 2 * sizeof(float)});
  if (!twice || !output || !positions) return kUnlimited;
  const auto sum = checked_add(*twice, *output);
  if (!sum) return kUnlimited;
  return checked_add(*sum, *positions).value_or(kUnlimited);
}

}  // namespace attn
