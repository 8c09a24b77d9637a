#include "model/model_memory.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/at.h"
#include "base/checked.h"

namespace attn {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// Numbers of all parameters, positions among them, and half of a tied output's copy.
std::optional<std::uint64_t> numbers_of(const ModelConfig& config) {
  const auto parameters = count_parameters(config);
  const auto output =
      checked_product({to_size(config.decoder_vocab_size), to_size(config.d_model)});
  const auto positions =
      checked_product({to_size(std::max(config.max_positions, config.decoder_positions())),
                       to_size(config.d_model)});
  if (!parameters || !output || !positions) return std::nullopt;
  const auto sum = checked_add(*parameters, *output / 2);
  return sum ? checked_add(*sum, *positions) : std::nullopt;
}

}  // namespace

std::uint64_t prepared_bytes(const ModelConfig& config, Backend backend) {
  const auto numbers = numbers_of(config);
  if (!numbers) return kUnlimited;
  const bool mixed =
      backend == Backend::int8 && config.norm == NormType::rms;  // see transformer.cpp
  const bool halves = mixed || (backend == Backend::bfloat16 && cpu_multiplies_bfloat16());
  const std::uint64_t size = halves ? 2 : backend == Backend::int8 ? 1 : sizeof(float);
  return checked_multiply(*numbers, size).value_or(kUnlimited);
}

std::uint64_t model_bytes(const ModelConfig& config, Backend backend) {
  return checked_add(prepared_bytes(config, Backend::panels), prepared_bytes(config, backend))
      .value_or(kUnlimited);
}

}  // namespace attn
