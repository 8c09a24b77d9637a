// Tests the panel of one head with few tokens: the map is small, but its title needs room.
#include <doctest/doctest.h>

#include "view/svg/map/map_panels.h"
#include "view/svg/svg_text.h"

namespace attn::test {

TEST_CASE("a panel is as wide as its headings, however few its tokens are") {
  const std::vector<float> weights{1, 0, 0, 1};
  AttentionMaps maps{1, 1, 2, 2, weights};
  const MapSource subject{AttentionSite::encoder_self, maps, {{"a", "b"}, {}, {"a", "b"}}};
  struct Case {
    MapPart part;
    const char* heading;
  };
  for (const Case& one :
       {Case{MapPart::weights, "encoder:0:0 (of 1 layer × 1 head)"},
        Case{MapPart::exact, "exact: softmax of all scores"},
        Case{MapPart::difference, "difference: 0.00 of a row's weight lies elsewhere"},
        Case{MapPart::projected_values, "F of layer 0: tokens in a mixture's value"}}) {
    CAPTURE(one.heading);
    const Panel panel = head_panel(subject, {0, 0, weights, {}, one.part});
    CHECK(panel.svg.find(one.heading) != std::string::npos);
    CHECK(panel.width >= text_width(one.heading, 13, FontWeight::bold));
  }
  const Panel all = overview_panel(subject, nullptr);
  CHECK(all.width >= text_width("All heads: 1 layer × 1 head", 13, FontWeight::bold));
}

}  // namespace attn::test
