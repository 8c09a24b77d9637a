#include "view/svg/map/map_panels.h"

namespace attn {
namespace {

void add_exact(std::vector<Panel>& panels, const MapSource& source, const LargeMap& large,
               std::span<const float> exact) {
  LargeMap beside = large;
  beside.weights = exact;
  beside.part = MapPart::exact;
  panels.push_back(head_panel(source, beside));
  std::vector<float> difference(large.weights.begin(), large.weights.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= exact[i];
  beside.weights = difference;
  beside.part = MapPart::difference;
  panels.push_back(head_panel(source, beside));
}

}  // namespace

std::vector<Panel> side_panels(const MapSource& source, const LargeMap& large,
                                 std::span<const float> exact_mean) {
  std::vector<Panel> panels;
  const AttentionMaps& maps = source.maps;
  const bool one = large.layer && large.head;
  if (one && source.relative_bias != nullptr) {
    panels.push_back(relative_bias_panel(source, {*large.layer, *large.head}));
  }
  if (!maps.approximation) return panels;
  if (maps.has_projected_keys() && large.layer) {
    for (const MapPart part : {MapPart::projected_keys, MapPart::projected_values}) {
      const auto mixing = maps.projection(*large.layer, part == MapPart::projected_values);
      panels.push_back(head_panel(source, {large.layer, std::nullopt, mixing, {}, part}));
    }
  }
  const std::span<const float> exact = one ? maps.exact(*large.layer, *large.head) : exact_mean;
  if (!exact.empty()) add_exact(panels, source, large, exact);
  if (one && maps.hashed(0, 0) != nullptr) {
    panels.push_back(lsh_bucket_panel(source, {*large.layer, *large.head}));
  }
  return panels;
}

}  // namespace attn
