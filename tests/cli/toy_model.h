// Trains the toy from scratch, for the tests that examine it.
#pragma once

#include <string>

namespace attn::test {

/// Returns the model directory of a finished run of configs/toy.json. It is trained by the first
/// call, once for all tests, which takes seconds in a release build.
const std::string& toy_model();

}  // namespace attn::test
