#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/map_selection.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "record/words.h"
#include "service/field_text.h"
#include "service/what_if.h"

namespace attn {
namespace {

AttentionSite kind_of(std::string_view written, std::string_view word) {
  const std::optional<AttentionSite> site = parse_site(word);
  if (!site) {
    throw UsageError("{}: \"{}\" is not a kind of attention; expected encoder, decoder or cross",
                     excerpt(written), excerpt(word));
  }
  return *site;
}

/// True for "best", "cross:best" and "cross:2:best". Which head that is depends on the sentence.
bool names_best(const std::string& text) {
  return split_at(text, ':').back() == "best";
}

/// Parses a head to disable. Without a record, the head of "best" is not set.
AblatedHead parse_without(const std::string& text, const AttentionRecord* record) {
  if (names_best(text)) {
    const std::string_view site = split_at(text, ':').front();
    if (site != "best" && kind_of(text, site) != AttentionSite::cross) {
      throw UsageError("{}: only heads of cross-attention align words; try best or {}:0:1",
                       excerpt(text), site);
    }
    HeadName name = parse_head_name(text);
    if (record != nullptr) name = resolve_best(name, *record, 0);
    return {name.site, name.layer.value_or(0), name.head};
  }
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts.size() < 2 || parts.size() > 3) {
    throw UsageError("{}: expected KIND:LAYER, KIND:LAYER:HEAD or best, as in cross:1:3",
                     excerpt(text));
  }
  AblatedHead off{kind_of(text, parts[0]), parse_index(text, parts[1], "layer"), {}};
  if (parts.size() == 3) off.head = parse_index(text, parts[2], "head");
  return off;
}

constexpr int kNotYet = -1;  // a word that has not been looked up in its sentence

/// Returns a query or key that is written as an index or, if there is a record, as a word of the
/// axis that `axis` returns.
template <typename Axis>
int token_of(std::string_view written, const AttentionRecord* record, Axis&& axis) {
  if (is_index(written)) return find_token(written, {});
  return record == nullptr ? kNotYet : find_token(written, axis(*record));
}

ForcedWeight parse_force(const std::string& text, const AttentionRecord* record) {
  const std::vector<std::string_view> sides = split_at(text, '=');
  const std::vector<std::string_view> parts = split_at(sides[0], ':');
  if (sides.size() != 2 || parts.size() != 4 || parts[3].empty() || sides[1].empty()) {
    throw UsageError(
        "{}: expected KIND:LAYER:HEAD:QUERY=KEY, as in cross:1:3:2=4 or cross:1:3:ging=went",
        excerpt(text));
  }
  const AttentionSite site = kind_of(text, parts[0]);
  ForcedWeight forced{site, parse_index(text, parts[1], "layer"),
                      parse_index(text, parts[2], "head"), kNotYet, kNotYet};
  forced.query = token_of(parts[3], record,
                          [site](const AttentionRecord& of) { return query_axis(of, site, 0); });
  forced.key = token_of(sides[1], record,
                        [site](const AttentionRecord& of) { return key_axis(of, site, 0); });
  return forced;
}

struct Swap {
  std::size_t position = 0;
  std::string word;
};

/// Returns the words of a text as `swap` counts them, without punctuation at their ends.
TokenAxis axis_of(const std::vector<std::string>& words) {
  TokenAxis axis{"source", {}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    axis.words.push_back({strip_punctuation(words[i]), to_int(i), 1, WordType::word, to_int(i)});
  }
  return axis;
}

Swap parse_swap(const std::string& text, const std::vector<std::string>& words) {
  const std::size_t sign = text.find('=');
  if (sign == 0 || sign == std::string::npos ||
      text.find_first_not_of(" \t", sign + 1) == std::string::npos) {
    refuse_field(Field{"swap"}, " " + excerpt(text),
                 ": expected POSITION=WORD, as in 2=house (words count from 0), or OLD=NEW");
  }
  const int position =
      for_field("swap", [&] { return find_token(text.substr(0, sign), axis_of(words)); });
  return {to_size(position), text.substr(sign + 1)};
}

bool same_row(const ForcedWeight& a, const ForcedWeight& b) {
  return a.site == b.site && a.layer == b.layer && a.head == b.head && a.query == b.query &&
         a.query != kNotYet;
}

bool covers(const AblatedHead& off, const ForcedWeight& forced) {
  return off.site == forced.site && off.layer == forced.layer &&
         (!off.head || *off.head == forced.head);
}

bool is_mark(char c) {
  return c == '.' || c == '?' || c == '!' || c == ',' || c == ';' || c == ':';
}

}  // namespace

