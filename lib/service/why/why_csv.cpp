#include "service/why/why_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/at.h"
#include "view/data/attention_csv.h"
#include "view/text_output.h"

namespace attn {
namespace {

/// Writes arrays as rows of the table. A text of one letter per axis says what each axis is:
///   l layer, h head, t step (written token), q source token (a row), b block of a layer,
///   s source token, S source tokens and the residual, d decoder input, x source and decoder input,
///   p aligned source position of patching.
class CsvTableWriter {
 public:
  explicit CsvTableWriter(const Why& why) {
    out_ = "method,layer,head,row,row_token,column,column_token,value\r\n";
    source_ = fields_of(why.source);
    with_residual_ = source_;
    with_residual_.emplace_back("residual");
    written_ = fields_of(why.target);
    input_ = fields_of(why.decoder_input);
    if (why.patching) {
      for (const AlignedPositions& each : why.patching->grids.positions) {
        patched_.push_back(at(source_, each.clean));
      }
    }
    both_ = source_;
    both_.insert(both_.end(), input_.begin(), input_.end());
  }

  void add(std::string_view method, std::string_view axes, const NdArray& array) {
    Cell cell{method, "", "", ",", ","};
    add_axis(cell, axes, array, {0, array.values.size()});
  }

  void add(std::string_view method, std::string_view axes, const Matrix& matrix) {
    NdArray array({matrix.rows(), matrix.cols()});
    std::copy(matrix.data(), matrix.data() + matrix.size(), array.values.begin());
    add(method, axes, array);
  }

  void add(std::string_view method, std::string_view axes, const std::vector<double>& values) {
    NdArray array({std::ssize(values)});
    std::ranges::transform(values, array.values.begin(),
                           [](double value) { return static_cast<float>(value); });
    add(method, axes, array);
  }

  /// Adds a row for each of the likeliest tokens of each state and step, with its log-probability.
  void add_lens(const std::vector<Alternatives>& states) {
    for (std::size_t l = 0; l < states.size(); ++l) {
      const Alternatives& state = states[l];
      for (std::size_t i = 0; i < state.ids.size(); ++i) {
        const std::size_t t = i / to_size(state.count);
        append_format(out_, "logit_lens,{},,{},{},{},", l, t, written_[t], state.ids[i]);
        append_csv_field(out_, state.tokens[i]);
        out_ += ',';
        append_float(out_, state.log_probs[i]);
        out_ += "\r\n";
      }
      for (std::size_t t = 0; t < state.ranks.size(); ++t) {
        append_format(out_, "logit_lens_rank,{},,{},{},,,{}\r\n", l, t, written_[t],
                      state.ranks[t]);
      }
    }
  }

  std::string take() { return std::move(out_); }

 private:
  /// The fields before the value of a row.
  struct Cell {
    std::string_view method;
    std::string layer, head, row, column;
  };
  struct Part {
    std::size_t first, count;
  };

  static std::vector<std::string> fields_of(const TokenSequence& sequence) {
    std::vector<std::string> fields;
    for (const std::string& token : sequence.tokens) append_csv_field(fields.emplace_back(), token);
    return fields;
  }

  void add_axis(Cell& cell, std::string_view axes, const NdArray& array, Part part) {
    if (axes.empty()) {
      append_format(out_, "{},{},{},{},{},", cell.method, cell.layer, cell.head, cell.row,
                    cell.column);
      append_float(out_, array.values[part.first]);
      out_ += "\r\n";
      return;
    }
    const std::size_t axis = array.shape.size() - axes.size();
    const std::size_t size = to_size(array.shape[axis]);
    for (std::size_t i = 0; i < size; ++i) {
      set(cell, axes.front(), i);
      const std::size_t count = part.count / size;
      add_axis(cell, axes.substr(1), array, {part.first + i * count, count});
    }
  }

  void set(Cell& cell, char axis, std::size_t i) const {
    const auto numbered = [i](const std::vector<std::string>& names) {
      return fmt::format("{},{}", i, at(names, i));
    };
    static const std::vector<std::string> blocks{"self", "cross", "ffn"};
    if (axis == 'l') cell.layer = std::to_string(i);
    if (axis == 'h') cell.head = std::to_string(i);
    if (axis == 't') cell.row = numbered(written_);
    if (axis == 'q') cell.row = numbered(source_);
    if (axis == 's') cell.column = numbered(source_);
    if (axis == 'S') cell.column = numbered(with_residual_);
    if (axis == 'd') cell.column = numbered(input_);
    if (axis == 'x') cell.column = numbered(both_);
    if (axis == 'p') cell.column = numbered(patched_);
    if (axis == 'b') cell.column = numbered(blocks);
  }

