#include "explain/telling_query.h"

#include <algorithm>
#include <vector>

#include "base/at.h"
#include "record/words.h"

namespace attn {
namespace {

/// What a row gives to the pieces of a word.
float weight_on(const AttentionMaps& maps, const ExplainedHead& choice, int row, const Word& word) {
  float sum = 0;
  for (int key = word.first; key < std::min(word.first + word.count, maps.keys); ++key) {
    sum += maps.at(choice.layer, choice.head, row, key);
  }
  return sum;
}

}  // namespace

int most_informative_query(const AttentionRecord& record, const ExplainedHead& choice) {
  if (choice.hypothesis >= record.hypotheses.size()) return 0;
  const HypothesisRecord& found = record.hypotheses[choice.hypothesis];
  const RecordWords words = words_in_record(record, choice.hypothesis);
  const bool encoder = choice.site == AttentionSite::encoder_self;
  const bool decoder = choice.site == AttentionSite::decoder_self;
  const AttentionMaps& maps =
      encoder ? record.encoder_self : (decoder ? found.decoder_self : found.cross);
  if (choice.layer >= maps.layers || choice.head >= maps.heads || maps.has_projected_keys()) return 0;
  const std::vector<Word> rows = content_words(encoder ? words.source : words.target);
  const std::vector<Word> keys =
      content_words(decoder ? by_reading_step(words.target, maps.keys) : words.source);
  int best = 0;
  float most = 0;
  for (const Word& row : rows) {
    if (row.first >= maps.queries) continue;
    for (const Word& key : keys) {
      if (encoder && key.first == row.first) continue;
      const float weight = weight_on(maps, choice, row.first, key);
      if (weight <= most) continue;
      most = weight;
      best = row.first;
    }
  }
  return best;
}

}  // namespace attn
