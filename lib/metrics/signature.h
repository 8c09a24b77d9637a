// What a score's signature says of every metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// How often and from which seed sentences are drawn again (metrics/bootstrap.h).
struct Resampling {
  std::size_t samples = 1000;
  std::uint64_t seed = 12345;  ///< sacreBLEU's
};

struct SignatureOptions {
  std::size_t references = 1;  ///< sets of them
  std::optional<Resampling> resampling;
};

/// "nrefs:1|case:mixed|…|version:attn-demo-0.1.0", with "bs:1000|seed:12345" behind the references
/// where sentences were drawn again. `metric` is what the metric says of itself.
std::string signature(const SignatureOptions& facts, std::string_view metric);

}  // namespace attn
