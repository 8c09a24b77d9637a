#include "page_content.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "console.h"
#include "output_file.h"
#include "progress.h"
#include "view/page/page_html.h"

namespace attn {

void PageContent::add(std::string_view record) {
  std::string plain = page_record(record, asked_);
  plain_bytes_ += plain.size();
  if (plain_bytes_ > most_bytes) {
    throw UsageError("--html {}: the page would hold more than {}; give it fewer sentences",
                     printable(path_), human_bytes(most_bytes));
  }
  plain_.push_back(std::move(plain));
  if (!asked_for_all()) add_whole(record);
}

void PageContent::add_whole(std::string_view record) {
  if (whole_bytes_ > small_bytes) return;
  whole_.push_back(page_record(record, {.vectors = true, .search = true}));
  whole_bytes_ += whole_.back().size();
  if (whole_bytes_ > small_bytes) whole_ = {};
}

void PageContent::write(OutputFile& file, const std::string& heads) const {
  const bool whole = !asked_for_all() && whole_bytes_ <= small_bytes;
  const std::string page = page_html(whole ? whole_ : plain_, heads);
  if (!asked_for_all() && !whole) {
    note(fmt::format("{}: no {}, which would make it large; {} puts them in", printable(path_),
                     asked_.vectors  ? "search trees"
                     : asked_.search ? "queries, keys and values"
                                     : "queries, keys, values and search trees",
                     asked_.vectors  ? "--tree"
                     : asked_.search ? "--vectors"
                                     : "--vectors (and --tree)"));
  }
  if (page.size() > large_bytes) {
    note(fmt::format("{} will take {}", printable(path_),
                     human_bytes(static_cast<double>(page.size()))));
  }
  file.write(page);
}

}  // namespace attn
