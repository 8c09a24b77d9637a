// vocab.json: a map between tokens and ids.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/at.h"

namespace attn {

/// A list of tokens by id and its index. Read-only after construction.
class Vocabulary {
 public:
  /// Parses {"token": id, …}. Throws InputError, beginning with `where`, unless the tokens are
  /// distinct and use every id from 0 to their number minus 1 exactly once.
  static Vocabulary parse(std::string_view json, const std::string& where);

  /// Builds a vocabulary from tokens and ids, with the same checks as parse().
  static Vocabulary of(std::vector<std::pair<std::string, int>> entries, const std::string& where);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;  ///< moving the vector does not move its strings
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int size() const { return to_int(pieces_.size()); }
  std::optional<int> find(std::string_view piece) const;
  bool holds(int id) const { return id >= 0 && id < size(); }
  const std::string& piece(int id) const { return at(pieces_, id); }

 private:
  std::vector<std::string> pieces_;                ///< [V], by id
  std::unordered_map<std::string_view, int> ids_;  ///< keys are views into pieces_
};

}  // namespace attn
