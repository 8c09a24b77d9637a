#include "translate/head_importance.h"

#include <algorithm>
#include <stdexcept>

#include "translate/intervention.h"
#include "translate/recorder.h"

namespace attn {
namespace {

constexpr std::size_t kMostRows =
    1024;  // rows of logits at a time: 33 MB with a vocabulary of 8,000

/// Pairs that are scored together.
struct Batch {
  PackedTokens source;
  PackedTokens decoder_input;
  std::vector<int> targets;
};

std::vector<Batch> batches_of(const Transformer& model, std::span<const ReferencePair> pairs) {
  std::vector<Batch> batches;
  for (const ReferencePair& pair : pairs) {
    if (batches.empty() || batches.back().targets.size() + pair.target.size() > kMostRows) {
      batches.emplace_back();
    }
    std::vector<int> input{model.config().decoder_start_token_id};
    input.insert(input.end(), pair.target.begin(), pair.target.end() - 1);
    Batch& batch = batches.back();
    batch.source.add(pair.source);
    batch.decoder_input.add(input);
    batch.targets.insert(batch.targets.end(), pair.target.begin(), pair.target.end());
  }
  return batches;
}

/// Returns the sum of the targets' log-probabilities under an observer.
double score(const Transformer& model, const Batch& batch, AttentionObserver* observer) {
  const EncodedSource encoded = model.encode(batch.source, observer);
  const Matrix hidden = model.decode(batch.decoder_input, encoded, observer);
  Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
  model.logits(hidden, logits);
  double sum = 0;
  for (const float value : log_probabilities(logits, batch.targets, model.name()))
    sum += static_cast<double>(value);
  return sum;
}

std::vector<HeadImportance> all_heads(const ModelConfig& config) {
  std::vector<HeadImportance> heads;
  for (const AttentionSite site :
       {AttentionSite::encoder_self, AttentionSite::decoder_self, AttentionSite::cross}) {
    const bool encoder = site == AttentionSite::encoder_self;
    const int layers = encoder ? config.encoder_layers : config.decoder_layers;
    const int count = encoder ? config.encoder_heads : config.decoder_heads;
    for (int layer = 0; layer < layers; ++layer) {
      for (int head = 0; head < count; ++head) heads.push_back({site, layer, head, 0});
    }
  }
  return heads;
}

}  // namespace

HeadImportanceReport head_importance(const Transformer& model, std::span<const ReferencePair> pairs,
                                     const std::function<void(std::size_t, std::size_t)>& done) {
  const std::vector<Batch> batches = batches_of(model, pairs);
  HeadImportanceReport report;
  report.pairs = pairs.size();
  report.heads = all_heads(model.config());
  for (const Batch& batch : batches) report.tokens += batch.targets.size();
  if (report.tokens == 0) throw std::logic_error("head_importance() without any pair");
  const auto tokens = static_cast<double>(report.tokens);
  const std::size_t passes = report.heads.size() + 1;
  for (const Batch& batch : batches) report.log_prob += score(model, batch, nullptr) / tokens;
  done(1, passes);
  for (std::size_t i = 0; i < report.heads.size(); ++i) {
    HeadImportance& head = report.heads[i];
    Intervention off({{head.site, head.layer, head.head}}, {});
    for (const Batch& batch : batches) head.log_prob += score(model, batch, &off) / tokens;
    done(i + 2, passes);
  }
  std::stable_sort(
      report.heads.begin(), report.heads.end(),
      [](const HeadImportance& a, const HeadImportance& b) { return a.log_prob < b.log_prob; });
  return report;
}

}  // namespace attn
