// What several kinds of attention share of reading and checking their keys.
#pragma once

#include <string>
#include <string_view>

#include "config/patterns/attention_pattern.h"

namespace attn {

/// InputError where the key is absent.
int read_required_integer(KeyReader& reader, const std::string& key);
/// "window": one even number, or a list of one a layer.
void read_windows(KeyReader& reader, AttentionPattern& pattern);
/// "global": places, [0] where nothing is said.
void read_globals(KeyReader& reader, AttentionPattern& pattern);

Json windows_json(const AttentionPattern& pattern);

/// √tokens, at least 1: a stride that leaves each row about as many far keys as near ones.
int stride_near_sqrt(Index tokens);
/// A quarter of the tokens, at least 2.
int quarter_of_tokens(int tokens);

/// A pattern while it is compared with its stack.
struct PatternCheck {
  const AttentionPattern& pattern;
  const PatternContext& stack;
  const std::string& where;
  const std::string& name;

  /// A key as the user wrote it.
  std::string written(std::string_view key) const;
  /// Each InputError, for a value outside of [least, most]; for an odd one of what size() has
  /// accepted, at most `most`; and for windows and global places that do not fit.
  void size(const char* key, int value, int least, int most) const;
  void even(const char* key, int value, int most) const;
  void windows() const;
  void globals() const;
};

}  // namespace attn
