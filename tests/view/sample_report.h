// Head reports and alignments for the views' tests, made here so that the tests need no other
// library.
#pragma once

#include "record/head_report.h"

namespace attn::test {

/// Returns metrics that all differ: each is 0.01 more than the previous one.
inline SiteReport sample_kind(AttentionSite kind, int layers, int heads) {
  SiteReport report{kind, layers, heads, {}, 12};
  float next = 0.1F;
  const auto figure = [&next] { return std::optional<float>(next += 0.01F); };
  for (int i = 0; i < layers * heads; ++i) {
    HeadMetrics metrics;
    metrics.entropy = figure();
    metrics.distance = figure();
    metrics.diagonality = figure();
    metrics.end_mass = figure();
    metrics.punctuation_mass = figure();
    if (kind == AttentionSite::cross) {
      metrics.alignment = figure();
      metrics.read_alignment = *metrics.alignment / 2;
    }
    report.metrics.push_back(metrics);
  }
  return report;
}

inline HeadReport sample_report(int layers = 2, int heads = 2) {
  HeadReport report;
  report.model = "sample";
  report.sentences = 3;
  report.encoder_self = sample_kind(AttentionSite::encoder_self, layers, heads);
  report.decoder_self = sample_kind(AttentionSite::decoder_self, layers, heads);
  report.cross = sample_kind(AttentionSite::cross, layers, heads);
  for (int layer = layers; layer-- > 0;) {
    for (int head = heads; head-- > 0;) report.best.push_back({layer, head});
  }
  return report;
}

/// Returns a report with gold scores: of 8 links that head i found, i are right, and gold has 10.
inline HeadReport gold_report() {
  HeadReport report = sample_report();
  report.gold_pairs = 2;
  report.gold_skipped = 1;
  for (std::size_t i = 0; i < report.cross.metrics.size(); ++i) {
    report.cross.metrics[i].gold = GoldScore{8, 10, i, i};
    report.cross.metrics[i].read_gold = GoldScore{8, 10, 0, 0};
  }
  report.gold_choices = {{"layer:0", {8, 10, 4, 4}}, {"average", {8, 10, 5, 6}}, {"rollout", {}}};
  return report;
}

}  // namespace attn::test
