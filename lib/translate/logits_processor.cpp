#include "translate/logits_processor.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace attn {

RowNormaliser normaliser(std::span<const float> row) {
  RowNormaliser n;
  kernels().log_sum_exp(row.data(), static_cast<Index>(row.size()), &n.maximum, &n.log_sum);
  return n;
}

LogitsProcessor::LogitsProcessor(const DecodeConfig& decode, int eos_token_id, int vocab_size)
    : forced_eos_(decode.forced_eos_token_id), renormalise_(decode.renormalize_logits) {
  for (const std::vector<int>& word : decode.bad_words_ids) {
    if (word == std::vector<int>{eos_token_id}) continue;  // as in `generate`: the end stays legal
    for (const int id : word) {
      if (id >= vocab_size) {
        throw InputError("bad_words_ids: id {} is outside the vocabulary of {}", id, vocab_size);
      }
    }
    bad_words_.push_back(word);
  }
  if (forced_eos_ && *forced_eos_ >= vocab_size) {
    throw InputError("forced_eos_token_id {} is outside the vocabulary of {}", *forced_eos_,
                     vocab_size);
  }
}

void LogitsProcessor::forbid(std::span<const int> produced, int start, std::span<float> row) const {
  for (const std::vector<int>& word : bad_words_) {
    const std::size_t prefix = word.size() - 1;
    bool matches = prefix <= produced.size() + 1;
    for (std::size_t i = 0; matches && i < prefix; ++i) {
      // Position in the whole context, start symbol first.
      const std::size_t at = produced.size() + 1 - prefix + i;
      matches = (at == 0 ? start : produced[at - 1]) == word[i];
    }
    if (matches)
      row[static_cast<std::size_t>(word.back())] = -std::numeric_limits<float>::infinity();
  }
}

std::optional<int> LogitsProcessor::forced(Index produced, Index most) const {
  return produced == most - 1 ? forced_eos_ : std::nullopt;
}

}  // namespace attn
