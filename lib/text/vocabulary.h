// vocab.json: the id of each piece, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/at.h"

namespace attn {

/// A list of pieces by id, and an index of it. Read-only after it is made.
class Vocabulary {
 public:
  /// Parses {"piece": id, …}; InputError, beginning with `where`, unless the pieces are distinct
  /// and hold each id from 0 to their number minus 1 exactly once.
  static Vocabulary parse(std::string_view json, const std::string& where);

  /// The same of pieces and their ids.
  static Vocabulary of(std::vector<std::pair<std::string, int>> entries, const std::string& where);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;  ///< moving the list leaves the texts where they are
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int size() const { return to_int(pieces_.size()); }
  std::optional<int> find(std::string_view piece) const;
  bool holds(int id) const { return id >= 0 && id < size(); }
  const std::string& piece(int id) const { return at(pieces_, id); }

 private:
  std::vector<std::string> pieces_;                ///< [V], by id
  std::unordered_map<std::string_view, int> ids_;  ///< its keys are views of pieces_
};

}  // namespace attn
