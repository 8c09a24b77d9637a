#include "record.h"

#include <pybind11/stl.h>

#include "analysis/alignment.h"
#include "base/error.h"
#include "interpreter.h"
#include "record/json/record_json.h"
#include "service/html_pages.h"
#include "views.h"

namespace py = pybind11;

namespace attn {
namespace {

using Floats = py::array_t<float>;

AttentionSite site_from_name(const std::string& word) {
  const std::optional<AttentionSite> kind = parse_site(word);
  if (!kind) throw UsageError("\"{}\" is not a kind; expected encoder, decoder or cross", word);
  return *kind;
}

/// Returns [layers, heads, queries, keys]. For long sentences, whose maps store only computed
/// cells, returns a dense copy.
Floats array_of(const AttentionMaps& maps, const SharedRecord& owner) {
  const std::vector<py::ssize_t> shape = {maps.layers, maps.heads, maps.queries, maps.keys};
  if (!maps.sparse()) return read_only_view(shape, maps.weights.data(), owner);
  Floats result(shape);
  std::vector<float> scratch;
  float* out = result.mutable_data();
  for (int layer = 0; layer < maps.layers; ++layer) {
    for (int head = 0; head < maps.heads; ++head) {
      const std::span<const float> map = maps.whole(layer, head, scratch);
      out = std::copy(map.begin(), map.end(), out);
    }
  }
  return result;
}

const HypothesisRecord& hypothesis_of(const SharedRecord& record, std::size_t hypothesis) {
  if (hypothesis >= record->hypotheses.size()) throw py::index_error("no such hypothesis");
  return record->hypotheses[hypothesis];
}

Floats maps(const SharedRecord& record, const std::string& word, std::size_t hypothesis) {
  const AttentionSite kind = site_from_name(word);
  if (kind == AttentionSite::encoder_self) return array_of(record->encoder_self, record);
  const HypothesisRecord& of = hypothesis_of(record, hypothesis);
  return array_of(kind == AttentionSite::cross ? of.cross : of.decoder_self, record);
}

/// Returns queries, keys and values: [layers, heads, tokens, head_dim] each.
py::tuple vectors(const SharedRecord& record, const std::string& word, std::size_t hypothesis) {
  const AttentionSite kind = site_from_name(word);
  const HypothesisRecord& of = hypothesis_of(record, hypothesis);
  const std::optional<AttentionVectors>& all =
      kind == AttentionSite::encoder_self ? record->encoder_vectors
      : kind == AttentionSite::cross      ? of.cross_vectors
                                          : of.decoder_self_vectors;
  if (!all) throw UsageError("an empty sentence has no queries, keys and values");
  const auto array = [&](const HeadVectors& each) {
    return read_only_view({each.layers, each.heads, each.rows, each.columns}, each.values.data(),
                          record);
  };
  return py::make_tuple(array(all->query), array(all->key), array(all->value));
}

py::dict hypothesis(const SharedRecord& record, std::size_t index) {
  const HypothesisRecord& of = hypothesis_of(record, index);
  py::dict result;
  result["text"] = of.text;
  result["score"] = of.score;
  result["tokens"] = of.produced.tokens;
  result["ids"] = of.produced.ids;
  result["decoder_tokens"] = of.decoder_input.tokens;
  result["replayed"] = of.teacher_forced;
  result["log_probs"] =
      read_only_view({py::ssize_t(of.log_probs.size())}, of.log_probs.data(), record);
  return result;
}

/// Returns a page with all of these records; with `embed`, of one head alone.
std::string page(const std::vector<SharedRecord>& records, bool embed) {
  PageContent content("-", {});
  if (embed) content.embed();
  for (const SharedRecord& record : records) {
    AttentionRecord annotated = *record;
    annotate(annotated, {true, AlignmentOptions{}});
    content.add(annotated);
  }
  return content.html("");
}

}  // namespace

void bind_records(py::module_& module) {
  py::class_<AttentionRecord, SharedRecord>(module, "Record")
      .def("maps", &maps, py::arg("kind"), py::arg("hypothesis"))
      .def("vectors", &vectors, py::arg("kind"), py::arg("hypothesis"))
      .def("hypothesis", &hypothesis, py::arg("index"))
      .def_property_readonly("hypotheses",
                             [](const AttentionRecord& r) { return r.hypotheses.size(); })
      .def_property_readonly("source_text", [](const AttentionRecord& r) { return r.source_text; })
      .def_property_readonly("source_tokens",
                             [](const AttentionRecord& r) { return r.source.tokens; })
      .def_property_readonly("source_ids", [](const AttentionRecord& r) { return r.source.ids; })
      .def_property_readonly("changes", [](const AttentionRecord& r) { return r.changes; })
      .def("json", [](const AttentionRecord& r) {
        const GilRelease released;
        return to_json_line(r);
      });
  module.def("page", &page, py::arg("records"), py::arg("embed") = false,
             py::call_guard<GilRelease>());
}

}  // namespace attn
