#include "analysis/measured_item.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {

std::string to_string(const MeasuredItem& item) {
  return fmt::format("{}@{}", to_string(item.name), measure_key(item.measure));
}

MeasuredItem parse_measured_item(const std::string& text) {
  const std::size_t sign = text.find('@');
  const std::string name = text.substr(0, sign), measure = text.substr(sign + 1);
  if (measure != measure_key(MapMeasure::value) && measure != measure_key(MapMeasure::alti)) {
    throw UsageError("{}: expected @value (value-weighted) or @alti", excerpt(text));
  }
  const MeasuredItem item{parse_head_name(name),
                          measure == "value" ? MapMeasure::value : MapMeasure::alti};
  if (item.name.pick == HeadSelector::mean) {
    throw UsageError(
        "{}: a measure of several heads is not the mean of theirs; {} measures a layer",
        excerpt(text),
        to_string(MeasuredItem{{item.name.site, item.name.layer.value_or(0)}, item.measure}));
  }
  return item;
}

}  // namespace attn
