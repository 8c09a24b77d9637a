#include "train/probe.h"

#include "base/at.h"
#include "translate/alternatives.h"
#include "translate/translator.h"

namespace attn {

AttentionRecord probe_record(const Transformer& model, const Tokenizer& tokenizer,
                             const TrainerSetup& setup, std::uint64_t update) {
  DecodeConfig search = setup.decode;
  // A model that has learned nothing does not end, and its maps would fill the disk.
  const std::size_t length =
      tokenizer.encode_source(setup.probe, setup.languages.source).ids.size();
  if (to_size(search.max_new_tokens) > 2 * length + 10) search.max_new_tokens = 0;
  Translator translator(model, tokenizer, search);
  ModelSummary summary = summarise(setup.model);
  summary.name = setup.title;
  summary.update = update;
  translator.describe(std::move(summary));
  translator.speak(setup.languages);
  const RecordDetail detail{false, false, recorded_alternatives};
  const PreparedSentence sentence = translator.prepare(setup.probe);
  return setup.probe_target.empty()
             ? translator.record({sentence}, detail).front()
             : translator.record_target(sentence, setup.probe_target, detail);
}

}  // namespace attn
