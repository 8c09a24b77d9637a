// One function a kind, each in the file of its name.
#pragma once

#include "config/patterns/sparse_pattern.h"

namespace attn {

const SparsePattern& full_pattern();            // full.cpp
const SparsePattern& window_pattern();          // window.cpp
const SparsePattern& longformer_pattern();      // longformer.cpp
const SparsePattern& bigbird_pattern();         // bigbird.cpp
const SparsePattern& sparse_strided_pattern();  // sparse_strided.cpp
const SparsePattern& sparse_fixed_pattern();    // sparse_fixed.cpp
const SparsePattern& chunks_pattern();          // chunks.cpp
const SparsePattern& linformer_pattern();       // linformer.cpp
const SparsePattern& performer_pattern();       // performer.cpp
const SparsePattern& lsh_pattern();             // lsh.cpp

}  // namespace attn
