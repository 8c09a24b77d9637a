// What goes into an HTML page, and how large it gets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/page/page_record.h"

namespace attn {

class OutputFile;

/// The records of a page. Queries, keys, values and search trees take many times what the maps do:
/// they are in it where they were asked for, and else as long as the page stays small.
class PageContent {
 public:
  static constexpr std::size_t most_bytes = std::size_t{512} << 20;
  static constexpr std::size_t small_bytes = 2'000'000;  ///< with everything in it
  static constexpr std::size_t large_bytes = 5'000'000;  ///< its size is said before it is written

  PageContent(std::string path, PageDetail asked) : path_(std::move(path)), asked_(asked) {}

  /// A record as JSON. UsageError where the page gets larger than a browser should open.
  void add(std::string_view record);
  std::size_t size() const { return plain_.size(); }

  /// Writes the page (page_html), and says what is to be known of it on stderr. `heads` are the
  /// figures over all records; empty: none.
  void write(OutputFile& file, const std::string& heads) const;

 private:
  bool asked_for_all() const { return asked_.vectors && asked_.search; }
  void add_whole(std::string_view record);

  std::string path_;
  PageDetail asked_;
  std::vector<std::string> plain_;  ///< with what was asked for
  std::vector<std::string> whole_;  ///< with everything, while it is small
  std::size_t plain_bytes_ = 0, whole_bytes_ = 0;
};

}  // namespace attn
