#include "why/gradients_json.h"

#include <array>
#include <string_view>

#include "base/at.h"

namespace attn {
namespace {

void write_matrix(JsonWriter& json, std::string_view name, const Matrix& matrix) {
  json.member(name, [&] {
    json.array_of(to_int(matrix.rows()), [&](int row) {
      json.value(std::span<const float>(matrix.row(row).data(), to_size(matrix.cols())));
    });
  });
}

}  // namespace

void write_gradients(JsonWriter& json, const EmbeddingGradients& gradients) {
  json.object([&] {
    json.member("steps", gradients.steps);
    json.member("scores", gradients.scores);
    write_matrix(json, "source_dot", gradients.source_dot);
    write_matrix(json, "source_l2", gradients.source_l2);
    write_matrix(json, "source_grad_l2", gradients.source_grad_l2);
    write_matrix(json, "target_dot", gradients.target_dot);
    write_matrix(json, "target_l2", gradients.target_l2);
    write_matrix(json, "target_grad_l2", gradients.target_grad_l2);
  });
}

void write_integrated_gradients(JsonWriter& json, const IntegratedGradients& gradients) {
  json.object([&] {
    json.member("steps", gradients.steps);
    json.member("points", gradients.points);
    write_matrix(json, "source_dot", gradients.source_dot);
    write_matrix(json, "source_l2", gradients.source_l2);
    write_matrix(json, "target_dot", gradients.target_dot);
    write_matrix(json, "target_l2", gradients.target_l2);
    json.member("delta", gradients.deltas);
    json.member("difference", gradients.differences);
    json.member("gap", [&] {
      json.array_of(to_int(std::ssize(gradients.steps)),
                    [&](int n) { json.number_or_null(gradients.gap(to_size(n))); });
    });
  });
}

void write_patching(JsonWriter& json, const PatchingResult& patching) {
  const PatchingRequest& request = patching.request;
  const PatchingGrids& grids = patching.grids;
  json.object([&] {
    json.member("clean", request.clean);
    json.member("corrupt", request.corrupt);
    json.member("corrupt_target", patching.corrupt_target);
    json.member("step", request.step);
    json.member("word", request.word);
    json.member("foil", request.foil);
    json.member("positions", [&] {
      json.array(grids.positions, [&](const AlignedPositions& position) {
        json.value(std::array{position.clean, position.corrupt});
      });
    });
    json.member("clean_logit_diff", grids.clean_logit_diff);
    json.member("corrupt_logit_diff", grids.corrupt_logit_diff);
    write_matrix(json, "encoder", grids.encoder);
    write_matrix(json, "decoder", grids.decoder);
    write_matrix(json, "cross", grids.cross);
  });
}

}  // namespace attn
