// Models that Hugging Face's libraries have fetched, under the names that they have there.
#pragma once

#include <string>

namespace attn {

/// The directory of a model. A path that is there, or that looks like one (./x, /x, a/b/c), is
/// itself. OWNER/NAME is the snapshot of `main` in the cache of huggingface_hub, whose folder is
/// $HF_HUB_CACHE (of old $HUGGINGFACE_HUB_CACHE), $HF_HOME/hub or ~/.cache/huggingface/hub.
/// SystemError, saying how it is fetched, where the cache has no such model. Nothing is fetched.
std::string model_directory(const std::string& named);

}  // namespace attn
