// Which languages the served models are for, as far as their names say: what clients of
// LibreTranslate ask for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "service/api/api_request.h"
#include "text/languages.h"

namespace attn {

/// Those at the end of a model's name: "data/models/en-de", "opus-mt-en-de"; or nothing.
std::optional<LanguagePair> languages_in_name(std::string_view model_name);

/// The first model for the pair, or else the first whose name says no languages; a source "auto"
/// is any. InputError naming the pairs that are served where there is neither.
std::size_t find_model_for(const std::vector<std::string>& names, const LanguagePair& wanted);

/// [{"code": "en", "name": "English", "targets": ["de"]}, …]: every language of a pair, sources
/// first; then those that the first model has tokens for, where its name says none.
Json languages_json(const std::vector<std::string>& names, const Languages& of_first);

}  // namespace attn
