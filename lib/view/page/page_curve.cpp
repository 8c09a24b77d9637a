#include "view/page/page_curve.h"

#include "base/json_writer.h"

namespace attn {

std::string page_curve(const TrainingCurve& curve, std::size_t first, std::size_t end) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.member("first", first);
    json.member("end", end);
    json.key("train");
    json.array(curve.train, [&](const TrainingCurve::Loss& point) {
      json.array([&] {
        json.value(point.update);
        json.number_or_null(point.loss);
      });
    });
    json.key("validations");
    json.array(curve.validations, [&](const TrainingCurve::Validation& point) {
      json.array([&] {
        json.value(point.update);
        for (const double value : {point.loss, point.bleu, point.chrf}) json.number_or_null(value);
      });
    });
    if (curve.best_update) json.member("best", *curve.best_update);
  });
  return out;
}

}  // namespace attn
