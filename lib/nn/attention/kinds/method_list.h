// One function a kind, each in the file of its name.
#pragma once

#include "nn/attention/kinds/attention_method.h"

namespace attn {

const AttentionMethod& full_method();            // full.cpp
const AttentionMethod& window_method();          // window.cpp
const AttentionMethod& longformer_method();      // longformer.cpp
const AttentionMethod& bigbird_method();         // bigbird.cpp
const AttentionMethod& sparse_strided_method();  // sparse_strided.cpp
const AttentionMethod& sparse_fixed_method();    // sparse_fixed.cpp
const AttentionMethod& chunks_method();          // chunks.cpp
const AttentionMethod& linformer_method();       // linformer.cpp
const AttentionMethod& performer_method();       // performer.cpp
const AttentionMethod& lsh_method();             // lsh.cpp

}  // namespace attn
