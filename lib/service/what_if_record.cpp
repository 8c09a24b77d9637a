#include "service/what_if_record.h"

#include <utility>

#include "base/strings/utf8.h"
#include "service/field_text.h"

namespace attn {

AttentionRecord record_sentence(const Translator& translator, const PreparedSentence& sentence,
                                const std::optional<std::string>& target,
                                const RecordDetail& detail) {
  if (target) return translator.record_target(sentence, *target, detail);
  return std::move(translator.record({sentence}, detail).front());
}

WhatIfSentences what_if_sentences(const Translator& translator, const WhatIfOptions& words,
                                         PreparedSentence before,
                                         std::optional<std::string> target) {
  WhatIfSentences sentences{before, before, std::move(target)};
  if (!words.swap.empty()) sentences.after = translator.prepare(words.with_swapped_words(before.text));
  return sentences;
}

WhatIfRecord apply_what_if(const Translator& translator, const WhatIfOptions& words,
                            const WhatIfSentences& sentences, const RecordDetail& detail,
                            ModelChanges* changes) {
  ModelChanges made = words.changes(translator.summary());
  if (words.needs_record()) {
    // What words name and which head is best is known once the sentence has been translated.
    const AttentionRecord unforced =
        record_sentence(translator, sentences.after, sentences.target, {});
    made = words.changes(unforced.model, &unforced);
  }
  WhatIfRecord record = for_field("force", [&] {
    RecordDetail of_before = detail;
    of_before.search_tree = false;
    return translator.what_if(
        record_sentence(translator, sentences.before, sentences.target, of_before), sentences.after,
        made, detail);
  });
  record.after.changes = words.described(made);
  if (sentences.target) {
    record.after.decoding = record.before.decoding;
    record.after.hypotheses = {record.teacher_forced};
  }
  if (changes != nullptr) *changes = std::move(made);
  return record;
}

}  // namespace attn
