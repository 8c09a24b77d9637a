#include "view/page/page_html.h"

#include <doctest/doctest.h>

#include <limits>

using namespace attn;

TEST_CASE("the curve on the page: points in order, what is not finite as null") {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  TrainingCurve curve;
  CHECK(page_curve(curve, 0, 1) == R"({"first":0,"end":1,"train":[],"validations":[]})");
  curve.title = "<not on the page>";
  curve.train = {{50, 5.25}, {100, kNone}};
  curve.validations = {{0, 9.5, 0, 1.125}, {100, 2.5, kNone, 40}};
  curve.best_update = 100;
  CHECK(page_curve(curve, 3, 5) ==
        R"({"first":3,"end":5,"train":[[50,5.25],[100,null]],)"
        R"("validations":[[0,9.5,0,1.125],[100,2.5,null,40]],"best":100})");
}
