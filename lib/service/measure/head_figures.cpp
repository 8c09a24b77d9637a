#include "service/measure/head_figures.h"

#include "analysis/head_statistics.h"
#include "analysis/pharaoh.h"
#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "service/progress.h"
#include "service/search_settings.h"

namespace attn {
namespace {

/// Whether pieces of both sides fit the model's positions.
bool fits(const ReadyModel& model, const PreparedSentence& source, const std::string& target) {
  const auto most = to_size(model.transformer->config().max_pair_length());
  const std::size_t length = model.tokenizer->encode_target(clean_text(target).text).ids.size();
  return !source.empty() && source.truncated_tokens == 0 && length > 1 && length <= most;
}

}  // namespace

HeadReport measure_heads(const ReadyModel& model, const std::vector<std::string>& source,
                        const std::vector<std::string>& target, const std::string& gold,
                        std::string& note) {
  std::vector<GoldAlignment> alignments;
  if (!gold.empty()) {
    alignments = parse_pharaoh(read_text_file(gold), printable(gold));
    if (alignments.size() != source.size()) {
      throw InputError("{} has {} lines, and there are {} pairs; expected a line for each",
                       printable(gold), alignments.size(), source.size());
    }
  }
  const std::unique_ptr<Translator> translator = make_translator(model, {});
  HeadStatistics statistics;
  Progress progress("looking at heads", "pairs");
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const PreparedSentence sentence = translator->prepare(source[i]);
    if (!fits(model, sentence, target[i])) {
      ++left_out;
      continue;
    }
    const AttentionRecord record = translator->record_target(sentence, target[i]);
    if (gold.empty()) {
      statistics.add(record);
    } else {
      statistics.add(record, 0, alignments[i], fmt::format("{}:{}", printable(gold), i + 1));
    }
    progress.update_of(i + 1, source.size());
  }
  if (left_out == source.size()) {
    throw InputError("no pair of sentences is left: all are empty or too long for the model");
  }
  if (left_out > 0) {
    note = fmt::format("{} of {} pairs left out: empty, or longer than the model's positions",
                       left_out, source.size());
  }
  return statistics.report();
}

}  // namespace attn
