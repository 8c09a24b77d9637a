#include "service/page_content.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "service/progress.h"

namespace attn {

PageContent::PageContent(std::string path, PageDetail asked) : path_(std::move(path)) {
  if (!asked.vectors) variants_.push_back({.detail = {.vectors = true, .search = true}});
  if (!asked.search) variants_.push_back({.detail = {.vectors = asked.vectors, .search = true}});
  variants_.push_back({.detail = asked});
}

void PageContent::add(const AttentionRecord& record) {
  for (Variant& variant : variants_) {
    variant.records.push_back(page_record(record, variant.detail));
    variant.bytes += variant.records.back().size();
    if (count_ == 0) variant.first_bytes = variant.bytes;
  }
  const auto last = variants_.end() - 1;
  if (count_ == 0) {
    fullest_first_bytes_ = variants_.front().bytes;
    // Before the last stands the one that has the search and nothing else in addition.
    searched_ = !last->detail.search && (last - 1)->bytes > last->bytes;
  }
  ++count_;
  const auto is_large = [&](const Variant& variant) {
    const std::size_t most = variant.detail.vectors ? small_bytes : small_search_bytes;
    return variant.bytes > most || (excluded_.vectors && variant.detail.vectors) ||
           (excluded_.search && variant.detail.search);
  };
  variants_.erase(std::remove_if(variants_.begin(), last, is_large), last);
  if (variants_.back().bytes > max_bytes) {
    refuse_field(Field{"html"},
                 fmt::format(" {}: the page would hold more than {}; give it fewer sentences",
                             printable(path_), human_bytes(max_bytes)));
  }
}

std::string PageContent::name() const {
  return path_ == "-" ? "the page" : printable(path_);
}

FieldText PageContent::what_is_missing(const Variant& chosen) const {
  if (chosen.first_bytes == fullest_first_bytes_) return {};  // there was nothing to leave out
  const bool both = !chosen.detail.vectors && !chosen.detail.search && searched_;
  const bool vectors = !chosen.detail.vectors;
  FieldText text(
      fmt::format("{}: no {}: with them it would take more than {}; ", name(),
                  both      ? "queries, keys, values, which explain a cell, and search trees"
                  : vectors ? "queries, keys and values, which explain a cell"
                            : "search trees",
                  human_bytes(static_cast<double>(both ? small_search_bytes : small_bytes))));
  text.add(Field{both || vectors ? "vectors" : "tree"});
  if (both) text.add(FieldText(" and ", Field{"tree"}));
  text.add(both ? " put them in" : " puts them in");
  return text;
}

std::string PageContent::html(const std::string& heads) const {
  const Progress progress("making the page");
  return page_html({.records = variants_.front().records, .heads = heads, .curves = curves_});
}

std::vector<FieldText> PageContent::notes(const std::string& html) const {
  std::vector<FieldText> all;
  if (FieldText missing = what_is_missing(variants_.front()); !missing.empty()) {
    all.push_back(std::move(missing));
  }
  if (html.size() > small_bytes) {
    all.push_back(
        fmt::format("{} will take {}", name(), human_bytes(static_cast<double>(html.size()))));
  }
  return all;
}

}  // namespace attn
