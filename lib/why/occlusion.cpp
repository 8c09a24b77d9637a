#include "why/occlusion.h"

#include <algorithm>

#include "base/at.h"
#include "translate/recorder.h"
#include "why/logit_rows.h"

namespace attn {
namespace {

/// Number of tokens that a batch of changed sentences may have, unless a single sentence has more.
constexpr Index kMostTokens = 2048;

/// The changed sentences that have not been scored yet, and where to store the decreases.
class Batch {
 public:
  Batch(const Transformer& model, const Trace& trace, std::span<const float> full)
      : model_(model), trace_(trace), full_(full) {}

  void add(const std::vector<int>& source, NdArray& falls, Index column) {
    const Index tokens = std::ssize(source_.ids) + std::ssize(target_.ids);
    if (tokens > 0 && tokens + std::ssize(source) > kMostTokens) run();
    source_.add(source);
    target_.add(trace_.decoder_input);
    places_.emplace_back(&falls, column);
  }

  void run() {
    if (places_.empty()) return;
    const Matrix hidden = model_.decode(target_, model_.encode(source_));
    const Index steps = std::ssize(trace_.written);
    std::vector<int> written;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      written.insert(written.end(), trace_.written.begin(), trace_.written.end());
    }
    const std::vector<float> log_probs = written_log_probs(model_, hidden, written);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto [falls, column] = places_[i];
      for (Index t = 0; t < steps; ++t) {
        (*falls)(t, column) = at(full_, t) - at(log_probs, to_index(i) * steps + t);
      }
    }
    source_ = {};
    target_ = {};
    places_.clear();
  }

 private:
  const Transformer& model_;
  const Trace& trace_;
  std::span<const float> full_;
  PackedTokens source_;
  PackedTokens target_;
  std::vector<std::pair<NdArray*, Index>> places_;
};

}  // namespace

std::vector<OccludedSpan> single_tokens(std::span<const int> source, int eos) {
  std::vector<OccludedSpan> spans;
  const std::size_t count = source.size() - (!source.empty() && source.back() == eos ? 1 : 0);
  for (std::size_t s = 0; s < count; ++s) spans.push_back({to_int(s), 1});
  return spans;
}

Occlusion occlude(const Transformer& model, const Trace& trace, std::span<const OccludedSpan> spans,
                  int unk) {
  const Index T = std::ssize(trace.written), N = std::ssize(spans);
  Occlusion out{NdArray({T, N}), NdArray({T, N})};
  const std::vector<float> full = written_log_probs(model, trace.decoder.output, trace.written);
  Batch batch(model, trace, full);
  for (Index n = 0; n < N; ++n) {
    const auto [first, count] = at(spans, n);
    std::vector<int> replaced = trace.source;
    std::fill_n(replaced.begin() + first, count, unk);
    batch.add(replaced, out.unk, n);
    std::vector<int> dropped = trace.source;
    dropped.erase(dropped.begin() + first, dropped.begin() + first + count);
    if (!dropped.empty()) batch.add(dropped, out.drop, n);
  }
  batch.run();
  return out;
}

std::vector<float> written_log_probs(const Transformer& model, const ConstMatrixRef& hidden,
                                     std::span<const int> ids) {
  std::vector<float> all;
  for_logit_rows(model, hidden, [&](Index first, const Matrix& logits) {
    const auto part = ids.subspan(to_size(first), to_size(logits.rows()));
    for (const float value : log_probabilities(logits, part, model.name())) all.push_back(value);
  });
  return all;
}

}  // namespace attn
