// What stands on the axes of maps on the terminal: names, and the numbers that options take.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/map_labels.h"

namespace attn {

struct MapAxes {
  MapLabels labels;
  /// Beside each label. By tokens, all count; by words, those of the text (Word::text_index), so
  /// that special symbols have none.
  std::vector<std::string> row_numbers;
  std::vector<std::string> column_numbers;
  std::string row_title;  ///< over the rows' labels where there are no labels of what is written
};

MapAxes map_axes(const AttentionRecord& record, std::size_t hypothesis, const ShownMaps& shown);

}  // namespace attn
