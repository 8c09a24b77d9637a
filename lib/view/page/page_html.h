// A self-contained HTML page for looking at records. It works from disk, offline, in any current
// browser. Its sources are in lib/view/page/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "record/attention_record.h"
#include "record/training_curve.h"

namespace attn {

/// The large parts that a page includes if a record has them.
struct PageDetail {
  bool vectors = false;  ///< queries, keys, values, residual streams and logits
  bool search = false;   ///< every candidate that the beam search considered
  bool receipts = true;  ///< where the logit of each word came from
};

/// Returns a record as the page reads it (RecordJsonOptions::packed).
std::string page_record(const AttentionRecord& record, PageDetail detail);

/// The contents of a page.
struct PageData {
  std::span<const std::string> records;  ///< each made by page_record()
  /// metrics of all heads over all records, made by head_report_json(); empty: none
  std::string_view heads = {};
  std::span<const std::string> curves = {};  ///< curves of training runs, each made by page_curve()
  std::string_view live = {};                ///< JSON for a page that a server answers
  /// for a page that translates by itself: HTML elements that contain the program
  std::string_view packed = {};
  bool embed = false;  ///< shows one head alone, for a frame in another page
  bool words = false;  ///< begins with whole words
};

/// Returns the page with the data inside. Every "<" in the data is escaped, so that no text can end
/// the element that contains it. The page's content security policy allows only its own script,
/// named by its SHA-256.
std::string page_html(const PageData& data);

/// Returns only the data, as the JSON that the page's scripts read.
std::string page_data(const PageData& data);

/// Returns the content security policy of a page that a server answers, for the server's header.
/// Pages of `frame_origins` may show it in a frame; "*" allows all.
std::string live_page_policy(std::span<const std::string> frame_origins = {});

// The curve of a training run, for the page's slider over training.

/// Returns {"first":0,"end":7,"train":[[update,loss],…],"validations":[[update,loss,bleu,chrf],…],
/// "best":update}, the curve that belongs to the page's records `first` to `end` − 1. Numbers that
/// are not finite become null; `best` is absent if the run names none.
std::string page_curve(const TrainingCurve& curve, std::size_t first, std::size_t end);

}  // namespace attn
