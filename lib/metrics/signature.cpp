#include "metrics/signature.h"

namespace attn {

std::string signature(const SignatureOptions& facts, std::string_view metric) {
  std::string text = "nrefs:" + std::to_string(facts.references) + "|";
  if (facts.resampling) {
    text += "bs:" + std::to_string(facts.resampling->samples) +
            "|seed:" + std::to_string(facts.resampling->seed) + "|";
  }
  return text.append(metric) + "|version:attn-demo-" ATTN_VERSION;
}

}  // namespace attn
