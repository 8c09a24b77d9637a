#include "why.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "interpreter.h"
#include "view/svg/why_svg.h"
#include "views.h"
#include "why/why_json.h"

namespace py = pybind11;

namespace attn {
namespace {

/// Makes arrays that show an answer's memory.
class WhyViews {
 public:
  explicit WhyViews(const SharedWhy& owner) : owner_(owner) {}

  py::object operator()(const NdArray& array) const {
    return read_only_view({array.shape.begin(), array.shape.end()}, array.values.data(), owner_);
  }
  py::object operator()(const Matrix& matrix) const {
    return read_only_view({matrix.rows(), matrix.cols()}, matrix.data(), owner_);
  }
  template <typename Number>
  py::object operator()(const std::vector<Number>& numbers) const {
    return read_only_view({py::ssize_t(numbers.size())}, numbers.data(), owner_);
  }

 private:
  const SharedWhy& owner_;
};

py::dict receipt_dict(const Receipt& r, const WhyViews& view) {
  const std::array<std::pair<const char*, const NdArray*>, 13> items{
      {{"token", &r.token},
       {"position", &r.position},
       {"self", &r.self},
       {"cross", &r.cross},
       {"self_out_bias", &r.self_out_bias},
       {"cross_out_bias", &r.cross_out_bias},
       {"ffn", &r.ffn},
       {"norm_bias", &r.norm_bias},
       {"embedding_norm_bias", &r.embedding_norm_bias},
       {"final_norm_bias", &r.final_norm_bias},
       {"output_bias", &r.output_bias},
       {"total", &r.total},
       {"logit", &r.logit}}};
  py::dict dict;
  for (const auto& [name, array] : items) {
    if (!array->empty()) dict[name] = view(*array);
  }
  return dict;
}

py::dict contributions_dict(const Contributions& c, const WhyViews& view) {
  const std::array<std::pair<const char*, NdArray SiteContributions::*>, 5> maps{
      {{"value_weighted", &SiteContributions::value_weighted},
       {"value_weighted_layer", &SiteContributions::value_weighted_layer},
       {"res_ln_layer", &SiteContributions::res_ln_layer},
       {"mixing_ratio", &SiteContributions::mixing_ratio},
       {"alti", &SiteContributions::alti}}};
  py::dict dict;
  for (const auto& [name, map] : maps) {
    py::dict sites;
    sites["encoder_self"] = view(c.encoder_self.*map);
    sites["decoder_self"] = view(c.decoder_self.*map);
    sites["cross"] = view(c.cross.*map);
    dict[name] = sites;
  }
  py::dict alti_plus;
  alti_plus["encoder"] = view(c.alti_plus_encoder);
  alti_plus["layers"] = view(c.alti_plus_layers);
  alti_plus["total"] = view(c.alti_plus_total);
  dict["alti_plus"] = alti_plus;
  return dict;
}

py::dict gradients_dict(const EmbeddingGradients& g, const WhyViews& view) {
  py::dict dict;
  dict["steps"] = view(g.steps);
  dict["scores"] = view(g.scores);
  dict["source_dot"] = view(g.source_dot);
  dict["source_l2"] = view(g.source_l2);
  dict["source_grad_l2"] = view(g.source_grad_l2);
  dict["target_dot"] = view(g.target_dot);
  dict["target_l2"] = view(g.target_l2);
  dict["target_grad_l2"] = view(g.target_grad_l2);
  return dict;
}

py::dict gradients_dict(const IntegratedGradients& g, const WhyViews& view) {
  py::dict dict;
  dict["steps"] = view(g.steps);
  dict["points"] = view(g.points);
  dict["source_dot"] = view(g.source_dot);
  dict["source_l2"] = view(g.source_l2);
  dict["target_dot"] = view(g.target_dot);
  dict["target_l2"] = view(g.target_l2);
  dict["delta"] = view(g.deltas);
  dict["difference"] = view(g.differences);
  py::array_t<double> gap(std::vector<py::ssize_t>{std::ssize(g.steps)});
  for (std::size_t n = 0; n < g.steps.size(); ++n) gap.mutable_at(n) = g.gap(n);
  dict["gap"] = gap;
  return dict;
}

template <typename Gradients>
py::dict pair_dict(const GradientPair<Gradients>& pair, const WhyViews& view) {
  py::dict dict;
  dict["log_prob"] = gradients_dict(pair.log_prob, view);
  dict["contrast"] = gradients_dict(pair.contrast, view);
  return dict;
}

/// Copies the numbers of all states [L+1] into one array, whose other axes are `axes`.
template <typename Number>
py::array_t<Number> stacked(const LogitLens& lens, std::vector<Number> Alternatives::*numbers,
                            const std::vector<py::ssize_t>& axes) {
  std::vector<py::ssize_t> shape{std::ssize(lens.states)};
  shape.insert(shape.end(), axes.begin(), axes.end());
  py::array_t<Number> all(shape);
  Number* out = all.mutable_data();
  for (const Alternatives& state : lens.states) out = std::ranges::copy(state.*numbers, out).out;
  return all;
}

py::dict lens_dict(const Why& why, const WhyViews& view) {
  const std::vector<Alternatives>& states = why.logit_lens->states;
  const py::ssize_t steps = std::ssize(why.target.ids), count = states.front().count;
  py::list tokens;
  for (const Alternatives& state : states) {
    py::list rows;
    for (auto first = state.tokens.begin(); first != state.tokens.end(); first += count) {
      rows.append(std::vector<std::string>(first, first + count));
    }
    tokens.append(rows);
  }
  py::dict logit_lens;
  logit_lens["ids"] = stacked(*why.logit_lens, &Alternatives::ids, {steps, count});
  logit_lens["tokens"] = tokens;
  logit_lens["log_probs"] = stacked(*why.logit_lens, &Alternatives::log_probs, {steps, count});
  py::list translations;
  for (std::size_t k = 0; k < why.decoder_lens->texts.size(); ++k) {
    py::dict translation;
    translation["tokens"] = why.decoder_lens->tokens[k].tokens;
    translation["ids"] = why.decoder_lens->tokens[k].ids;
    translation["text"] = why.decoder_lens->texts[k];
    translations.append(translation);
  }
  py::dict dict;
  dict["logit_lens"] = logit_lens;
  dict["logit_lens_rank"] = stacked(*why.logit_lens, &Alternatives::ranks, {steps});
  dict["decoder_lens"] = translations;
  dict["decoder_lens_log_prob"] = view(why.decoder_lens->log_probs);
  return dict;
}

py::dict patching_dict(const PatchingResult& patching, const WhyViews& view) {
  const PatchingGrids& grids = patching.grids;
  py::list positions;
  for (const AlignedPositions& each : grids.positions) {
    positions.append(py::make_tuple(each.clean, each.corrupt));
  }
  py::dict dict;
  dict["clean"] = patching.request.clean;
  dict["corrupt"] = patching.request.corrupt;
  dict["corrupt_target"] = patching.corrupt_target;
  dict["step"] = patching.request.step;
  dict["word"] = patching.request.word;
  dict["foil"] = patching.request.foil;
  dict["positions"] = positions;
  dict["clean_logit_diff"] = grids.clean_logit_diff;
  dict["corrupt_logit_diff"] = grids.corrupt_logit_diff;
  dict["encoder"] = view(grids.encoder);
  dict["decoder"] = view(grids.decoder);
  dict["cross"] = view(grids.cross);
  return dict;
}

/// Returns the results by method; a method that was not requested has no key.
py::dict results(const SharedWhy& answer) {
  const Why& why = answer->why;
  const WhyViews view(answer);
  py::dict dict, receipt;
  receipt["word"] = receipt_dict(*why.receipt, view);
  receipt["contrast"] = receipt_dict(*why.contrast_receipt, view);
  dict["receipt"] = receipt;
  if (why.occlusion) {
    py::dict occlusion;
    occlusion["unk"] = view(why.occlusion->unk);
    occlusion["drop"] = view(why.occlusion->drop);
    dict["occlusion"] = occlusion;
  }
  if (why.contributions) dict["contributions"] = contributions_dict(*why.contributions, view);
  if (why.logit_lens) dict["lens"] = lens_dict(why, view);
  if (why.gradients) dict["gradients"] = pair_dict(*why.gradients, view);
  if (why.integrated) {
    py::dict integrated = pair_dict(*why.integrated, view);
    integrated["steps"] = IntegrationOptions{}.steps;
    dict["integrated"] = integrated;
  }
  if (why.patching) dict["patch"] = patching_dict(*why.patching, view);
  return dict;
}

py::dict facts(const SharedWhy& answer) {
  const Why& why = answer->why;
  const WhyViews view(answer);
  py::dict dict;
  dict["source_text"] = why.source_text;
  dict["text"] = why.target_text;
  dict["source_tokens"] = why.source.tokens;
  dict["source_ids"] = why.source.ids;
  dict["tokens"] = why.target.tokens;
  dict["ids"] = why.target.ids;
  dict["decoder_tokens"] = why.decoder_input.tokens;
  dict["foil_tokens"] = why.foil.tokens;
  dict["foil_ids"] = why.foil.ids;
  dict["logits"] = view(why.logits);
  dict["log_probs"] = view(why.log_probs);
  dict["foil_logits"] = view(why.foil_logits);
  return dict;
}

/// Returns (source, prefix, feed_forward, biases, position), with (text, value) for each word.
py::tuple sum_tuple(const ReceiptSum& sum) {
  const auto entries = [](const std::vector<ReceiptEntry>& from) {
    py::list list;
    for (const ReceiptEntry& entry : from) list.append(py::make_tuple(entry.text, entry.value));
    return list;
  };
  return py::make_tuple(entries(sum.source), entries(sum.prefix), sum.feed_forward, sum.biases,
                        sum.position);
}

/// Returns (text, first, count, log_prob, logit, foil, occlusion) for each word.
py::list words(const SharedWhy& answer) {
  py::list list;
  for (const WordReceipt& receipt : answer->words.words) {
    const ReceiptFoil& foil = receipt.foil;
    py::list occlusion;
    for (const OcclusionEntry& entry : receipt.occlusion) {
      occlusion.append(py::make_tuple(entry.text, entry.drop, entry.unk));
    }
    list.append(py::make_tuple(
        receipt.word.text, receipt.word.first, receipt.word.count, receipt.log_prob,
        sum_tuple(receipt.logit),
        py::make_tuple(foil.step, foil.word, foil.text, foil.given, sum_tuple(foil.difference)),
        occlusion));
  }
  return list;
}

}  // namespace

void bind_why(py::module_& module) {
  py::class_<WhyAnswer, SharedWhy>(module, "Why")
      .def("facts", &facts)
      .def("results", &results)
      .def("words", &words)
      .def("json",
           [](const WhyAnswer& answer) {
             const GilRelease released;
             return why_json(answer.why);
           })
      .def("svg", [](const WhyAnswer& answer) {
        const GilRelease released;
        return why_svg(answer.words, answer.why.model);
      });
}

}  // namespace attn
