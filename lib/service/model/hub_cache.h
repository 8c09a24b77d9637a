// Models that Hugging Face's libraries have fetched, under the names that they have there.
#pragma once

#include <string>

namespace attn {

/// The directory of a model. A path that is there, or that looks like one (./x, /x, a/b/c), is
/// itself. OWNER/NAME is the snapshot of `main` in the cache of huggingface_hub, whose folder is
/// $HF_HUB_CACHE (of old $HUGGINGFACE_HUB_CACHE), $HF_HOME/hub or ~/.cache/huggingface/hub;
/// OWNER/NAME@REVISION that of another branch, tag, pull request (refs/pr/4) or commit.
/// SystemError, saying what is there and how the rest is fetched, where the cache has no such
/// model. Nothing is fetched.
std::string model_directory(const std::string& named);

/// InputError where `named` is a model of the cache whose revision came without weights: it names
/// the revisions there that have some.
void require_hub_weights(const std::string& named, const std::string& directory);

}  // namespace attn
