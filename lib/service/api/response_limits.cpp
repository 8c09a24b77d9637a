#include "service/api/response_limits.h"

#include <algorithm>

#include "base/error.h"

namespace attn {
namespace {

constexpr double kWeight = 13;         // bytes per weight, as documented in docs/json.md
constexpr double kVectorNumber = 5.4;  // bytes per float32 in base64

/// Returns d_model or the width of all heads together, whichever is larger.
double width_of(const ModelSummary& model, bool encoder) {
  const int heads = encoder ? model.encoder_heads : model.decoder_heads;
  const int head_dim = encoder ? model.encoder_head_dim() : model.decoder_head_dim();
  return std::max<double>(model.d_model, double{1} * heads * head_dim);
}

/// Returns how many numbers the vectors of a layer have per token: queries, keys and values, and at
/// most these stages of the residual stream in its blocks.
double numbers_of_layer(int blocks, double d_model, double ffn_dim) {
  constexpr double kProjections = 3, kStages = 4;
  return blocks * (kProjections + kStages) * d_model + kStages * d_model + ffn_dim;
}

/// Estimates the largest size of this sentence's record as JSON.
double record_bytes(const ApiRequest& request, const Translator& translator,
                    const DecodeConfig& decode, const PreparedSentence& sentence) {
  const ModelSummary& model = translator.summary();
  const auto source = static_cast<double>(sentence.ids.size());
  // A given translation has at most one token per byte. A translation that the model finds is
  // rarely longer than this.
  constexpr double kLonger = 2, kMore = 50;
  const double target =
      request.target
          ? static_cast<double>(request.target->size() + 1)
          : std::min(static_cast<double>(translator.max_target_tokens(decode, sentence.ids.size())),
                     kLonger * source + kMore);
  const double encoder_heads = model.encoder_layers * model.encoder_heads;
  const double decoder_heads = model.decoder_layers * model.decoder_heads;
  const double hypotheses = request.target ? 1 : decode.num_return_sequences;
  double bytes = kWeight * (encoder_heads * source * source +
                            hypotheses * decoder_heads * target * (target + source));
  if (request.vectors) {
    bytes +=
        kVectorNumber * (model.encoder_layers * source *
                             numbers_of_layer(1, width_of(model, true), model.encoder_ffn_dim) +
                         hypotheses * model.decoder_layers * (target + source) *
                             numbers_of_layer(2, width_of(model, false), model.decoder_ffn_dim));
  }
  if (request.measures) {
    bytes += kWeight * hypotheses *
             (encoder_heads * source * source + 2 * decoder_heads * target * (target + source));
  }
  if (request.tree && !request.target) {
    const double nodes = 2.0 * decode.num_beams * target;
    bytes += kWeight * nodes * decoder_heads * (target / 2 + source);
  }
  // An experiment has two records, and its second one also has the first translation of the first.
  return request.what_if.given() ? 3 * bytes : request.compare ? 2 * bytes : bytes;
}

double record_bytes(const ApiRequest& request, const Translator& translator,
                    const DecodeConfig& decode, const std::vector<PreparedSentence>& sentences) {
  double bytes = 0;
  for (const PreparedSentence& each : sentences) {
    bytes += record_bytes(request, translator, decode, each);
  }
  return bytes;
}

}  // namespace

void check_search_size(const Translator& translator, const DecodeConfig& decode,
                       const PreparedSentence& sentence) {
  const ModelSummary& model = translator.summary();
  // Keys and values of each layer, twice while beams are reordered.
  constexpr double kNumbers = 2 * 2;
  const double bytes =
      kNumbers * sizeof(float) * width_of(model, false) * model.decoder_layers * decode.num_beams *
      static_cast<double>(translator.max_target_tokens(decode, sentence.ids.size()));
  if (bytes <= max_search_bytes) return;
  throw InputError(
      "the search may take {:.0f} MB, and at most {:.0f} are allowed; ask for fewer beams, a "
      "smaller max_length or a shorter sentence",
      bytes / 1e6, max_search_bytes / 1e6);
}

void check_record_size(const ApiRequest& request, const Translator& translator,
                       const DecodeConfig& decode, const std::vector<PreparedSentence>& sentences) {
  if (!request.target) {
    for (const PreparedSentence& each : sentences) check_search_size(translator, decode, each);
  }
  const double bytes = record_bytes(request, translator, decode, sentences);
  if (bytes <= max_record_bytes) return;
  throw InputError(
      "the answer may take {:.0f} MB, and at most {:.0f} are made; ask for a shorter sentence, a "
      "smaller max_length, fewer translations, or leave tree and vectors out",
      bytes / 1e6, max_record_bytes / 1e6);
}

ApiRequest fit_page(ApiRequest request, const Translator& translator, const DecodeConfig& decode,
                    const std::vector<PreparedSentence>& sentences) {
  for (bool ApiRequest::*detail :
       {&ApiRequest::tree, &ApiRequest::vectors, &ApiRequest::measures}) {
    if (record_bytes(request, translator, decode, sentences) > max_page_detail_bytes) {
      request.*detail = false;
    }
  }
  check_record_size(request, translator, decode, sentences);
  return request;
}

}  // namespace attn
