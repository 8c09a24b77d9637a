#include "why/word_receipts.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/at.h"

namespace attn {
namespace {

float sum_of(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0F);
}

/// Sums one step of an attention's items [T, L, H, S] over the layers, the heads and the keys of a
/// word.
float items_of(const NdArray& items, Index step, const Word& word, int offset) {
  float sum = 0;
  for (Index l = 0; l < items.shape[1]; ++l) {
    for (Index h = 0; h < items.shape[2]; ++h) {
      const auto row = items.row(step, l, h);
      for (int s = word.first + offset; s < word.first + offset + word.count; ++s) {
        if (s < to_int(row.size())) sum += at(row, s);
      }
    }
  }
  return sum;
}

/// Returns the group of target tokens that the decoder's input has at a position; position 0 is the
/// start symbol.
const Word* word_at(const std::vector<Word>& target, int token) {
  const auto found = std::ranges::find_if(target, [&](const Word& word) {
    return word.first <= token && token < word.first + word.count;
  });
  return found == target.end() ? nullptr : &*found;
}

/// Returns the receipt of one step, grouped by words.
ReceiptSum sum_step(const Why& why, const Receipt& r, const WhyUnits& units, Index t) {
  ReceiptSum sum;
  for (const Word& word : units.source) {
    sum.source.push_back({word.text, items_of(r.cross, t, word, 0)});
  }
  const Word start{why.decoder_input.tokens.front(), 0, 1};
  const float token = r.token(t);  // the embedding read at this step
  sum.prefix.push_back({start.text, items_of(r.self, t, start, 0) + (t == 0 ? token : 0)});
  const Word* read = t == 0 ? nullptr : word_at(units.target, to_int(t) - 1);
  for (const Word& word : units.target) {
    if (word.first >= to_int(t)) break;
    // Written token i is position i + 1 of the decoder's input.
    const float own = &word == read ? token : 0;
    sum.prefix.push_back({word.text, items_of(r.self, t, word, 1) + own});
  }
  sum.feed_forward = sum_of(r.ffn.row(t));
  sum.position = r.position(t);
  sum.biases = sum_of(r.self_out_bias.row(t)) + sum_of(r.cross_out_bias.row(t)) +
               r.final_norm_bias(t) + r.output_bias(t);
  for (Index l = 0; l < r.norm_bias.shape[1]; ++l) sum.biases += sum_of(r.norm_bias.row(t, l));
  if (!r.embedding_norm_bias.empty()) sum.biases += r.embedding_norm_bias(t);
  return sum;
}

void add_entries(const std::vector<ReceiptEntry>& from, std::vector<ReceiptEntry>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i == to.size()) to.push_back({from[i].text, 0});
    to[i].value += from[i].value;
  }
}

void add_sum(const ReceiptSum& from, ReceiptSum& to) {
  add_entries(from.source, to.source);
  add_entries(from.prefix, to.prefix);
  to.feed_forward += from.feed_forward;
  to.biases += from.biases;
  to.position += from.position;
}

WordReceipt receipt_of(const Why& why, const WhyUnits& units, const Word& word) {
  WordReceipt receipt;
  receipt.word = word;
  for (int t = word.first; t < word.first + word.count; ++t) {
    receipt.log_prob += why.log_probs(t);
    add_sum(sum_step(why, *why.receipt, units, t), receipt.logit);
  }
  int step = word.first;
  if (units.foil_step >= 0) {
    step = units.foil_step;
    receipt.foil.given = true;
  }
  receipt.foil.step = step;
  receipt.foil.word = at(why.target.tokens, step);
  receipt.foil.text = at(why.foil.tokens, step);
  receipt.foil.difference = sum_step(why, *why.contrast_receipt, units, step);
  return receipt;
}

}  // namespace

WordReceipts word_receipts(const Why& why, const WhyUnits& units) {
  if (!why.receipt || !why.contrast_receipt) throw std::logic_error("no receipt was computed");
  WordReceipts receipts{why.source_text, why.target_text, {}};
  for (const Word& word : units.shown) receipts.words.push_back(receipt_of(why, units, word));
  if (why.decoder_lens) receipts.decoder_lens = why.decoder_lens->texts;
  return receipts;
}

}  // namespace attn
