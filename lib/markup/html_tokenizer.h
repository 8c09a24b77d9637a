// Splits HTML into tags, comments and text, byte for byte.
//
// The tags of a translation must be the bytes of the source, with their case, quotes and spaces.
// A library that builds a tree (lexbor, gumbo, libxml2) corrects and normalizes what it reads, and
// its serializer writes other bytes. So this is a tokenizer of its own: the states of the HTML
// standard's tokenizer (https://html.spec.whatwg.org/multipage/parsing.html#tokenization) that
// decide where a token ends, without its tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

enum class HtmlTokenType {
  text,
  open,   ///< a start tag
  close,  ///< an end tag
  point,  ///< part of a sentence that is copied unchanged: a void element, a comment,
          ///< <code>…</code>
  cut,    ///< ends a sentence and is copied unchanged: a tag of a block, <br>, <pre>…</pre>, a
          ///< doctype
};

struct HtmlToken {
  HtmlTokenType type = HtmlTokenType::text;
  std::string_view bytes;     ///< in the source; all tokens together are the source
  std::string name = {};      ///< of a tag, in lower case
  bool untranslated = false;  ///< an element that is copied unchanged with its text: <code>, <pre>
};

/// Splits any bytes. Elements that are not translated are one token from their start tag to their
/// end tag, or to the end of the source if that is missing: <code>, <kbd>, <samp>, <var>, <pre>,
/// <textarea>, <script>, <style>, <svg>, <math> and a few more, and elements with translate="no" or
/// the class notranslate. Takes linear time.
std::vector<HtmlToken> tokenize_html(std::string_view source);

/// Returns the character or characters that the entity at the start of the text ("&amp;", "&#228;")
/// means, in UTF-8; empty for an entity that is not known here. `length` is set to its bytes, 0 if
/// the text begins with no entity.
std::string decode_entity(std::string_view text, std::size_t& length);

}  // namespace attn
