#include "terminal/receptive_report.h"

#include "base/at.h"
#include "config/patterns/sparse_pattern.h"
#include "nn/attention/attention_mask.h"

namespace attn {

ReceptiveField encoder_receptive_field(const ModelConfig& config, int tokens, int side) {
  const AttentionPattern& pattern = config.encoder_attention;
  const Index heads = sparse_pattern(pattern).differs_per_head() ? config.encoder_heads : 1;
  std::vector<std::vector<PatternCells>> seen(to_size(config.encoder_layers));
  std::vector<LayerCells> layers(seen.size());
  // The rows of a model's own global tokens stand before the sentence and move nothing in it.
  AttentionGroup group{0, 0, tokens, 0, tokens, nullptr, {}, pattern.globals};
  for (Index layer = 0; layer < config.encoder_layers; ++layer) {
    const AttentionShape shape{AttentionSite::encoder_self, layer, heads, 1, 1.0F, &pattern};
    if (is_dense(shape, group)) continue;
    for (Index head = 0; head < heads; ++head) {
      at(seen, layer).push_back(pattern_cells(shape, group, head));
    }
    for (const PatternCells& cells : at(seen, layer)) at(layers, layer).heads.push_back(&cells);
  }
  return receptive_field(layers, tokens, side, config.global_tokens > 0);
}

}  // namespace attn
