// One self-contained HTML page on which records can be looked at: works from disk, offline, in any
// current browser. Its sources are lib/view/page/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "record/attention_record.h"
#include "record/training_curve.h"

namespace attn {

/// Which of the large things a page holds, where a record has them.
struct PageDetail {
  bool vectors = false;  ///< queries, keys, values, ways and logits
  bool search = false;   ///< what a beam search looked at
};

/// A record as the page reads it (RecordJsonOptions::packed).
std::string page_record(const AttentionRecord& record, PageDetail detail);

/// What a page shows.
struct PageData {
  std::span<const std::string> records;      ///< each as page_record() makes it
  std::string_view heads = {};               ///< figures of all heads over all records
                                             ///< (head_report_json makes them); empty: none
  std::span<const std::string> curves = {};  ///< of training runs (page_curve() makes each)
  std::string_view live = {};                ///< JSON for a page that a server stands behind
  std::string_view packed = {};  ///< of a page that translates alone: elements with the program
};

/// The page with the data inside. Every "<" of the data is written as an escape, so that no text
/// ends the element it is in, and the page's policy lets nothing run but its own script, which it
/// names by its SHA-256.
std::string page_html(const PageData& data);

/// The data alone, as JSON that the page's scripts read.
std::string page_data(const PageData& data);

/// The content security policy of a page with a server behind it, for the server's header.
std::string live_page_policy();

// The curve of a training run for the slider over its moments.

/// {"first":0,"end":7,"train":[[update,loss],…],"validations":[[update,loss,bleu,chrf],…],
/// "best":update}: the curve of the page's records `first` to `end` − 1; what is not finite is
/// null, and `best` is absent where the run names none.
std::string page_curve(const TrainingCurve& curve, std::size_t first, std::size_t end);

}  // namespace attn
