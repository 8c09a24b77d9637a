#include "view/svg/map/map_panels.h"

namespace attn {
namespace {

void add_exact(std::vector<Panel>& panels, const MapSubject& subject, const LargeMap& large,
               std::span<const float> exact) {
  LargeMap beside = large;
  beside.weights = exact;
  beside.part = MapPart::exact;
  panels.push_back(head_panel(subject, beside));
  std::vector<float> difference(large.weights.begin(), large.weights.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= exact[i];
  beside.weights = difference;
  beside.part = MapPart::difference;
  panels.push_back(head_panel(subject, beside));
}

}  // namespace

std::vector<Panel> beside_panels(const MapSubject& subject, const LargeMap& large,
                                 std::span<const float> exact_mean) {
  std::vector<Panel> panels;
  const AttentionMaps& maps = subject.maps;
  const bool one = large.layer && large.head;
  if (one && subject.distances != nullptr) {
    panels.push_back(distance_panel(subject, {*large.layer, *large.head}));
  }
  if (!maps.approximation) return panels;
  if (maps.mixed() && large.layer) {
    for (const MapPart part : {MapPart::mixed_keys, MapPart::mixed_values}) {
      const auto mixing = maps.mixing(*large.layer, part == MapPart::mixed_values);
      panels.push_back(head_panel(subject, {large.layer, std::nullopt, mixing, {}, part}));
    }
  }
  const std::span<const float> exact = one ? maps.exact(*large.layer, *large.head) : exact_mean;
  if (!exact.empty()) add_exact(panels, subject, large, exact);
  if (one && maps.hashed(0, 0) != nullptr) {
    panels.push_back(hash_panel(subject, {*large.layer, *large.head}));
  }
  return panels;
}

}  // namespace attn
