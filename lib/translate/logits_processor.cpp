#include "translate/logits_processor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/at.h"
#include "base/error.h"

namespace attn {

RowNormaliser normaliser(std::span<const float> row) {
  RowNormaliser n;
  const auto size = std::ssize(row);
  n.finite = kernels().log_sum_exp(row.data(), size, &n.maximum, &n.log_sum);
  return n;
}

void refuse_logits(std::string_view model, Index step) {
  throw InputError(
      "{}: the logits of token {} are not finite; the weights are too large for 32-bit floats",
      model, step + 1);
}

LogitsProcessor::LogitsProcessor(const DecodeConfig& decode, const std::vector<int>& ends,
                                 int vocab_size)
    : forced_bos_(decode.forced_bos_token_id),
      forced_eos_(decode.forced_eos_token_id),
      renormalise_(decode.renormalize_logits) {
  for (const std::vector<int>& word : decode.bad_words_ids) {
    // As in `generate`: an end stays legal.
    if (word.size() == 1 && std::ranges::find(ends, word.front()) != ends.end()) continue;
    for (const int id : word) {
      if (id >= vocab_size) {
        throw InputError("bad_words_ids: id {} is outside the vocabulary of {}", id, vocab_size);
      }
    }
    bad_words_.push_back(word);
  }
  for (const auto& [key, id] :
       {std::pair{"forced_bos_token_id", forced_bos_}, {"forced_eos_token_id", forced_eos_}}) {
    if (id && *id >= vocab_size) {
      throw InputError("{} {} is outside the vocabulary of {}", key, *id, vocab_size);
    }
  }
}

RowNormaliser LogitsProcessor::process(std::span<const int> produced, int start,
                                       std::span<float> row) const {
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  if (!renormalise_) {
    const RowNormaliser normal = normaliser(row);
    forbid(produced, start, kForbidden, row);
    return normal;
  }
  // The lowest float and not −∞: it adds 0 to the sum, too, and the check for infinite logits
  // still sees only what the model made.
  forbid(produced, start, std::numeric_limits<float>::lowest(), row);
  const RowNormaliser normal = normaliser(row);
  forbid(produced, start, kForbidden, row);
  return normal;
}

void LogitsProcessor::forbid(std::span<const int> produced, int start, float value,
                             std::span<float> row) const {
  for (const std::vector<int>& word : bad_words_) {
    const std::size_t prefix = word.size() - 1;
    bool matches = prefix <= produced.size() + 1;
    for (std::size_t i = 0; matches && i < prefix; ++i) {
      // Position in the whole context, start symbol first.
      const std::size_t at = produced.size() + 1 - prefix + i;
      matches = (at == 0 ? start : produced[at - 1]) == word[i];
    }
    if (matches) at(row, word.back()) = value;
  }
}

std::optional<int> LogitsProcessor::forced(Index produced, Index most) const {
  if (produced == most - 1 && forced_eos_) return forced_eos_;
  return produced == 0 ? forced_bos_ : std::nullopt;
}

}  // namespace attn
