#include "serve/model_languages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "service/model/languages.h"

namespace attn {
namespace {

bool is_code(std::string_view text) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return (text.size() == 2 || text.size() == 3) && std::ranges::all_of(text, small);
}

std::vector<LanguagePair> pairs_of(const std::vector<std::string>& names) {
  std::vector<LanguagePair> pairs;
  for (const std::string& name : names) {
    if (const auto pair = languages_in_name(name)) pairs.push_back(*pair);
  }
  return pairs;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

std::optional<LanguagePair> languages_in_name(std::string_view model_name) {
  while (model_name.ends_with('/')) model_name.remove_suffix(1);
  model_name.remove_prefix(model_name.find_last_of('/') + 1);  // npos + 1 is 0
  const std::size_t last = model_name.rfind('-');
  if (last == model_name.npos) return std::nullopt;
  const std::string_view target = model_name.substr(last + 1);
  const std::string_view before = model_name.substr(0, last);
  const std::string_view source = before.substr(before.rfind('-') + 1);
  if (!is_code(source) || !is_code(target)) return std::nullopt;
  return LanguagePair{std::string(source), std::string(target)};
}

std::size_t find_model_for(const std::vector<std::string>& names, const LanguagePair& wanted) {
  const auto fits = [&](const std::string& name) {
    const auto pair = languages_in_name(name);
    return pair && pair->target == wanted.target &&
           (wanted.source == "auto" || pair->source == wanted.source);
  };
  auto found = std::ranges::find_if(names, fits);
  if (found == names.end()) {
    found = std::ranges::find_if(names, [](const auto& name) { return !languages_in_name(name); });
  }
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::vector<std::string> served;
  for (const LanguagePair& pair : pairs_of(names)) {
    add_once(served, fmt::format("{} to {}", pair.source, pair.target));
  }
  throw InputError("the request: no model translates {} to {}; served: {}", excerpt(wanted.source),
                   excerpt(wanted.target), fmt::join(served, ", "));
}

Json languages_json(const std::vector<std::string>& names, const Languages& of_first) {
  const std::vector<LanguagePair> pairs = pairs_of(names);
  std::vector<std::string> codes;
  for (const LanguagePair& pair : pairs) add_once(codes, pair.source);
  for (const LanguagePair& pair : pairs) add_once(codes, pair.target);
  Json languages = Json::array();
  for (const std::string& code : codes) {
    std::vector<std::string> targets;
    for (const LanguagePair& pair : pairs) {
      if (pair.source == code) add_once(targets, pair.target);
    }
    languages.push_back({{"code", code}, {"name", language_name(code)}, {"targets", targets}});
  }
  const bool both_sides =
      of_first.target_language_method == TargetLanguageMethod::forced_bos_token || of_first.target_language_method == TargetLanguageMethod::decoder_start;
  if (languages_in_name(names.front()) || !both_sides) return languages;
  std::vector<std::string> all;
  for (const LanguageToken& token : of_first.tokens) all.push_back(token.code);
  const std::vector<std::string> its_names = language_names(of_first);
  for (std::size_t i = 0; i < all.size(); ++i) {
    languages.push_back({{"code", all[i]}, {"name", its_names[i]}, {"targets", all}});
  }
  return languages;
}

}  // namespace attn
