#include "markup/keep_patterns.h"

#include <dlfcn.h>
#include <unicode/uregex.h>
#include <unicode/utext.h>

#include <algorithm>
#include <cstdint>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

#define ATTN_STRING(name) #name
#define ATTN_SYMBOL(name) ATTN_STRING(name)

/// The functions of libicui18n that are used here.
struct IcuRegex {
  decltype(&uregex_openUText) open;
  decltype(&uregex_close) close;
  decltype(&uregex_clone) clone;
  decltype(&uregex_setUText) set_text;
  decltype(&uregex_setTimeLimit) set_time_limit;
  decltype(&uregex_setStackLimit) set_stack_limit;
  decltype(&uregex_findNext) find_next;
  decltype(&uregex_start64) start;
  decltype(&uregex_end64) end;
};

template <typename Function>
void look_up(void* handle, const char* name, Function& function) {
  void* const symbol = dlsym(handle, name);
  if (symbol == nullptr)
    throw SystemError("libicui18n has no {}, which regular expressions need", name);
  function = reinterpret_cast<Function>(symbol);
}

IcuRegex load_icu_regex() {
  constexpr const char* kName = "libicui18n.so." U_ICU_VERSION_SHORT;
  void* handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw SystemError("{} cannot be loaded ({}); install the package libicu{}", kName, dlerror(),
                      U_ICU_VERSION_MAJOR_NUM);
  }
  IcuRegex icu{};
  look_up(handle, ATTN_SYMBOL(uregex_openUText), icu.open);
  look_up(handle, ATTN_SYMBOL(uregex_close), icu.close);
  look_up(handle, ATTN_SYMBOL(uregex_clone), icu.clone);
  look_up(handle, ATTN_SYMBOL(uregex_setUText), icu.set_text);
  look_up(handle, ATTN_SYMBOL(uregex_setTimeLimit), icu.set_time_limit);
  look_up(handle, ATTN_SYMBOL(uregex_setStackLimit), icu.set_stack_limit);
  look_up(handle, ATTN_SYMBOL(uregex_findNext), icu.find_next);
  look_up(handle, ATTN_SYMBOL(uregex_start64), icu.start);
  look_up(handle, ATTN_SYMBOL(uregex_end64), icu.end);
  return icu;
}

const IcuRegex& icu_regex() {
  static const IcuRegex icu = load_icu_regex();
  return icu;
}

using OwnedText = std::unique_ptr<UText, decltype(&utext_close)>;

OwnedText open_text(std::string_view text, UErrorCode& status) {
  return {utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status),
          &utext_close};
}

std::shared_ptr<void> compile(const std::string& pattern) {
  const IcuRegex& icu = icu_regex();
  UErrorCode status = U_ZERO_ERROR;
  UParseError where{};
  const OwnedText text = open_text(pattern, status);
  URegularExpression* compiled = icu.open(text.get(), 0, &where, &status);
  if (U_FAILURE(status) != 0) {
    throw UsageError(
        "\"{}\" is not a valid regular expression ({}); \\Q…\\E matches a text literally",
        excerpt(pattern), u_errorName(status));
  }
  return {compiled, [close = icu.close](void* expression) {
            close(static_cast<URegularExpression*>(expression));
          }};
}

/// Adds the matches of one expression to `found`, and returns ICU's status.
UErrorCode add_matches(URegularExpression* expression, std::string_view text,
                       std::vector<MarkupSpan>& found) {
  constexpr std::int32_t kMostSteps = 2'000;  // ICU's unit of work, about a millisecond each
  constexpr std::int32_t kMostStack = 8 << 20;
  const IcuRegex& icu = icu_regex();
  UErrorCode status = U_ZERO_ERROR;
  const OwnedText bytes = open_text(text, status);
  icu.set_text(expression, bytes.get(), &status);
  icu.set_time_limit(expression, kMostSteps, &status);
  icu.set_stack_limit(expression, kMostStack, &status);
  while (icu.find_next(expression, &status) != 0 && U_SUCCESS(status) != 0) {
    const auto begin = to_size(icu.start(expression, 0, &status));
    const auto end = to_size(icu.end(expression, 0, &status));
    if (end > begin) found.push_back({begin, end, SpanType::placeholder});
  }
  return status;
}

}  // namespace

KeepPatterns::KeepPatterns(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (pattern.empty() || !is_valid_utf8(pattern)) {
      throw UsageError(
          "\"{}\" is not a valid regular expression; expected one such as [A-Z]+-[0-9]+",
          excerpt(pattern));
    }
    patterns_.push_back({pattern, compile(pattern)});
  }
}

std::vector<MarkupSpan> KeepPatterns::find(std::string_view text) const {
  std::vector<MarkupSpan> all;
  for (const Pattern& pattern : patterns_) {
    const IcuRegex& icu = icu_regex();
    UErrorCode status = U_ZERO_ERROR;
    // A clone, because threads may search at the same time.
    URegularExpression* const own =
        icu.clone(static_cast<URegularExpression*>(pattern.compiled.get()), &status);
    if (U_SUCCESS(status) != 0) status = add_matches(own, text, all);
    icu.close(own);
    if (U_FAILURE(status) != 0) {
      throw InputError(
          "the pattern \"{}\" takes too much time or memory on a line of {} bytes ({}); simplify "
          "it",
          excerpt(pattern.text), text.size(), u_errorName(status));
    }
  }
  std::ranges::sort(all, [](const MarkupSpan& a, const MarkupSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<MarkupSpan> found;
  for (const MarkupSpan& span : all) {
    if (found.empty() || span.begin >= found.back().end) found.push_back(span);
  }
  return found;
}

}  // namespace attn
