#include "why/gradients_json.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/json.h"

using namespace attn;

namespace {

Json written(const std::function<void(JsonWriter&)>& write) {
  std::string text;
  JsonWriter json(text);
  write(json);
  return parse_json(text, "the result");
}

}  // namespace

TEST_CASE("gradients as JSON have a row for each step") {
  EmbeddingGradients gradients;
  gradients.steps = {0, 2};
  gradients.scores = {-0.5, -0.25};
  for (Matrix* matrix : {&gradients.source_dot, &gradients.source_l2, &gradients.source_grad_l2,
                         &gradients.target_dot, &gradients.target_l2, &gradients.target_grad_l2}) {
    *matrix = Matrix::Constant(2, 3, 0.5F);
  }
  gradients.target_l2(1, 2) = 0.1F;
  const Json json = written([&](JsonWriter& out) { write_gradients(out, gradients); });
  CHECK(
      json.dump() ==
      R"({"steps":[0,2],"scores":[-0.5,-0.25],"source_dot":[[0.5,0.5,0.5],[0.5,0.5,0.5]],)"
      R"("source_l2":[[0.5,0.5,0.5],[0.5,0.5,0.5]],"source_grad_l2":[[0.5,0.5,0.5],[0.5,0.5,0.5]],)"
      R"("target_dot":[[0.5,0.5,0.5],[0.5,0.5,0.5]],"target_l2":[[0.5,0.5,0.5],[0.5,0.5,0.1]],)"
      R"("target_grad_l2":[[0.5,0.5,0.5],[0.5,0.5,0.5]]})");
}

TEST_CASE("integrated gradients as JSON have null for a gap without a difference") {
  IntegratedGradients gradients;
  gradients.steps = {1, 2};
  gradients.points = {64, 128};
  gradients.differences = {2, 0};
  gradients.deltas = {0.5, 0.125};
  for (Matrix* matrix :
       {&gradients.source_dot, &gradients.source_l2, &gradients.target_dot, &gradients.target_l2}) {
    *matrix = Matrix::Constant(2, 1, 0.25F);
  }
  const Json json = written([&](JsonWriter& out) { write_integrated_gradients(out, gradients); });
  CHECK(json.at("gap").dump() == "[0.25,null]");
  CHECK(json.at("points").dump() == "[64,128]");
  CHECK(json.at("delta").dump() == "[0.5,0.125]");
  CHECK(json.at("difference").dump() == "[2,0]");
  CHECK(json.at("target_l2").dump() == "[[0.25],[0.25]]");
}

TEST_CASE("patching grids as JSON have the axes layer and position or head") {
  PatchingGrids grids;
  grids.positions = {{0, 0}, {1, 2}};
  grids.clean_logit_diff = 1.5;
  grids.corrupt_logit_diff = -2;
  grids.encoder = Matrix::Constant(2, 2, 0.25F);
  grids.decoder = Matrix::Constant(2, 1, 0.5F);
  grids.cross = Matrix::Constant(1, 2, 1.0F);
  PatchingRequest request;
  request.clean = {5, 6, 0};
  request.corrupt = {5, 7, 0};
  request.step = 3;
  request.word = 17;
  request.foil = 8;
  const Json json = written([&](JsonWriter& out) {
    write_patching(out, {request, grids, "x", {8, 0}});
  });
  CHECK(
      json.dump() ==
      R"({"clean":[5,6,0],"corrupt":[5,7,0],"corrupt_target":[8,0],"step":3,"word":17,"foil":8,"positions":[[0,0],[1,2]],"clean_logit_diff":1.5,)"
      R"("corrupt_logit_diff":-2,"encoder":[[0.25,0.25],[0.25,0.25]],"decoder":[[0.5],[0.5]],)"
      R"("cross":[[1,1]]})");
}
