#include "analysis/annotate.h"

#include "analysis/head_statistics.h"

namespace attn {

void annotate(AttentionRecord& record, const AnnotationOptions& wanted) {
  for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
    HypothesisRecord& hypothesis = record.hypotheses[i];
    if (wanted.report) {
      HeadStatistics statistics;
      statistics.add(record, i);
      HeadReport report = statistics.report();
      record.encoder_report = std::move(report.encoder_self);
      hypothesis.decoder_report = std::move(report.decoder_self);
      hypothesis.cross_report = std::move(report.cross);
    }
    if (wanted.alignment) hypothesis.alignment = align(record, i, *wanted.alignment);
  }
}

}  // namespace attn
