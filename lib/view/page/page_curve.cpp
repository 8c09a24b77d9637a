#include "view/page/page_curve.h"

#include <cmath>

#include "view/append_text.h"

namespace attn {
namespace {

void append_figure(std::string& out, double value) {
  if (std::isfinite(value)) {
    append_format(out, ",{}", value);
  } else {
    out += ",null";
  }
}

}  // namespace

std::string page_curve(const TrainingCurve& curve, std::size_t first, std::size_t end) {
  std::string out;
  append_format(out, "{{\"first\":{},\"end\":{},\"train\":", first, end);
  append_list(out, curve.train, [](std::string& to, const TrainingCurve::Loss& point) {
    append_format(to, "[{}", point.update);
    append_figure(to, point.loss);
    to += ']';
  });
  out += ",\"validations\":";
  append_list(out, curve.validations, [](std::string& to, const TrainingCurve::Validation& point) {
    append_format(to, "[{}", point.update);
    for (const double value : {point.loss, point.bleu, point.chrf}) append_figure(to, value);
    to += ']';
  });
  if (curve.best_update) append_format(out, ",\"best\":{}", *curve.best_update);
  out += '}';
  return out;
}

}  // namespace attn
