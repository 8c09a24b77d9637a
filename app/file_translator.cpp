#include "file_translator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "base/memory.h"
#include "base/strings/utf8.h"
#include "sentence_notes.h"
#include "terminal/console.h"
#include "terminal/progress.h"
#include "translate/translate_all.h"

namespace attn {
namespace {

using Lines = std::vector<std::string>;

const char* name_of(EarlyStopping rule) {
  switch (rule) {
    case EarlyStopping::no:
      break;
    case EarlyStopping::yes:
      return "true";
    case EarlyStopping::never:
      return "never";
  }
  return "false";
}

}  // namespace

FileTranslator::FileTranslator(const ModelOptions& model, const SearchOptions& search)
    : batch_(search.batch_size()), splitting_(search.splitting()) {
  DecodeOptions decode = search.decode();
  search.use_threads();
  keep_freed_memory();
  models_ = load_all(model);
  decode.num_return_sequences = 1;  // whatever the model's own files say: the best is scored
  translator_ = make_translator(models_, decode);
  for (const ReadyModel& ready : models_.models) {
    for (const std::string& text : ready.notes) note(printable(text));
  }
  if (const auto seed = models_.mapped().seed) {
    note(fmt::format("random weights (seed {}): the scores are those of noise", *seed));
  }
}

Lines FileTranslator::translate(const Lines& sources, TranslationRun& run) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<PreparedLine> lines;
  SentenceNotes notes;
  for (const std::string& source : sources) {
    lines.push_back(prepare_line(*translator_, source, splitting_));
    notes.add(lines.back(), 0, translator_->most_source_tokens());
  }
  const std::vector<Translation> found = search(all_parts(lines));
  Lines translations;
  auto next = found.begin();
  for (const PreparedLine& line : lines) {
    std::vector<std::vector<Translation>> parts;
    for (std::size_t i = 0; i < line.parts.size(); ++i) parts.push_back({*next++});
    const LineTranslation whole =
        join_parts(parts, line.gaps, translator_->decode_config()).front();
    translations.push_back(clean_text(whole.text).text);
    run.tokens += whole.tokens;
  }
  notes.report();
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.model = fmt::format("{}", fmt::join(models_.names(), " + "));
  run.precision = models_.mapped().precision;
  run.seed = models_.mapped().seed;
  const DecodeConfig& decode = translator_->decode_config();
  run.beams = decode.num_beams;
  run.length_penalty = decode.length_penalty;
  run.early_stopping = name_of(decode.early_stopping);
  if (decode.max_new_tokens > 0) run.max_length = decode.max_new_tokens;
  return translations;
}

std::vector<Translation> FileTranslator::search(std::vector<PreparedSentence> sentences) {
  Progress progress("translating", "sentences");
  return *translate_all(*translator_, std::move(sentences), batch_,
                        [&](const TranslatedSoFar& done) {
                          progress.update(done.sentences, done.fraction);
                          return true;
                        });
}

}  // namespace attn
