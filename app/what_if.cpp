#include "what_if.h"

#include "commands/arguments.h"

namespace attn {

namespace {

AttentionRecord recorded(const Translator& translator, const PreparedSentence& sentence,
                         const std::optional<std::string>& target, const RecordDetail& detail) {
  if (target) return translator.record_target(sentence, *target, detail);
  return std::move(translator.record({sentence}, detail).front());
}

}  // namespace

WhatIfRecord run_experiment(const Translator& translator, const WhatIfOptions& options,
                            const ExperimentSentences& sentences, const RecordDetail& detail,
                            Changes& changes) {
  if (options.needs_record()) {
    // What words name and which head is best is known once the sentence has been translated.
    const AttentionRecord unforced = recorded(translator, sentences.after, sentences.target, {});
    changes = options.changes(unforced.model, &unforced);
  }
  WhatIfRecord record = for_option("--force", [&] {
    RecordDetail of_before = detail;
    of_before.search_tree = false;
    return translator.what_if(recorded(translator, sentences.before, sentences.target, of_before),
                              sentences.after, changes, detail);
  });
  record.after.changes = options.described(changes);
  if (sentences.target) {
    record.after.decoding = record.before.decoding;
    record.after.hypotheses = {record.replayed};
  }
  return record;
}

}  // namespace attn
