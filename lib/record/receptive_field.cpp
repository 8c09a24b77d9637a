#include "record/receptive_field.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace attn {
namespace {

constexpr int word_bits = 64;

/// A set of tokens for every token.
class TokenSets {
 public:
  explicit TokenSets(int tokens)
      : tokens_(tokens),
        words_((tokens + word_bits - 1) / word_bits),
        bits_(to_size(tokens) * to_size(words_)) {}

  void add(int row, int token) { word(row, token / word_bits) |= bit(token); }
  std::uint64_t& word(int row, int w) { return at(bits_, to_index(row) * words_ + w); }
  std::uint64_t word(int row, int w) const { return at(bits_, to_index(row) * words_ + w); }

  void join(int row, const TokenSets& other, int other_row) {
    std::uint64_t* const to = bits_.data() + to_index(row) * words_;
    const std::uint64_t* const from = other.bits_.data() + to_index(other_row) * words_;
    for (int w = 0; w < words_; ++w) to[w] |= from[w];
  }
  void fill(int row) {
    for (int token = 0; token < tokens_; ++token) add(row, token);
  }
  int count(int row) const {
    int sum = 0;
    for (int w = 0; w < words_; ++w) sum += std::popcount(word(row, w));
    return sum;
  }

  /// Calls f(token) for the tokens of `row` that are not in `before`.
  template <typename F>
  void for_each_new(const TokenSets& before, int row, F&& f) const {
    for (int w = 0; w < words_; ++w) {
      for (std::uint64_t rest = word(row, w) & ~before.word(row, w); rest != 0; rest &= rest - 1) {
        f(w * word_bits + std::countr_zero(rest));
      }
    }
  }

 private:
  static std::uint64_t bit(int token) { return std::uint64_t{1} << token % word_bits; }
  int tokens_;
  int words_;
  std::vector<std::uint64_t> bits_;
};

/// Adds to `row` the tokens that it sees after one more layer.
void see(TokenSets& now, const TokenSets& before, const LayerCells& layer, int row, int tokens) {
  for (const PatternCells* head : layer.heads) {
    for (const CellRun& run : head->row(row)) {
      for (int key = run.first; key < run.end; ++key) {
        now.join(row, before, key);
        // Many rows of long sentences fill up at the same time.
        if (key % word_bits == 0 && now.count(row) == tokens) return;
      }
    }
  }
}

void note(ReceptiveField& field, int layer, const TokenSets& now, const TokenSets& before) {
  const int tokens = field.tokens;
  const auto block = [&](int token) {
    return static_cast<int>(std::int64_t{token} * field.side / tokens);
  };
  ReceptiveFieldSize reach{tokens, 0, 0, layer > 0 ? field.after.back().max_distance : 0};
  std::int64_t sum = 0;
  for (int row = 0; row < tokens; ++row) {
    const int seen = now.count(row);
    reach.least = std::min(reach.least, seen);
    reach.most = std::max(reach.most, seen);
    sum += seen;
    int* const picture = field.first.data() + to_index(block(row)) * field.side;
    now.for_each_new(before, row, [&](int token) {
      reach.max_distance = std::max(reach.max_distance, std::abs(row - token));
      int& first = picture[block(token)];
      if (first == 0) first = layer + 1;
    });
  }
  reach.mean = static_cast<double>(sum) / std::max(1, tokens);
  field.after.push_back(reach);
}

}  // namespace

ReceptiveField receptive_field(std::span<const LayerCells> layers, int tokens, int max_side,
                               bool has_global_tokens) {
  ReceptiveField field{tokens, std::min(tokens, max_side), {}, {}};
  field.first.resize(to_size(field.side) * to_size(field.side));
  TokenSets before(tokens);
  TokenSets now(tokens);
  for (int row = 0; row < tokens; ++row) now.add(row, row);
  for (int layer = 0; layer < to_int(layers.size()); ++layer) {
    before = now;
    const LayerCells& layer_cells = at(layers, layer);
    for (int row = 0; row < tokens; ++row) {
      if (layer_cells.heads.empty() || (has_global_tokens && layer > 0)) {
        now.fill(row);
      } else if (before.count(row) < tokens) {
        see(now, before, layer_cells, row, tokens);
      }
    }
    // A token has seen itself before the first layer; the picture shows it with the first layer.
    note(field, layer, now, layer == 0 ? TokenSets(tokens) : before);
  }
  return field;
}

ReceptiveField receptive_field(const AttentionMaps& maps) {
  std::vector<LayerCells> layers(to_size(maps.layers));
  for (int place = 0; place < maps.layers * maps.heads; ++place) {
    std::vector<const PatternCells*>& heads = at(layers, place / maps.heads).heads;
    const PatternCells* seen = maps.pattern_cells_of(place / maps.heads, place % maps.heads);
    if (std::find(heads.begin(), heads.end(), seen) == heads.end()) heads.push_back(seen);
  }
  return receptive_field(layers, maps.queries, maps.queries, maps.seen->non_token_weights.any());
}

std::vector<ReceptiveFieldBounds> lsh_receptive_field_bounds(int tokens, int chunk, int rounds,
                                                             int layers) {
  std::vector<ReceptiveFieldBounds> bounds;
  // At least two chunks are seen, one of which may be the round's last and not full. At most, each
  // round gives other tokens besides the token itself.
  const int last = (tokens - 1) % chunk + 1;
  const int least = tokens <= chunk ? tokens : chunk + last;
  const std::int64_t in_a_layer =
      tokens <= chunk ? tokens : std::int64_t{rounds} * (2 * std::int64_t{chunk} - 1) + 1;
  std::int64_t most = 1;
  for (int layer = 0; layer < layers; ++layer) {
    most = std::min(std::int64_t{tokens}, most * std::min(std::int64_t{tokens}, in_a_layer));
    bounds.push_back({least, to_int(most)});
  }
  return bounds;
}

}  // namespace attn
