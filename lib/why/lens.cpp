#include "why/lens.h"

#include <algorithm>

#include "base/at.h"
#include "model/layers.h"
#include "translate/recorder.h"
#include "translate/search/search.h"
#include "why/logit_rows.h"
#include "why/occlusion.h"

namespace attn {
namespace {

constexpr int kLensTokens = 5;

/// Returns a decoder state as the output table reads it.
Matrix through_final_norm(const Transformer& model, Matrix state) {
  const ModelConfig& config = model.config();
  if (config.add_final_layer_norm) model.parameters().decoder.final_norm.forward(state, state);
  if (config.scale_output) state *= output_scale(config);
  return state;
}

void append(Alternatives& to, const Alternatives& part) {
  to.count = part.count;
  to.ids.insert(to.ids.end(), part.ids.begin(), part.ids.end());
  to.logits.insert(to.logits.end(), part.logits.begin(), part.logits.end());
  to.log_probs.insert(to.log_probs.end(), part.log_probs.begin(), part.log_probs.end());
  to.ranks.insert(to.ranks.end(), part.ranks.begin(), part.ranks.end());
}

/// Returns the encoder's state after `layers` layers, as the decoder would read it.
EncodedSource encoded_after(const Transformer& model, const Trace& trace, std::size_t layers) {
  EncodedSource source;
  source.rows = trace.encoder.state(layers);
  source.offsets = {0, source.rows.rows()};
  const LayerNorm& norm = model.parameters().encoder.final_norm;
  if (model.config().add_final_layer_norm) norm.forward(source.rows, source.rows);
  return source;
}

}  // namespace

LogitLens logit_lens(const Transformer& model, const Trace& trace) {
  LogitLens lens;
  for (std::size_t l = 0; l <= trace.decoder.layers.size(); ++l) {
    const Matrix state = through_final_norm(model, trace.decoder.state(l));
    Alternatives& likeliest = lens.states.emplace_back();
    for_logit_rows(model, state, [&](Index first, const Matrix& logits) {
      const auto written = std::span(trace.written).subspan(to_size(first), to_size(logits.rows()));
      append(likeliest, likeliest_tokens(logits, written, kLensTokens));
    });
  }
  return lens;
}

DecoderLens decoder_lens(const Transformer& model, const Trace& trace, const DecodeConfig& decode) {
  DecodeConfig greedy = decode;
  greedy.num_beams = 1;
  greedy.num_return_sequences = 1;
  greedy.sampling.reset();
  const std::size_t states = trace.encoder.layers.size() + 1;
  DecoderLens lens;
  lens.log_probs = NdArray({to_index(states), std::ssize(trace.written)});
  for (std::size_t k = 0; k < states; ++k) {
    const EncodedSource encoded = encoded_after(model, trace, k);
    const SearchContext context{.encoded = &encoded};
    lens.ids.push_back(
        search(model, one_sentence(trace.source), greedy, context).front().front().ids);
    const Matrix hidden = model.decode(one_sentence(trace.decoder_input), encoded);
    const std::vector<float> log_probs = written_log_probs(model, hidden, trace.written);
    std::copy(log_probs.begin(), log_probs.end(), lens.log_probs.row(k).begin());
  }
  return lens;
}

}  // namespace attn
