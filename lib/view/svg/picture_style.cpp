#include "view/svg/picture_style.h"

#include <string_view>

#include "view/color.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr std::string_view light_style = R"(
.attn-picture text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums;font-size:12px;fill:#1f2328}
.attn-picture .title{font-size:18px;font-weight:600}
.attn-picture .sentence{font-size:14px}
.attn-picture .heading{font-size:13px;font-weight:600}
.attn-picture .quiet{fill:#59636e}
.attn-picture .small{font-size:11px}
.attn-picture .label-9{font-size:9px}
.attn-picture .label-10{font-size:10px}
.attn-picture .label-11{font-size:11px}
.attn-picture .middle{text-anchor:middle}
.attn-picture .end{text-anchor:end}
.attn-picture .value{text-anchor:middle;fill:#000000}
.attn-picture .value.strong{fill:#ffffff}
.attn-picture .value.faint{fill:#626c77}
.attn-picture .numbers-8 .value{font-size:8.5px}
.attn-picture .numbers-10 .value{font-size:10px}
.attn-picture .page{fill:#ffffff}
.attn-picture .cell rect,.attn-picture .cells,.attn-picture .bar{shape-rendering:crispEdges}
.attn-picture .masked{fill:url(#attn-hatch)}
.attn-picture .hatch-ground{fill:#ffffff}
.attn-picture .hatch-line{stroke:#c6ccd3;stroke-width:1.5}
.attn-picture .odd{fill:#f6c244;stroke:none}
.attn-picture .frame{fill:none;stroke:#9aa3ad;stroke-width:1}
.attn-picture .chosen{fill:none;stroke:#c2500a;stroke-width:2}
.attn-picture .tick-line{stroke:#9aa3ad;stroke-width:1}
.attn-picture .edge{fill:none;stroke:#59636e;stroke-width:1.25}
.attn-picture .dropped .edge{stroke:#b3bbc4;stroke-width:1;stroke-dasharray:3 3}
.attn-picture .best .edge{stroke:#0957a2;stroke-width:3}
.attn-picture .box{fill:#eef3f8;stroke:#9aa3ad;stroke-width:1}
.attn-picture .dropped .box{fill:none;stroke:none}
.attn-picture .dropped text{fill:#6b7580}
.attn-picture .best .box{fill:#d1e6f1;stroke:#0957a2;stroke-width:2}
.attn-picture .best .token{font-weight:600}
.attn-picture .end-mark{fill:#59636e}
.attn-picture .best .end-mark{fill:#0957a2}
)";

// Only on a screen: a printed page is white.
constexpr std::string_view dark_style = R"(@media screen and (prefers-color-scheme:dark){
.attn-picture text{fill:#e6edf3}
.attn-picture .quiet{fill:#9aa4af}
.attn-picture .value{fill:#ffffff}
.attn-picture .value.strong{fill:#000000}
.attn-picture .value.faint{fill:#9aa4af}
.attn-picture .page{fill:#0d1117}
.attn-picture .hatch-ground{fill:#0d1117}
.attn-picture .hatch-line{stroke:#39424d}
.attn-picture .odd{fill:#d29922}
.attn-picture .frame,.attn-picture .tick-line{stroke:#515b66}
.attn-picture .chosen{stroke:#f4924d}
.attn-picture .edge{stroke:#9aa4af}
.attn-picture .dropped .edge{stroke:#4b5560}
.attn-picture .best .edge{stroke:#6cb3f5}
.attn-picture .box{fill:#1b222c;stroke:#515b66}
.attn-picture .dropped text{fill:#8b949e}
.attn-picture .best .box{fill:#1d3d5f;stroke:#6cb3f5}
.attn-picture .end-mark{fill:#9aa4af}
.attn-picture .best .end-mark{fill:#6cb3f5}
)";

constexpr std::string_view hatch =
    R"svg(<defs><pattern id="attn-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="5" height="5"/><line class="hatch-line" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>
)svg";

void append_levels(std::string& out, Rgb (*color_of)(int level)) {
  for (int level = 0; level < color_levels; ++level) {
    const Rgb color = color_of(level);
    append_format(out, ".attn-picture .s{}{{fill:#{:02x}{:02x}{:02x}}}\n", level, color.red,
                  color.green, color.blue);
  }
}

}  // namespace

std::string picture_style() {
  std::string out = "<style>";
  out += light_style;
  append_levels(out, light_color);
  out += dark_style;
  append_levels(out, dark_color);
  out += "}\n</style>\n";
  out += hatch;
  return out;
}

}  // namespace attn
