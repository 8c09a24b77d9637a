// Requests to a live page's model, from a browser or from a standalone page: strict
// JSON, without unknown keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "config/option_table.h"
#include "service/model/languages.h"
#include "service/what_if.h"

namespace attn {

/// A request about a sentence.
struct ApiRequest {
  std::string text;
  std::optional<std::vector<std::string>> texts;  ///< a list of texts instead
  std::optional<LanguagePair> languages;          ///< chooses the model if none is named
  bool html = false;                              ///< the texts are HTML
  int alternatives = 0;                ///< LibreTranslate: number of further translations
  std::string model;                   ///< empty: the first one
  std::optional<std::string> compare;  ///< another sentence to show beside this one (the page)
  std::optional<std::string> target;   ///< scored instead of searching
  WhatIfOptions what_if;
  SearchOptions search;
  std::optional<int> part;  ///< number of the part, from 1, if translations split the text
  std::size_t caret = 0;    ///< the page: byte of the text whose part is shown if none is named
  bool whole = false;       ///< the page: also the translations of all parts
  bool vectors = false, tree = false, report = false;
  /// The page: the maps of lengths and contributions, and the receipts of all translations.
  bool measures = false;
  std::string word, instead, corrupt;  ///< why: as in WhyQuestion
  std::vector<std::string> methods;    ///< why
  bool by_tokens = false, summed = false;
  bool choices = false;  ///< the page: the choices that its model offers (ApiHandler)
  std::uint64_t client =
      0;  ///< client whose turns the search takes (translate/search/search_queue.h)
};

/// The keys that a body may have.
enum class Endpoint {
  translate,  ///< text, format, model and the search options
  attend,     ///< also part, target, without, force, swap, vectors, tree, report
  page,       ///< also compare, caret, whole, choices, measures
  why,  ///< text, model, target, the search options; word, instead, corrupt, methods, units, summed
  libretranslate,  ///< LibreTranslate's q, source, target, format, alternatives and api_key
  detect,          ///< LibreTranslate's q and api_key
};

/// Limits of the input.
inline constexpr std::size_t max_body_bytes = std::size_t{64} << 10;
inline constexpr std::size_t max_text_bytes = 8'000;
inline constexpr int max_beams = 64;
inline constexpr std::size_t max_changes = 64;
inline constexpr std::size_t max_texts = 256;

/// Parses the body's JSON. Throws InputError "the body:LINE:COLUMN: …" if it is invalid.
Json parse_body(std::string_view body);

/// Parses a request. Throws InputError that names the key, its value and the expected one; for an
/// unknown key, it names the nearest known one.
ApiRequest parse_request(const Json& body, Endpoint kind);

}  // namespace attn
