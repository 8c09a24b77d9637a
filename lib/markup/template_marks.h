// Marks of template languages, addresses and tags in plain text, each found where it begins.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

/// Returns the end of the mark or address that begins at byte `begin`, and `begin` if there is
/// none:
///
///   <% x %> <?php x ?> [% x %]           ERB, PHP, Template Toolkit
///   $name $name$ $(name) %%name%% %a.b%  shells, StringTemplate, mail programs
///   [[name]] <<name>> *|NAME|* ##name## @@name@@ #name# [first_name]
///   :name :name:                         Laravel, Rails, emoji
///   @name #topic                         mentions and hashtags
///   https://… www.… name@example.org     addresses, without punctuation at their end
///
/// Looks only a bounded number of bytes ahead, except for the end of <%, <?, [% and addresses.
std::size_t template_mark_end(std::string_view text, std::size_t begin);

/// A tag in plain text: <b>, </b>, <br/>, <a href="x">, <0>.
struct PlainTag {
  std::size_t begin = 0, end = 0;
  std::string_view name = {};
  bool closes = false;  ///< </b>
  bool alone = false;   ///< <br/>
  bool value = false;   ///< without a partner, it stands for a value: <name>, <1/>
  int partner = -1;     ///< the index of the element's other tag; −1: none
};

/// Finds the tags of plain text, in order. Stricter than HTML, because "a <b and c> d" is text:
/// attributes need a value, and nothing but a name may follow "</". Names of tokens that models
/// read (<extra_id_0>, <2de>, <mask>) are no tags. An end tag belongs to the last
/// open tag of its name. Takes linear time.
std::vector<PlainTag> find_plain_tags(std::string_view text);

}  // namespace attn
