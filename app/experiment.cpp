#include "experiment.h"

#include "arguments.h"

namespace attn {

WhatIfRecord run_experiment(const Translator& translator, const WhatIfOptions& options,
                            const ExperimentSentences& sentences, const RecordDetail& detail,
                            Changes& changes) {
  if (options.needs_record()) {
    // What words name and which head is best is known once the sentence has been translated.
    const AttentionRecord unforced = std::move(translator.record({sentences.after}).front());
    changes = options.changes(unforced.model, &unforced);
  }
  WhatIfRecord record = for_option("--force", [&] {
    return translator.what_if(sentences.before, sentences.after, changes, detail);
  });
  record.after.changes = options.described(changes);
  return record;
}

}  // namespace attn
