// One function a kind, each in the file of its name.
#pragma once

#include "config/kinds/pattern_kind.h"

namespace attn {

const PatternKind& full_kind();            // full.cpp
const PatternKind& window_kind();          // window.cpp
const PatternKind& longformer_kind();      // longformer.cpp
const PatternKind& bigbird_kind();         // bigbird.cpp
const PatternKind& sparse_strided_kind();  // sparse_strided.cpp
const PatternKind& sparse_fixed_kind();    // sparse_fixed.cpp
const PatternKind& chunks_kind();          // chunks.cpp
const PatternKind& linformer_kind();       // linformer.cpp
const PatternKind& performer_kind();       // performer.cpp
const PatternKind& lsh_kind();             // lsh.cpp

}  // namespace attn
