// Placeholders and Markdown in text, which must occur unchanged in a translation.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace attn {

enum class SpanType {
  placeholder,  ///< copied unchanged
  point,        ///< the same, but no part of the sentence: "<br>"
  open,         ///< begins a span of text: "**", or "[" of a link
  close,        ///< ends it: "**", or "](https://…)"
};

/// A part of a text that is not translated.
struct MarkupSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  SpanType type = SpanType::placeholder;
  bool operator==(const MarkupSpan&) const = default;
};

/// Returns the parts of a text that more patterns match, in order and without overlap.
using SpanFinder = std::function<std::vector<MarkupSpan>(std::string_view)>;

/// Finds, in order and without overlap:
///
///   {0} {} {name} {user.name} {price:.2f}    Python, C#, Java, Rust
///   {count, plural, one {# file} other {…}}  ICU messages, whole
///   {{name}} {% if %} {# note #}             Mustache, Jinja, Handlebars, Angular, Vue
///   ${x} #{x} %{x} @{x}                      shells, JavaScript, Ruby, Vue
///   %(name)s %s %1$d %.2f %@ %% %1 %NAME%    printf, Python, Qt, Windows
///   marks of further languages, addresses, mentions and hashtags (template_marks.h)
///   what `more` finds, which has precedence
///
/// and with `markdown` also tags such as <b> and <0>, `code`, <https://…>, ![pictures](…), and as
/// pairs of open and close [links](…), [links][…], [[page|links]], <b>…</b>, **…**, __…__, ~~…~~,
/// *…* and _…_ by CommonMark's rules for delimiters. Pairs are nested properly. Accepts any bytes,
/// in linear time.
std::vector<MarkupSpan> find_placeholders(std::string_view text, bool markdown,
                                          const SpanFinder& more = nullptr);

/// True if the text may contain a placeholder or Markdown: a quick check.
bool may_have_placeholders(std::string_view text);

}  // namespace attn
