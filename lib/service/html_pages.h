// The content of an HTML page, and its size.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/directory/safetensors.h"
#include "service/field_text.h"
#include "service/model/model_choice.h"
#include "view/page/page_html.h"

namespace attn {

/// The records of a page. Queries, keys, values, search trees and receipts take many times what the
/// maps do: they are in it where they were asked for, and else as long as the page stays small.
class PageContent {
 public:
  static constexpr std::size_t max_bytes = std::size_t{512} << 20;
  /// Up to this size, a page is small and contains everything. For a larger page, a note gives the
  /// size before it is written.
  static constexpr std::size_t small_bytes = 5'000'000;
  /// A page without queries, keys and values includes search trees and receipts up to this size,
  /// even if they were not requested.
  static constexpr std::size_t small_search_bytes = 2'000'000;

  PageContent(std::string path, PageDetail asked);

  /// Adds a record. Throws UsageError if the page becomes larger than a browser should open.
  void add(const AttentionRecord& record);
  std::size_t size() const { return count_; }
  /// Excludes details that would be too large in total from all records, unless they were
  /// requested. The first record keeps them.
  void exclude(PageDetail detail) { excluded_ = detail; }
  /// Returns the most that further records should contain.
  PageDetail wanted() const { return variants_.front().detail; }
  /// Adds the curve of a training run (made by page_curve()).
  void add_curve(std::string curve) { curves_.push_back(std::move(curve)); }

  /// Shows one head alone (PageData::embed).
  void embed() { embed_ = true; }
  /// Begins with whole words (PageData::words).
  void words() { words_ = true; }

  /// Returns the page (page_html). `heads` are the statistics over all records; empty: none.
  std::string html(const std::string& heads) const;

  /// Returns notes on the page: which parts were left out, and that it is large.
  std::vector<FieldText> notes(const std::string& html) const;

 private:
  /// The same records with more or fewer details.
  struct Variant {
    PageDetail detail = {};
    std::vector<std::string> records = {};
    std::size_t bytes = 0;
  };

  std::string name() const;
  /// Returns which details are left out; empty if there are none.
  FieldText what_is_missing(const Variant& chosen) const;
  FieldText receipts_are_missing(const Variant& chosen) const;

  std::string path_;
  std::vector<Variant> variants_;  ///< the fullest first; the last has what was asked for
  PageDetail excluded_{.receipts = false};
  std::vector<std::string> curves_;
  std::size_t count_ = 0;
  bool embed_ = false;
  bool words_ = false;
  PageDetail given_{.receipts = false};  ///< what the first record has
};

// The standalone page: a single HTML file that translates by itself. It is the live page, with the
// program as WebAssembly and a model inside.

/// Returns the page, with the model's weights written as `dtype`; with I8, it multiplies like
/// `--precision int8`. It begins with a sentence's record, so that there is something to see
/// before the program runs, or if it cannot run. Throws InputError if the program was built
/// without the module (scripts/build_web.sh), or if the model cannot be written in this type.
/// `version` is the program's. With `embed`, the page shows one head alone (PageData::embed).
std::string standalone_page(const ModelChoice& model, DType dtype, const std::string& version,
                            bool embed = false);

}  // namespace attn
