// Models that Hugging Face's libraries have fetched, under the names that they have there.
#pragma once

#include <string>

namespace attn {

/// Returns the directory of a model. A path that exists is returned unchanged, and so is what looks
/// like a path (./x, /x, a/b/c). The name of a shipped model (de-en) is its directory. OWNER/NAME
/// is the snapshot of `main` in the cache of huggingface_hub, whose folder is $HF_HUB_CACHE
/// (formerly $HUGGINGFACE_HUB_CACHE), $HF_HOME/hub or ~/.cache/huggingface/hub; OWNER/NAME@REVISION
/// is that of another branch, tag, pull request (refs/pr/4) or commit. Nothing is downloaded. If
/// the cache does not have the model, throws SystemError that says what it has and how to download
/// the model.
std::string model_directory(const std::string& named);

/// Throws SystemError if `named` is a single word and neither a directory nor a shipped model; the
/// error lists the shipped ones. Throws InputError if it is a model of the cache whose revision has
/// no weights; the error names the revisions that have weights.
void require_model(const std::string& named, const std::string& directory);

}  // namespace attn
