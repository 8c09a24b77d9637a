#include <fmt/format.h>

#include "explain/head_scene.h"
#include "explain/matrices.h"

namespace attn {

ExplanationStep concatenated_heads_step(const ExplanationContext& s) {
  const Matrix& heads = s.at(Stage::heads);
  ExplanationStep step;
  step.id = "heads";
  step.title = "The heads stand side by side";
  step.formula = fmt::format("H = [head 0 | … | head {}]", s.heads() - 1);
  step.shape = fmt::format("{} of {} = {}", s.heads(), shape_of(heads.rows(), s.head_dim()),
                           shape_of(heads.rows(), s.inner()));
  step.why = "Nothing is moved or mixed: each head wrote into its own columns.";
  step.matrices.push_back(mark_head(s, s.by_query(named_matrix("H", heads)), true));
  return step;
}

ExplanationStep output_projection_step(const ExplanationContext& s) {
  const Linear& linear = s.attention().output;
  const Matrix& attn_output = s.at(Stage::attn_output);
  ExplanationStep step;
  step.id = "mixed";
  step.title = "The output projection mixes the heads";
  step.formula = linear.bias.exists() ? "A = H · W_o + b_o" : "A = H · W_o";
  step.shape = fmt::format("{} · {} = {}", shape_of(attn_output.rows(), s.inner()),
                           shape_of(s.inner(), s.d()), shape_of(attn_output.rows(), s.d()));
  step.why = "The first place where heads meet: what each found is written into all columns.";
  step.matrices.push_back(named_matrix("W_o", linear.weight));
  if (linear.bias.data != nullptr) step.matrices.push_back(named_matrix("b_o", linear.bias));
  step.matrices.push_back(s.by_query(named_matrix("A", attn_output)));
  return step;
}

ExplanationStep residual_step(const ExplanationContext& s) {
  const bool before = s.config().normalize_before;
  ExplanationStep step;
  step.id = "residual";
  step.title = before ? "Added to what was there" : "Added to what was there, and normed";
  step.formula =
      before ? "Y = X + A"
             : "R = X + A,  Y = (R − mean) / √(variance + 1e-5) · weight + bias, row by row";
  if (!before) {
    step.latex =
        "R = X + A, \\quad Y = \\frac{R - \\text{mean}}{\\sqrt{\\text{variance} + 10^{-5}}} \\cdot "
        "\\text{weight} + \\text{bias}";
  }
  step.shape = shape_of(s.at(Stage::block_output).rows(), s.d());
  step.why = before
                 ? "The block adds to the token's row and takes nothing away; the norm stands "
                   "before the next block."
                 : "The block adds to the token's row and takes nothing away; the norm keeps the "
                   "numbers in a range that the next block can work with.";
  if (!before) {
    step.matrices.push_back(s.by_query(named_matrix("R", s.at(Stage::block_sum))));
    step.matrices.push_back(named_matrix("norm weight", s.norm().weight));
    step.matrices.push_back(named_matrix("norm bias", s.norm().bias));
  }
  step.matrices.push_back(s.by_query(named_matrix("Y", s.at(Stage::block_output))));
  return step;
}

}  // namespace attn
