// The toy that everyone can train, from scratch, for the tests that look at it.
#pragma once

#include <string>

namespace attn::test {

/// The model directory of a finished run of configs/toy.json. Trained at the first call, once for
/// all tests: seconds in a release build.
const std::string& toy_model();

}  // namespace attn::test
