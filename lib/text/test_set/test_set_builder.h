// Turns the elements of a test set into its texts. The readers of XML and SGML call it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/test_set/test_set.h"

namespace attn {

using MarkupAttributes = std::map<std::string, std::string, std::less<>>;

class TestSetBuilder {
 public:
  /// `path` begins every message.
  explicit TestSetBuilder(const std::string& path) : path_(path) {}

  /// Lines count from 1. All three throw InputError if the file does not match any known format at
  /// this point.
  void start(std::string_view name, const MarkupAttributes& attributes, std::size_t line);
  void text(std::string_view bytes, std::size_t line);
  void end(std::size_t line);

  /// Call after the root element's end.
  TestSet finish();

  [[noreturn]] void fail(std::size_t line, const std::string& what) const;

 private:
  struct Unit {
    std::vector<std::pair<std::string, std::string>> variants;  ///< languages and texts
  };

  void start_root(std::string_view name, std::size_t line);
  void start_in_segment(std::string_view name, std::size_t line);
  void start_wmt(std::string_view name, const MarkupAttributes& attributes, std::size_t line);
  void start_tmx(std::string_view name, const MarkupAttributes& attributes, std::size_t line);
  void end_segment(std::size_t line);
  std::vector<std::string> languages() const;
  void finish_units();
  bool inside(std::string_view name) const;

  const std::string& path_;
  TestSet set_;
  std::vector<std::string> open_;  ///< names of the open elements
  std::string segment_;
  bool in_segment_ = false;
  std::size_t skipped_codes_ = 0;  ///< open elements whose text is formatting codes

  bool has_role_ = false;
  TextRole role_ = TextRole::source;
  std::string text_name_, document_, segment_id_;
  std::size_t segments_in_document_ = 0;

  std::string source_language_, language_;
  std::vector<Unit> units_;
};

}  // namespace attn
