#include "service/term_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "service/field_text.h"

namespace attn {
namespace {

constexpr std::size_t kMostTerms = 10'000;
constexpr std::size_t kMostTermBytes = 1'000;
constexpr std::size_t kMostFileBytes = std::size_t{4} << 20;

/// Removes spaces at both ends.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Reads one term; it has no targets if the text is not one.
Term parse_term(const std::string& clean) {
  const std::size_t tab = clean.find('\t');
  const std::size_t split = tab != clean.npos ? tab : clean.find('=');
  if (split == clean.npos || clean.size() > kMostTermBytes) return {};
  Term term{std::string(trimmed(std::string_view(clean).substr(0, split))), {}};
  std::string_view targets = std::string_view(clean).substr(split + 1);
  if (term.source.empty() || targets.find('\t') != targets.npos) return {};
  for (bool more = true; more;) {
    const std::size_t bar = targets.find('|');
    const std::string_view form = trimmed(targets.substr(0, bar));
    if (form.empty()) return {};
    term.targets.emplace_back(form);
    more = bar != targets.npos;
    if (more) targets.remove_prefix(bar + 1);
  }
  return term;
}

void add_term(std::vector<Term>& terms, Term term) {
  const auto same = std::ranges::find(terms, term.source, &Term::source);
  if (same == terms.end()) {
    terms.push_back(std::move(term));
    return;
  }
  for (std::string& form : term.targets) {
    if (std::ranges::find(same->targets, form) == same->targets.end()) {
      same->targets.push_back(std::move(form));
    }
  }
}

}  // namespace

std::vector<Term> parse_terms(const std::vector<std::string>& given) {
  if (given.size() > kMostTerms) {
    refuse_field(Field{"terms"},
                 fmt::format(" holds {} terms; at most {} are allowed", given.size(), kMostTerms));
  }
  std::vector<Term> terms;
  for (const std::string& text : given) {
    Term term = parse_term(text);
    if (term.targets.empty() || clean_text(text).invalid_bytes > 0) {
      refuse_field(Field{"terms"}, " \"" + excerpt(text) +
                                       "\": expected SOURCE=TARGET or SOURCE=TARGET|TARGET, of at "
                                       "most 1000 bytes");
    }
    add_term(terms, std::move(term));
  }
  return terms;
}

std::vector<std::string> read_terms(const std::string& path) {
  const std::string bytes = read_file(path, kMostFileBytes);
  std::vector<std::string> terms;
  std::size_t number = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (line.find('\t') == line.npos || parse_term(line).targets.empty() ||
        clean_text(line).invalid_bytes > 0) {
      throw InputError(
          "{}, line {}: {}: expected SOURCE<tab>TARGET or SOURCE<tab>TARGET|TARGET, of "
          "at most {} bytes",
          path, number, excerpt(line), kMostTermBytes);
    }
    if (terms.size() == kMostTerms) {
      throw InputError("{}: more than {} terms; give only those that the text needs", path,
                       kMostTerms);
    }
    terms.push_back(std::move(line));
  }
  return terms;
}

}  // namespace attn
