// The shape of an attention record from outside: every key that the page's scripts read.
#pragma once

#include <string>

#include "base/json.h"

namespace attn {

/// InputError, begun by `where` and naming the place ("hypotheses[0].search.nodes[3].parent"),
/// unless the record is as docs/json.md describes it: required keys are there, optional ones are of
/// their kind where they are there, maps, vectors and figures have as many layers, heads, rows and
/// columns as the model has and the tokens are, and a search's parents come before their children.
/// Keys that are not known pass.
void check_record_shape(const Json& record, const std::string& where);

/// The same for the figures of all heads over several sentences (docs/reading-heads.md), which say
/// over how many.
std::size_t check_heads(const Json& heads, const std::string& where);

}  // namespace attn