ModelChanges WhatIfOptions::changes(const ModelSummary& model,
                                    const AttentionRecord* record) const {
  ModelChanges changes;
  for (const std::string& text : without) {
    changes.without.push_back(for_field("without", [&] {
      const AblatedHead off = parse_without(text, record);
      check_head(text, off.layer, off.head, model.stack(off.site));
      return off;
    }));
  }
  for (const std::string& text : force) {
    const ForcedWeight forced = for_field("force", [&] {
      const ForcedWeight typed = parse_force(text, record);
      check_head(text, typed.layer, typed.head, model.stack(typed.site));
      return typed;
    });
    for (const ForcedWeight& other : changes.forced) {
      if (same_row(forced, other)) {
        refuse_field(Field{"force"}, " " + excerpt(text),
                     ": the same query of the same head is forced twice");
      }
    }
    for (const AblatedHead& off : changes.without) {
      if (covers(off, forced) && (record != nullptr || !has_best())) {
        refuse_field(Field{"force"}, " " + excerpt(text), ": that head is switched off by ",
                     Field{"without"});
      }
    }
    changes.forced.push_back(forced);
  }
  return changes;
}

bool WhatIfOptions::has_best() const {
  return std::any_of(without.begin(), without.end(), names_best);
}

bool WhatIfOptions::needs_record() const {
  return has_best() || std::any_of(force.begin(), force.end(), [](const std::string& text) {
           const ForcedWeight typed = parse_force(text, nullptr);
           return typed.query == kNotYet || typed.key == kNotYet;
         });
}

std::string WhatIfOptions::with_swapped_words(const std::string& sentence) const {
  std::vector<std::string> words;
  for (const std::string_view word : split_at(sentence, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  const std::vector<std::string> original = words;
  std::set<std::size_t> swapped;
  for (const std::string& text : swap) {
    const Swap change = parse_swap(text, original);
    if (!swapped.insert(change.position).second) {
      refuse_field(Field{"swap"}, " " + excerpt(text), ": that word is replaced twice");
    }
    if (change.position >= words.size()) {
      refuse_field(Field{"swap"}, fmt::format(" {}: the sentence has words 0 to {}", excerpt(text),
                                              words.empty() ? 0 : words.size() - 1));
    }
    std::string& word = words[change.position];
    const char last = word.back();
    word = change.word;
    if (is_mark(last) && !is_mark(word.back())) word += last;
  }
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::vector<std::string> WhatIfOptions::described(const ModelChanges& changes) const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < without.size(); ++i) {
    const AblatedHead& off = changes.without[i];
    lines.push_back("without " + (names_best(without[i])
                                      ? to_string(HeadName{off.site, off.layer, off.head})
                                      : without[i]));
  }
  for (const std::string& text : force) lines.push_back("forced " + text);
  for (const std::string& text : swap) lines.push_back("swapped " + text);
  return lines;
}

MapSelection WhatIfOptions::selection(const ModelChanges& changes) const {
  MapSelection shown;
  if (changes.without.empty() && changes.forced.empty()) return shown;  // the last layers
  shown.last_layers = false;
  for (std::size_t i = 0; i < without.size(); ++i) {
    const AblatedHead& off = changes.without[i];
    const bool open = names_best(without[i]) && !off.head;
    shown.items.push_back(open ? parse_head_name(without[i])
                               : HeadName{off.site, off.layer, off.head});
  }
  for (const ForcedWeight& f : changes.forced) shown.items.push_back({f.site, f.layer, f.head});
  return shown;
}

AttentionRecord record_sentence(const Translator& translator, const TranslationSettings& settings,
                                const PreparedSentence& sentence,
                                const std::optional<std::string>& target,
                                const RecordDetail& detail) {
  RecordRequest request{{&sentence, 1}, settings, detail};
  if (target) {
    request.search = false;
    request.target = translator.target_ids(*target, settings);
  }
  return std::move(translator.record(request).front());
}

WhatIfRequest what_if_request(const Translator& translator, const TranslationSettings& settings,
                              const WhatIfOptions& options, PreparedSentence before,
                              std::optional<std::string> target) {
  WhatIfRequest request{options, before, before, std::move(target)};
  if (!options.swap.empty()) {
    request.after = translator.prepare(options.with_swapped_words(before.text), settings);
  }
  return request;
}

WhatIfRecord apply_what_if(const Translator& translator, const TranslationSettings& settings,
                           const WhatIfRequest& request, const RecordDetail& detail,
                           ModelChanges* changes) {
  const WhatIfOptions& options = request.options;
  ModelChanges made = options.changes(translator.summary());
  if (options.needs_record()) {
    const AttentionRecord unchanged =
        record_sentence(translator, settings, request.after, request.target, {});
    made = options.changes(unchanged.model, &unchanged);
  }
  WhatIfRecord result;
  for_field("force", [&] {
    RecordDetail of_before = detail;
    of_before.search_tree = false;
    result.before =
        record_sentence(translator, settings, request.before, request.target, of_before);
    if (request.after.empty() || result.before.hypotheses.empty()) {
      throw InputError("the sentence has no tokens, so there is nothing to change");
    }
    RecordRequest changed{{&request.after, 1}, settings, detail};
    changed.target = result.before.hypotheses.front().produced.ids;
    changed.changes = &made;
    result.after = std::move(translator.record(changed).front());
  });
  result.teacher_forced = std::move(result.after.hypotheses.back());
  result.after.hypotheses.pop_back();
  result.after.changes = options.described(made);
  if (request.target) {
    result.after.decoding = result.before.decoding;
    result.after.hypotheses = {result.teacher_forced};
  }
  if (changes != nullptr) *changes = std::move(made);
  return result;
}

}  // namespace attn