  std::vector<std::string> source_, with_residual_, written_, input_, both_, patched_;
  std::string out_;
};

void add_receipt(CsvTableWriter& table, const std::string& name, const Receipt& r) {
  const std::pair<const char*, const NdArray*> by_step[]{
      {"token", &r.token},
      {"position", &r.position},
      {"final_norm_bias", &r.final_norm_bias},
      {"embedding_norm_bias", &r.embedding_norm_bias},
      {"output_bias", &r.output_bias},
      {"total", &r.total},
      {"logit", &r.logit}};
  for (const auto& [item, array] : by_step) {
    if (!array->empty()) table.add(name + "." + item, "t", *array);
  }
  table.add(name + ".self", "tlhd", r.self);
  table.add(name + ".cross", "tlhs", r.cross);
  table.add(name + ".self_out_bias", "tl", r.self_out_bias);
  table.add(name + ".cross_out_bias", "tl", r.cross_out_bias);
  table.add(name + ".ffn", "tl", r.ffn);
  table.add(name + ".norm_bias", "tlb", r.norm_bias);
}

void add_site(CsvTableWriter& table, const std::string& site, const SiteContributions& c,
              const std::array<std::string, 2>& axes) {
  const auto& [row, columns] = axes;
  const std::string tokens = columns == "S" ? "s" : columns;
  table.add("value_weighted." + site, "lh" + row + tokens, c.value_weighted);
  table.add("value_weighted_layer." + site, "l" + row + tokens, c.value_weighted_layer);
  table.add("res_ln_layer." + site, "l" + row + columns, c.res_ln_layer);
  table.add("mixing_ratio." + site, "l" + row, c.mixing_ratio);
  table.add("alti." + site, "l" + row + columns, c.alti);
}

void add_gradients(CsvTableWriter& table, const std::string& name, const EmbeddingGradients& g) {
  table.add(name + ".scores", "t", g.scores);
  table.add(name + ".source_dot", "ts", g.source_dot);
  table.add(name + ".source_l2", "ts", g.source_l2);
  table.add(name + ".source_grad_l2", "ts", g.source_grad_l2);
  table.add(name + ".target_dot", "td", g.target_dot);
  table.add(name + ".target_l2", "td", g.target_l2);
  table.add(name + ".target_grad_l2", "td", g.target_grad_l2);
}

void add_integrated(CsvTableWriter& table, const std::string& name, const IntegratedGradients& g) {
  table.add(name + ".difference", "t", g.differences);
  table.add(name + ".delta", "t", g.deltas);
  table.add(name + ".source_dot", "ts", g.source_dot);
  table.add(name + ".source_l2", "ts", g.source_l2);
  table.add(name + ".target_dot", "td", g.target_dot);
  table.add(name + ".target_l2", "td", g.target_l2);
}

}  // namespace

std::string why_csv(const Why& why) {
  CsvTableWriter table(why);
  table.add("logits", "t", why.logits);
  table.add("log_prob", "t", why.log_probs);
  table.add("foil.logits", "t", why.foil_logits);
  if (why.receipt) add_receipt(table, "receipt.word", *why.receipt);
  if (why.contrast_receipt) add_receipt(table, "receipt.contrast", *why.contrast_receipt);
  if (why.occlusion) {
    table.add("occlusion.unk", "ts", why.occlusion->unk);
    table.add("occlusion.drop", "ts", why.occlusion->drop);
  }
  if (why.contributions) {
    add_site(table, "encoder_self", why.contributions->encoder_self, {"q", "s"});
    add_site(table, "decoder_self", why.contributions->decoder_self, {"t", "d"});
    add_site(table, "cross", why.contributions->cross, {"t", "S"});
    table.add("alti_plus.encoder", "qs", why.contributions->alti_plus_encoder);
    table.add("alti_plus.layers", "ltx", why.contributions->alti_plus_layers);
    table.add("alti_plus.total", "tx", why.contributions->alti_plus_total);
  }
  if (why.gradients) {
    add_gradients(table, "gradient.log_prob", why.gradients->log_prob);
    add_gradients(table, "gradient.contrast", why.gradients->contrast);
  }
  if (why.integrated) {
    add_integrated(table, "integrated_gradients.log_prob", why.integrated->log_prob);
    add_integrated(table, "integrated_gradients.contrast", why.integrated->contrast);
  }
  if (why.patching) {
    table.add("patching.encoder", "lp", why.patching->grids.encoder);
    table.add("patching.decoder", "ld", why.patching->grids.decoder);
    table.add("patching.cross", "lh", why.patching->grids.cross);
  }
  if (why.logit_lens) table.add_lens(why.logit_lens->states);
  if (why.decoder_lens) table.add("decoder_lens_log_prob", "lt", why.decoder_lens->log_probs);
  return table.take();
}

}  // namespace attn
