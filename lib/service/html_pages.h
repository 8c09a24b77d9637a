// What goes into an HTML page, and how large it gets.
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
  /// Up to here a page is small: everything goes into it. The size of a larger one is said before
  /// it is written.
  static constexpr std::size_t small_bytes = 5'000'000;
  /// Up to here a page without queries, keys and values holds search trees and receipts that nobody
  /// asked for.
  static constexpr std::size_t small_search_bytes = 2'000'000;

  PageContent(std::string path, PageDetail asked);

  /// UsageError where the page gets larger than a browser should open.
  void add(const AttentionRecord& record);
  std::size_t size() const { return count_; }
  /// Too large in sum: left out of all records, but where asked for. The first one still holds it.
  void exclude(PageDetail detail) { excluded_ = detail; }
  /// What further records should hold, at most.
  PageDetail wanted() const { return variants_.front().detail; }
  /// The curve of a training run (page_curve() makes it).
  void add_curve(std::string curve) { curves_.push_back(std::move(curve)); }

  /// Shows one head alone (PageData::embed).
  void embed() { embed_ = true; }

  /// The page (page_html); `heads` are the figures over all records, empty: none.
  std::string html(const std::string& heads) const;

  /// What is to be known of that page: what was left out of it, and that it is large.
  std::vector<FieldText> notes(const std::string& html) const;

 private:
  /// The same records with more or less in them.
  struct Variant {
    PageDetail detail = {};
    std::vector<std::string> records = {};
    std::size_t bytes = 0;
  };

  std::string name() const;
  /// Empty where nothing was left out.
  FieldText what_is_missing(const Variant& chosen) const;
  FieldText receipts_are_missing(const Variant& chosen) const;

  std::string path_;
  std::vector<Variant> variants_;  ///< the fullest first; the last has what was asked for
  PageDetail excluded_{.receipts = false};
  std::vector<std::string> curves_;
  std::size_t count_ = 0;
  bool embed_ = false;
  PageDetail given_{.receipts = false};  ///< what the first record has
};

// One HTML file that translates alone: the live page with the program as WebAssembly and a model
// inside.

/// The page, whose model's weights are written as `dtype`: of I8 its products are those of
/// `--precision int8`. It begins with a sentence's record, so that there is something to look at
/// before the program runs, or where it cannot. InputError where the program was built without the
/// module (scripts/build_web.sh), or the model cannot be written so; `version` is the program's.
/// With `embed` the page shows one head alone (PageData::embed).
std::string standalone_page(const ModelChoice& model, DType dtype, const std::string& version,
                            bool embed = false);

}  // namespace attn
