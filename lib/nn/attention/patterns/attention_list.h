// One function a kind, each in the file of its name.
#pragma once

#include "nn/attention/patterns/pattern_attention.h"

namespace attn {

const PatternAttention& full_attention();            // full.cpp
const PatternAttention& window_attention();          // window.cpp
const PatternAttention& longformer_attention();      // longformer.cpp
const PatternAttention& bigbird_attention();         // bigbird.cpp
const PatternAttention& sparse_strided_attention();  // sparse_strided.cpp
const PatternAttention& sparse_fixed_attention();    // sparse_fixed.cpp
const PatternAttention& chunks_attention();          // chunks.cpp
const PatternAttention& linformer_attention();       // linformer.cpp
const PatternAttention& performer_attention();       // performer.cpp
const PatternAttention& lsh_attention();             // lsh.cpp

}  // namespace attn
